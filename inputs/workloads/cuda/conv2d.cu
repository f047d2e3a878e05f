// 2-D convolution with a 3 x 3 mask held in constants of the code; the border of the output stays zero.
//
//   A  read-only; a CTA of 32 x 8 threads reads its own part and one row or column more on each side, which it shares with
//      the neighbouring CTAs: between chips only the rows at the seams are shared
//   B  written, private
#include "common.cuh"

using namespace workload;

__host__ __device__ inline float convolve(const float* above, const float* here, const float* below) {
  return 0.25f * above[-1] - 0.5f * above[0] + 0.125f * above[1] + 0.5f * here[-1] + 0.75f * here[0] - 0.375f * here[1] -
         0.25f * below[-1] + 0.625f * below[0] + 0.375f * below[1];
}

__global__ void convolution(float* b, const float* a, int rows, int columns) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < 1 || i >= rows - 1 || j < 1 || j >= columns - 1) return;
  const float* here = a + i * columns + j;
  b[i * columns + j] = convolve(here - columns, here, here + columns);
}

int main(int argc, char** argv) {
  Args args(argc, argv, "conv2d: 3 x 3 convolution of a matrix");
  const int rows = args.number("rows", 1024, 3, 32768, "rows of the matrix");
  const int columns = args.number("columns", 1024, 3, 32768, "columns of the matrix");
  args.done();

  const auto a = random_floats(std::size_t(rows) * columns, 1, -1);
  const DeviceArray<float> device_a(a);
  DeviceArray<float> device_b(a.size());
  device_b.clear();
  convolution<<<dim3(ceil_div(columns, 32), ceil_div(rows, 8)), dim3(32, 8)>>>(device_b, device_a, rows, columns);
  finish_kernel();

  std::vector<float> want(a.size());
  for (int i = 1; i < rows - 1; ++i) {
    for (int j = 1; j < columns - 1; ++j) {
      const float* here = &a[std::size_t(i) * columns + j];
      want[std::size_t(i) * columns + j] = convolve(here - columns, here, here + columns);
    }
  }
  Check check;
  check.close("B", device_b.download(), want, 1e-5);
  return check.report();
}
