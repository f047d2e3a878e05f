// Matrix product C = A B of square matrices with tiles in shared memory, of 32 x 32 elements (`rows` x 32 of A and C).
//
//   A  read-only; 32 (`rows`) rows are shared by a row of CTAs
//   B  read-only; 32 columns are shared by a column of CTAs
//   C  written, private
// `repeat` computes the product several times in one launch, each into a C of its own: small matrices have too few CTAs for
// a GPU. As gemm, but each CTA reads an element of A and B from global memory once, so what remains is sharing between CTAs.
#include "common.cuh"

using namespace workload;

constexpr int kTile = 32;

// 32 columns of C per CTA and `Rows` rows, `Each` elements per thread; 32 columns of A and rows of B at a time.
template <int Rows, int Each> __global__ void tiled_product(float* c, const float* a, const float* b, int n) {
  constexpr int kThreads = Rows / Each, kFromB = kTile / kThreads;  // rows of threads; elements of B that each brings
  __shared__ alignas(16) float a_tile[Rows][kTile], b_tile[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int top = blockIdx.y * Rows, column = blockIdx.x * kTile + tx;
  float sum[Each] = {};
  for (int first = 0; first < n; first += kTile) {
    float from_a[Each], from_b[kFromB];
    for (int i = 0, row = top + ty; i < Each; ++i, row += kThreads)
      from_a[i] = row < n && first + tx < n ? a[row * n + first + tx] : 0;
    for (int i = 0, k = first + ty; i < kFromB; ++i, k += kThreads) from_b[i] = k < n && column < n ? b[k * n + column] : 0;
    loads_issued();
    for (int i = 0; i < Each; ++i) a_tile[ty + i * kThreads][tx] = from_a[i];
    for (int i = 0; i < kFromB; ++i) b_tile[ty + i * kThreads][tx] = from_b[i];
    __syncthreads();
    for (int k = 0; k < kTile; k += 4) {  // by four, as ptxas joins loads of neighbours; the recorder sees PTX
      const float b0 = b_tile[k][tx], b1 = b_tile[k + 1][tx], b2 = b_tile[k + 2][tx], b3 = b_tile[k + 3][tx];
      for (int i = 0; i < Each; ++i) {
        const float4 four = *reinterpret_cast<const float4*>(&a_tile[ty + i * kThreads][k]);
        sum[i] += four.x * b0;
        sum[i] += four.y * b1;
        sum[i] += four.z * b2;
        sum[i] += four.w * b3;
      }
    }
    __syncthreads();
  }
  for (int i = 0, row = top + ty; i < Each; ++i, row += kThreads) {
    if (row < n && column < n) c[(blockIdx.z * n + row) * n + column] = sum[i];
  }
}

int main(int argc, char** argv) {
  Args args(argc, argv, "matmul: C = A B with tiles in shared memory");
  const int n = args.number("n", 256, 1, 32768, "rows and columns of the matrices");
  const int rows = args.number("rows", 32, 8, 32, "of C per CTA: 32 x 32 threads; or 8, with 4 elements per thread");
  const int repeat = args.number("repeat", 1, 1, 4096, "products per launch");
  args.done();
  if (rows != 8 && rows != 32) fail("--rows must be 8 or 32");

  const auto a = random_floats(std::size_t(n) * n, 1), b = random_floats(std::size_t(n) * n, 2, -1);
  const DeviceArray<float> device_a(a), device_b(b), device_c(a.size() * repeat);
  const dim3 grid(ceil_div(n, kTile), ceil_div(n, rows), repeat);
  if (rows == 32) tiled_product<32, 1><<<grid, dim3(kTile, 32)>>>(device_c, device_a, device_b, n);
  if (rows == 8) tiled_product<8, 4><<<grid, dim3(kTile, 2)>>>(device_c, device_a, device_b, n);
  finish_kernel();

  std::vector<double> want(a.size());
  for (std::size_t i = 0; i < std::size_t(n); ++i) {
    for (std::size_t k = 0; k < std::size_t(n); ++k) {
      for (std::size_t j = 0; j < std::size_t(n); ++j) want[i * n + j] += double(a[i * n + k]) * b[k * n + j];
    }
  }
  for (int again = 1; again < repeat; ++again) want.insert(want.end(), want.begin(), want.begin() + long(a.size()));
  Check check;
  check.close("C", device_c.download(), want, 1e-4);
  return check.report();
}
