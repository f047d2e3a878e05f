// FIR filter: y[i] = sum over k of c[k] x[i - k], for a stream that arrives in blocks: two kernels per block of samples.
//
//   x        samples of a block, read-only in `filter`; a CTA shares taps - 1 samples with the CTA before it
//   c        coefficients, read-only, shared by all CTAs
//   history  the last taps - 1 samples of the block before: read-only in `filter` (first CTAs only), written by `keep_tail`
//   y        written, private
#include "common.cuh"

using namespace workload;

__global__ void filter(float* y, const float* x, const float* c, const float* history, int count, int taps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float sum = 0;
  for (int k = 0; k < taps; ++k) sum += c[k] * (i >= k ? x[i - k] : history[taps - 1 + i - k]);
  y[i] = sum;
}

__global__ void keep_tail(float* history, const float* x, int count, int taps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < taps - 1) history[i] = x[count - (taps - 1) + i];
}

int main(int argc, char** argv) {
  Args args(argc, argv, "fir: filter of a stream of samples in blocks");
  const int taps = args.number("taps", 16, 2, 1024, "coefficients");
  const int samples = args.number("samples", 65536, 1024, 1 << 26, "samples of a block");
  const int blocks = args.number("blocks", 8, 1, 1024, "blocks of samples");
  args.done();

  const auto c = random_floats(taps, 1, -1), x = random_floats(std::size_t(samples) * blocks, 2);
  const DeviceArray<float> device_c(c), device_x(x), device_y(x.size());
  DeviceArray<float> history(taps - 1);
  history.clear();
  for (int block = 0; block < blocks; ++block) {
    const std::size_t first = std::size_t(block) * samples;
    filter<<<ceil_div(samples, 256), 256>>>(device_y + first, device_x + first, device_c, history, samples, taps);
    finish_kernel();
    keep_tail<<<ceil_div(taps, 256), 256>>>(history, device_x + first, samples, taps);
    finish_kernel();
  }

  std::vector<double> want(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t k = 0; k < std::size_t(taps) && k <= i; ++k) want[i] += double(c[k]) * x[i - k];
  }
  Check check;
  check.close("y", device_y.download(), want, 1e-4);
  return check.report();
}
