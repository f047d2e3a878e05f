// Right-looking LU factorisation without pivoting, in place; U has the unit diagonal. Two kernels per column k:
//
//   scale_row  divides the pivot row, right of the diagonal, by the pivot
//   update     subtracts (column k) x (row k) from the trailing matrix
//
//   A  rows x n, rows >= n, read and written. In `update` the pivot row is read by all CTAs and the elements of the pivot
//      column by a row of CTAs, both as they were written in the steps before, on other chips; the trailing matrix is
//      written in place. The CTAs move with k, so an element is written by a different CTA, and often by a different chip,
//      in each step.
#include "common.cuh"

using namespace workload;

__global__ void scale_row(float* a, int n, int k) {
  const int j = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
  if (j < n) a[k * n + j] /= a[k * n + k];
}

__global__ void update(float* a, int rows, int n, int k) {
  const int j = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
  const int i = k + 1 + blockIdx.y * blockDim.y + threadIdx.y;
  if (i < rows && j < n) a[i * n + j] -= a[i * n + k] * a[k * n + j];
}

int main(int argc, char** argv) {
  Args args(argc, argv, "lu: right-looking LU factorisation, two kernels per column");
  const int n = args.number("n", 192, 2, 32768, "columns of A");
  const int rows = args.number("rows", n, n, 32768, "its rows; default: as many");
  const int steps = args.number("steps", n - 1, 1, n - 1, "columns to eliminate; default: all but the last");
  args.done();

  auto a = random_floats(std::size_t(rows) * n, 1);
  for (int i = 0; i < n; ++i) a[std::size_t(i) * n + i] += float(n);  // dominant diagonal: no pivoting needed
  const DeviceArray<float> device_a(a);
  for (int k = 0; k < steps; ++k) {
    const int right = n - 1 - k, below = rows - 1 - k;
    scale_row<<<ceil_div(right, 256), 256>>>(device_a, n, k);
    finish_kernel();
    update<<<dim3(ceil_div(right, 32), ceil_div(below, 8)), dim3(32, 8)>>>(device_a, rows, n, k);
    finish_kernel();
  }

  std::vector<double> want(a.begin(), a.end());
  for (int k = 0; k < steps; ++k) {
    double* pivot = &want[std::size_t(k) * n];
    for (int j = k + 1; j < n; ++j) pivot[j] /= pivot[k];
    for (int i = k + 1; i < rows; ++i) {
      double* row = &want[std::size_t(i) * n];
      for (int j = k + 1; j < n; ++j) row[j] -= row[k] * pivot[j];
    }
  }
  Check check;
  check.close("LU", device_a.download(), want, 1e-4);
  return check.report();
}
