// Matrix product C = A B of square matrices with tiles of 32 x 32 in shared memory.
//
//   A  read-only; 32 rows are shared by a row of CTAs
//   B  read-only; 32 columns are shared by a column of CTAs
//   C  written, private
// As gemm, but each CTA reads an element of A and B from global memory once, so what remains is sharing between CTAs.
#include "common.cuh"

using namespace workload;

constexpr int kTile = 32;

__global__ void tiled_product(float* c, const float* a, const float* b, int n) {
  __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * kTile + ty, column = blockIdx.x * kTile + tx;
  float sum = 0;
  for (int first = 0; first < n; first += kTile) {
    a_tile[ty][tx] = row < n && first + tx < n ? a[row * n + first + tx] : 0;
    b_tile[ty][tx] = first + ty < n && column < n ? b[(first + ty) * n + column] : 0;
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += a_tile[ty][k] * b_tile[k][tx];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

int main(int argc, char** argv) {
  Args args(argc, argv, "matmul: C = A B with tiles in shared memory");
  const int n = args.number("n", 256, 1, 32768, "rows and columns of the matrices");
  args.done();

  const auto a = random_floats(std::size_t(n) * n, 1), b = random_floats(std::size_t(n) * n, 2, -1);
  const DeviceArray<float> device_a(a), device_b(b), device_c(a.size());
  tiled_product<<<dim3(ceil_div(n, kTile), ceil_div(n, kTile)), dim3(kTile, kTile)>>>(device_c, device_a, device_b, n);
  finish_kernel();

  std::vector<double> want(a.size());
  for (std::size_t i = 0; i < std::size_t(n); ++i) {
    for (std::size_t k = 0; k < std::size_t(n); ++k) {
      for (std::size_t j = 0; j < std::size_t(n); ++j) want[i * n + j] += double(a[i * n + k]) * b[k * n + j];
    }
  }
  Check check;
  check.close("C", device_c.download(), want, 1e-4);
  return check.report();
}
