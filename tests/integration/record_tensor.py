"""Programs for tensor cores are recorded with the accesses of their fragments, and compute what the host does."""

import recorded_program
from recorded_program import RecordTest

# c = a * b for halves, by wmma, with one element of b changed between two launches.
WMMA = r"""
#include <cstdio>
#include <mma.h>
#include <vector>
using namespace nvcuda;
__global__ void product(const half* __restrict__ a, const half* __restrict__ b, float* c, int n) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> y;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  const int warp = threadIdx.x / 32, row = blockIdx.x * 16, column = (blockIdx.y * 4 + warp) * 16;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < n; k += 16) {
    wmma::load_matrix_sync(x, a + row * n + k, n);
    wmma::load_matrix_sync(y, b + k * n + column, n);
    wmma::mma_sync(sum, x, y, sum);
  }
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}
int main() {
  const int n = 128;
  std::vector<half> a(n * n), b(n * n);
  for (int i = 0; i < n * n; ++i) a[i] = __float2half((i * 7 % 31 - 15) / 8.f), b[i] = __float2half((i * 5 % 29 - 14) / 4.f);
  half *da, *db;
  float *dc;
  std::vector<float> c(n * n);
  cudaMalloc(&da, n * n * 2), cudaMalloc(&db, n * n * 2), cudaMalloc(&dc, n * n * 4);
  cudaMemcpy(da, a.data(), n * n * 2, cudaMemcpyHostToDevice), cudaMemcpy(db, b.data(), n * n * 2, cudaMemcpyHostToDevice);
  product<<<dim3(n / 16, n / 64), 128>>>(da, db, dc, n);
  cudaMemcpy(c.data(), dc, n * n * 4, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int row = 0; row < n; ++row)
    for (int column = 0; column < n; ++column) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += double(__half2float(a[row * n + k])) * __half2float(b[k * n + column]);
      wrong += c[row * n + column] != float(sum);
    }
  printf("%s, %d wrong\n", wrong ? "FAIL" : "PASS", wrong);
}
"""


class Tensor(RecordTest):
    def test_a_product_by_wmma_is_right_on_each_architecture_and_its_trace_has_the_accesses(self):
        for arch in (75, 80, 90):
            with self.subTest(arch=arch):
                binary = self.compiled(WMMA, "-std=c++17", f"-arch=compute_{arch}", f"-code=compute_{arch}")
                outcome = self.record(binary, options=["--check", "--force"])
                self.assertEqual((outcome.code, outcome.out), (0, "PASS, 0 wrong\n"), outcome)
                self.assertIn("no races in global memory within a launch\n", outcome.err)
                # 64 warps load 8 times 16 rows of a, and of b; all of these are marked. Each stores a tile.
                self.assertIn("1024 of 1024 loads from global memory carry the read-only mark; every read-only mark held", outcome.err)
                self.assertTrue(self.simulated())


if __name__ == "__main__":
    recorded_program.main()
