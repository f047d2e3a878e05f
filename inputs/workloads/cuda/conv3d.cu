// 3-D convolution with a 3 x 3 x 3 mask, one launch per inner plane; the border of the output stays zero.
//
//   A     read-only; a launch reads three planes, two of which the next launch reads again. A CTA of 32 x 8 threads shares
//         the rows and columns next to its own with the neighbouring CTAs.
//   B     written, private; one plane per launch
//   mask  27 numbers in constant memory
#include "common.cuh"

using namespace workload;

__constant__ float mask[27];

__global__ void convolution(float* b, const float* a, int plane, int rows, int columns) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (j < 1 || j >= rows - 1 || k < 1 || k >= columns - 1) return;
  float sum = 0;
  for (int di = 0; di < 3; ++di) {
    for (int dj = 0; dj < 3; ++dj) {
      const float* row = a + ((plane + di - 1) * rows + j + dj - 1) * columns + k;
      for (int dk = 0; dk < 3; ++dk) sum += mask[(di * 3 + dj) * 3 + dk] * row[dk - 1];
    }
  }
  b[(plane * rows + j) * columns + k] = sum;
}

int main(int argc, char** argv) {
  Args args(argc, argv, "conv3d: 3 x 3 x 3 convolution, one launch per plane");
  const int planes = args.number("planes", 24, 3, 1024, "planes of the grid, border included");
  const int rows = args.number("rows", 192, 3, 1024, "rows of a plane");
  const int columns = args.number("columns", 192, 3, 1024, "columns of a plane");
  args.done();

  const auto a = random_floats(std::size_t(planes) * rows * columns, 1);
  const auto weights = random_floats(27, 2, -1);
  check(cudaMemcpyToSymbol(mask, weights.data(), sizeof(mask)));
  const DeviceArray<float> device_a(a);
  DeviceArray<float> device_b(a.size());
  device_b.clear();
  const dim3 grid(ceil_div(columns, 32), ceil_div(rows, 8));
  for (int plane = 1; plane < planes - 1; ++plane) {
    convolution<<<grid, dim3(32, 8)>>>(device_b, device_a, plane, rows, columns);
    finish_kernel();
  }

  std::vector<double> want(a.size());
  for (int i = 1; i < planes - 1; ++i) {
    for (int j = 1; j < rows - 1; ++j) {
      for (int k = 1; k < columns - 1; ++k) {
        double sum = 0;
        for (int at = 0; at < 27; ++at) {
          const int di = at / 9 - 1, dj = at / 3 % 3 - 1, dk = at % 3 - 1;
          sum += double(weights[at]) * a[(std::size_t(i + di) * rows + j + dj) * columns + k + dk];
        }
        want[(std::size_t(i) * rows + j) * columns + k] = sum;
      }
    }
  }
  Check check;
  check.close("B", device_b.download(), want, 1e-5);
  return check.report();
}
