// Prices of European calls in the binomial model of Cox, Ross and Rubinstein, one option per CTA; the values of a time step
// are kept in shared memory and worked back from expiry to today.
//
//   options  read-only, one element per CTA: a line is shared by a few neighbouring CTAs
//   prices   written, one element per CTA: CTAs write into lines of their neighbours
// Almost all work is in shared memory; there is little for a memory system to do.
#include <algorithm>

#include "common.cuh"

using namespace workload;

constexpr int kMaxSteps = 2047, kThreads = 128;

struct Option {
  float spot, strike;
  float log_up;    // logarithm of the factor of one step up
  float up, down;  // discounted probabilities of a step up and down
};

__global__ void price(float* prices, const Option* options, int steps) {
  __shared__ float values[2][kMaxSteps + 1];
  const Option option = options[blockIdx.x];
  for (int ups = threadIdx.x; ups <= steps; ups += kThreads) {
    const float spot = option.spot * expf(option.log_up * float(2 * ups - steps));
    values[0][ups] = fmaxf(spot - option.strike, 0);
  }
  int now = 0;
  for (int step = steps - 1; step >= 0; --step) {
    __syncthreads();
    for (int ups = threadIdx.x; ups <= step; ups += kThreads) {
      values[1 - now][ups] = option.up * values[now][ups + 1] + option.down * values[now][ups];
    }
    now = 1 - now;
  }
  if (threadIdx.x == 0) prices[blockIdx.x] = values[now][0];  // thread 0 wrote it
}

int main(int argc, char** argv) {
  Args args(argc, argv, "binomial: option prices in the binomial model");
  const int count = args.number("options", 128, 1, 1 << 20, "number of options, one CTA each");
  const int steps = args.number("steps", 255, 1, kMaxSteps, "time steps");
  args.done();
  const double rate = 0.06, volatility = 0.3;

  Random random(1);
  std::vector<Option> options(count);
  std::vector<double> want(count), values(std::size_t(steps) + 1);
  for (int i = 0; i < count; ++i) {
    const double spot = random.uniform(5, 30), strike = random.uniform(1, 50),
                 step_years = random.uniform(0.5f, 5) / double(steps);
    const double log_up = volatility * std::sqrt(step_years), growth = std::exp(rate * step_years);
    const double probability = (growth - std::exp(-log_up)) / (std::exp(log_up) - std::exp(-log_up));
    const double up = probability / growth, down = (1 - probability) / growth;
    options[i] = {float(spot), float(strike), float(log_up), float(up), float(down)};
    for (int ups = 0; ups <= steps; ++ups) values[ups] = std::max(spot * std::exp(log_up * (2 * ups - steps)) - strike, 0.0);
    for (int step = steps - 1; step >= 0; --step) {
      for (int ups = 0; ups <= step; ++ups) values[ups] = up * values[std::size_t(ups) + 1] + down * values[ups];
    }
    want[i] = values[0];
  }
  const DeviceArray<Option> device_options(options);
  const DeviceArray<float> prices(count);
  price<<<count, kThreads>>>(prices, device_options, steps);
  finish_kernel();

  Check check;
  check.close("price", prices.download(), want, 1e-3);
  return check.report();
}
