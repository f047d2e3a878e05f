// Black-Scholes prices of European options. A fixed number of CTAs walks over all options with the stride of the whole grid.
//
//   spot, strike, years  read-only, private
//   call, put            written, private
// Nothing is truly shared. But with the grid's stride each page holds elements of many CTAs, so that a page placed on one
// chip is used by CTAs of all chips: false sharing at the size of a page.
#include "common.cuh"

using namespace workload;

// The normal distribution function, by the polynomial 26.2.17 of Abramowitz and Stegun (error below 1e-7).
__device__ float normal_distribution(float x) {
  const float t = 1 / (1 + 0.2316419f * fabsf(x));
  const float polynomial =
      t * (0.31938153f + t * (-0.356563782f + t * (1.781477937f + t * (-1.821255978f + t * 1.330274429f))));
  const float tail = 0.39894228f * expf(-0.5f * x * x) * polynomial;
  return x > 0 ? 1 - tail : tail;
}

__global__ void price(float* call, float* put, const float* spot, const float* strike, const float* years, float rate,
                      float volatility, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const float deviation = volatility * sqrtf(years[i]);
    const float d1 = (logf(spot[i] / strike[i]) + rate * years[i]) / deviation + 0.5f * deviation;
    const float discounted = strike[i] * expf(-rate * years[i]);
    const float n1 = normal_distribution(d1), n2 = normal_distribution(d1 - deviation);
    call[i] = spot[i] * n1 - discounted * n2;
    put[i] = discounted * (1 - n2) - spot[i] * (1 - n1);
  }
}

int main(int argc, char** argv) {
  Args args(argc, argv, "blackscholes: prices of European options");
  const int count = args.number("options", 245760, 1, 1 << 28, "number of options");
  const int ctas = args.number("ctas", 480, 1, 65535, "CTAs of the grid");
  const int threads = args.number("threads", 128, 1, 1024, "threads of a CTA");
  args.done();
  const float rate = 0.02f, volatility = 0.3f;

  const auto spot = random_floats(count, 1, 5, 30), strike = random_floats(count, 2, 1, 100),
             years = random_floats(count, 3, 0.25f, 10);
  const DeviceArray<float> device_spot(spot), device_strike(strike), device_years(years), call(count), put(count);
  price<<<ctas, threads>>>(call, put, device_spot, device_strike, device_years, rate, volatility, count);
  finish_kernel();

  const auto normal = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
  std::vector<double> want_call(count), want_put(count);
  for (int i = 0; i < count; ++i) {
    const double deviation = volatility * std::sqrt(double(years[i]));
    const double d1 = (std::log(double(spot[i]) / strike[i]) + double(rate) * years[i]) / deviation + 0.5 * deviation;
    const double discounted = strike[i] * std::exp(-double(rate) * years[i]);
    want_call[i] = spot[i] * normal(d1) - discounted * normal(d1 - deviation);
    want_put[i] = discounted * normal(deviation - d1) - spot[i] * normal(-d1);
  }
  Check check;
  check.close("call", call.download(), want_call, 1e-4);
  check.close("put", put.download(), want_put, 1e-4);
  return check.report();
}
