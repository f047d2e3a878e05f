// Jacobi iteration in two dimensions: each inner element becomes the mean of itself and its four neighbours.
//
//   A  read-only in kernel `average`, where a CTA of 32 x 8 threads shares the rows and columns next to its own with the
//      neighbouring CTAs; written by kernel `copy_back`: rows at the seams between chips are read by one chip and
//      written by another in every step
//   B  written by `average`, read by `copy_back`, private
#include "common.cuh"

using namespace workload;

__device__ inline void average_one(float* b, const float* a, int rows, int n) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < 1 || i >= rows - 1 || j < 1 || j >= n - 1) return;
  const float* here = a + i * n + j;
  b[i * n + j] = 0.2f * (here[0] + here[-1] + here[1] + here[-n] + here[n]);
}

__device__ inline void copy_one(float* a, const float* b, int rows, int n) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= 1 && i < rows - 1 && j >= 1 && j < n - 1) a[i * n + j] = b[i * n + j];
}

__global__ void average(float* b, const float* a, int n) { average_one(b, a, n, n); }
__global__ void copy_back(float* a, const float* b, int n) { copy_one(a, b, n, n); }

// Of grids that are not square.
__global__ void average(float* b, const float* a, int rows, int n) { average_one(b, a, rows, n); }
__global__ void copy_back(float* a, const float* b, int rows, int n) { copy_one(a, b, rows, n); }

int main(int argc, char** argv) {
  Args args(argc, argv, "jacobi2d: 5-point averaging, two kernels per step");
  const int n = args.number("n", 512, 3, 32768, "columns of the grid");
  const int rows = args.number("rows", n, 3, 32768, "its rows; default: as many");
  const int steps = args.number("steps", 8, 1, 100000, "time steps");
  args.done();

  const auto start = random_floats(std::size_t(rows) * n, 1);
  const DeviceArray<float> device_a(start), device_b(start.size());
  const dim3 grid(ceil_div(n, 32), ceil_div(rows, 8)), block(32, 8);
  for (int step = 0; step < steps; ++step) {
    if (rows == n)
      average<<<grid, block>>>(device_b, device_a, n);
    else
      average<<<grid, block>>>(device_b, device_a, rows, n);
    finish_kernel();
    if (rows == n)
      copy_back<<<grid, block>>>(device_a, device_b, n);
    else
      copy_back<<<grid, block>>>(device_a, device_b, rows, n);
    finish_kernel();
  }

  std::vector<float> want = start, next = start;
  for (int step = 0; step < steps; ++step) {
    for (int i = 1; i < rows - 1; ++i) {
      for (int j = 1; j < n - 1; ++j) {
        const float* here = &want[std::size_t(i) * n + j];
        next[std::size_t(i) * n + j] = 0.2f * (here[0] + here[-1] + here[1] + here[-n] + here[n]);
      }
    }
    want.swap(next);
  }
  Check check;
  check.close("A", device_a.download(), want, 1e-5);
  return check.report();
}
