// Vector add: C = A + B, one element per thread.
//
//   A, B  read-only, private: each line is read by one warp only
//   C     written, private
// Nothing is shared: the reference for the cost of a bandwidth-bound kernel whose pages lie on the right chip.
#include "common.cuh"

using namespace workload;

__global__ void add(float* c, const float* a, const float* b, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) c[i] = a[i] + b[i];
}

int main(int argc, char** argv) {
  Args args(argc, argv, "vectoradd: C = A + B");
  const int count = args.number("count", 262144, 1, 1 << 30, "elements of each vector");
  const int threads = args.number("threads", 256, 1, 1024, "threads of a CTA");
  args.done();

  const auto a = random_floats(count, 1), b = random_floats(count, 2);
  const DeviceArray<float> device_a(a), device_b(b), device_c(count);
  add<<<ceil_div(count, threads), threads>>>(device_c, device_a, device_b, count);
  finish_kernel();

  std::vector<float> want(count);
  for (int i = 0; i < count; ++i) want[i] = a[i] + b[i];
  Check check;
  check.equal("C", device_c.download(), want);
  return check.report();
}
