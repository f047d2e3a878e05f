// ATAX: y = A^T (A x), in two kernels.
//
//   A  rows x columns, read-only. Kernel 1: a thread walks a row, so a CTA owns a band of rows and a warp touches 32 lines
//      per load. Kernel 2: a thread walks a column, so every CTA reads a part of every row: if the pages of A lie where
//      kernel 1 used them, kernel 2 reads most of A from other chips.
//   x  read-only in kernel 1, shared by all CTAs
//   t  = A x: written by kernel 1 (private), read-only in kernel 2, shared by all CTAs
//   y  written by kernel 2, private
#include "common.cuh"

using namespace workload;

__global__ void rows_times_vector(float* t, const float* a, const float* x, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int j = 0; j < columns; ++j) sum += a[row * columns + j] * x[j];
  t[row] = sum;
}

__global__ void columns_times_vector(float* y, const float* a, const float* t, int rows, int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  float sum = 0;
  for (int i = 0; i < rows; ++i) sum += a[i * columns + column] * t[i];
  y[column] = sum;
}

// The same with the sum in memory (see dense.cuh).
__global__ void rows_times_vector_in_memory(float* t, const float* a, const float* x, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  t[row] = 0;
  for (int j = 0; j < columns; ++j) t[row] += a[row * columns + j] * x[j];
}

__global__ void columns_times_vector_in_memory(float* y, const float* a, const float* t, int rows, int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  y[column] = 0;
  for (int i = 0; i < rows; ++i) y[column] += a[i * columns + column] * t[i];
}

int main(int argc, char** argv) {
  Args args(argc, argv, "atax: y = A^T (A x)");
  const int rows = args.number("rows", 1024, 1, 32768, "rows of A");
  const int columns = args.number("columns", 1024, 1, 32768, "columns of A");
  const int threads = args.number("threads", 128, 1, 1024, "threads of a CTA");
  const bool in_memory = sum_option(args) == Sum::memory;
  args.done();

  const auto a = random_floats(std::size_t(rows) * columns, 1), x = random_floats(columns, 2, -1);
  const DeviceArray<float> device_a(a), device_x(x), device_t(rows), device_y(columns);
  (in_memory ? rows_times_vector_in_memory : rows_times_vector)<<<ceil_div(rows, threads), threads>>>(
      device_t, device_a, device_x, rows, columns);
  finish_kernel();
  (in_memory ? columns_times_vector_in_memory : columns_times_vector)<<<ceil_div(columns, threads), threads>>>(
      device_y, device_a, device_t, rows, columns);
  finish_kernel();

  std::vector<double> t(rows), y(columns);
  for (int i = 0; i < rows; ++i) {
    const float* row = &a[std::size_t(i) * columns];
    for (int j = 0; j < columns; ++j) t[i] += double(row[j]) * x[j];
    for (int j = 0; j < columns; ++j) y[j] += row[j] * t[i];
  }
  Check check;
  check.close("t", device_t.download(), t, 1e-3);
  check.close("y", device_y.download(), y, 1e-3);
  return check.report();
}
