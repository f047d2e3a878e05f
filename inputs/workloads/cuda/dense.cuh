// Matrix product of gemm, mm2 and mm3. Matrices are row-major.
//
// A CTA of 32 x 8 threads computes 8 rows x 32 columns of C, one element per thread. It reads 8 rows of A, shared read-only
// with the CTAs left and right of it, and 32 columns of B, shared read-only with all CTAs above and below: all of A and B is
// read by CTAs of every chip. C is private.
//
// A sum stays in a register until it is complete, or is kept in C (`--sum memory`): as in PolyBench's kernels, whose
// compilers cannot know that C is neither A nor B, and store it in every step.
#pragma once

#include "common.cuh"

// C = alpha A B + beta C, where A is rows x inner and B is inner x columns
__global__ void product(float* c, const float* a, const float* b, int rows, int columns, int inner, float alpha,
                        float beta) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  float sum = 0;
  for (int k = 0; k < inner; ++k) sum += a[row * inner + k] * b[k * columns + column];
  const int at = row * columns + column;
  c[at] = beta == 0 ? alpha * sum : alpha * sum + beta * c[at];
}

__global__ void product_in_memory(float* c, const float* a, const float* b, int rows, int columns, int inner, float alpha,
                                  float beta) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  const int at = row * columns + column;
  c[at] = beta == 0 ? 0 : c[at] * beta;
  for (int k = 0; k < inner; ++k) c[at] += alpha * a[row * inner + k] * b[k * columns + column];
}

inline void launch_product(float* c, const float* a, const float* b, int rows, int columns, int inner, float alpha,
                           float beta, workload::Sum sum) {
  const dim3 block(32, 8);
  const dim3 grid(workload::ceil_div(columns, 32), workload::ceil_div(rows, 8));
  (sum == workload::Sum::memory ? product_in_memory : product)<<<grid, block>>>(c, a, b, rows, columns, inner, alpha, beta);
  workload::finish_kernel();
}

// The same on the CPU; an empty `c` counts as zero.
inline std::vector<double> cpu_product(const std::vector<double>& c, const std::vector<double>& a,
                                       const std::vector<double>& b, int rows, int columns, int inner, double alpha,
                                       double beta) {
  const std::size_t width = columns;
  std::vector<double> result(rows * width);
  for (int i = 0; i < rows; ++i) {
    double* out = &result[i * width];
    for (int k = 0; k < inner; ++k) {
      const double factor = alpha * a[static_cast<std::size_t>(i) * inner + k];
      for (int j = 0; j < columns; ++j) out[j] += factor * b[k * width + j];
    }
    for (int j = 0; j < columns && !c.empty(); ++j) out[j] += beta * c[i * width + j];
  }
  return result;
}

inline std::vector<double> widen(const std::vector<float>& values) { return {values.begin(), values.end()}; }
