// LU decomposition in tiles of 16 x 16, in place, without pivoting; L has the unit diagonal. Three kernels per step:
//
//   diagonal   one CTA factors the tile on the diagonal
//   perimeter  a CTA per tile pair: one tile of the tile row right of the diagonal, one of the tile column below it
//   internal   a CTA per remaining tile: subtracts (its tile of the column) x (its tile of the row)
//
//   A  read and written. The diagonal tile is read by all CTAs of `perimeter`; a perimeter tile is read by a whole row or
//      column of CTAs of `internal`, on all chips; every tile is written in place, by other CTAs in each step.
#include "common.cuh"

using namespace workload;

constexpr int kTile = 16;
using Tile = float[kTile][kTile + 1];  // padded against bank conflicts

__global__ void diagonal(float* a, int n, int first) {
  __shared__ Tile tile;
  const int t = threadIdx.x;
  for (int r = 0; r < kTile; ++r) tile[r][t] = a[(first + r) * n + first + t];
  __syncthreads();
  for (int k = 0; k < kTile - 1; ++k) {
    if (t > k) {  // thread t owns row t
      tile[t][k] /= tile[k][k];
      for (int j = k + 1; j < kTile; ++j) tile[t][j] -= tile[t][k] * tile[k][j];
    }
    __syncthreads();
  }
  for (int r = 0; r < kTile; ++r) a[(first + r) * n + first + t] = tile[r][t];
}

// The first 16 threads take the tile of the row, the others the tile of the column.
__global__ void perimeter(float* a, int n, int first) {
  __shared__ Tile corner, right, below;
  const int t = threadIdx.x % kTile;
  const bool in_row = threadIdx.x < kTile;
  const int second = first + (blockIdx.x + 1) * kTile;
  for (int r = 0; r < kTile; ++r) {
    if (in_row) corner[r][t] = a[(first + r) * n + first + t];
    if (in_row) right[r][t] = a[(first + r) * n + second + t];
    if (!in_row) below[r][t] = a[(second + r) * n + first + t];
  }
  __syncthreads();
  if (in_row) {  // solve L U = A for column t of U
    for (int i = 1; i < kTile; ++i) {
      for (int k = 0; k < i; ++k) right[i][t] -= corner[i][k] * right[k][t];
    }
  } else {  // solve L U = A for row t of L
    for (int j = 0; j < kTile; ++j) {
      for (int k = 0; k < j; ++k) below[t][j] -= below[t][k] * corner[k][j];
      below[t][j] /= corner[j][j];
    }
  }
  __syncthreads();
  for (int r = 0; r < kTile; ++r) {
    if (in_row) a[(first + r) * n + second + t] = right[r][t];
    if (!in_row) a[(second + r) * n + first + t] = below[r][t];
  }
}

__global__ void internal(float* a, int n, int first) {
  __shared__ Tile left, top;
  const int row = first + (blockIdx.y + 1) * kTile + threadIdx.y;
  const int column = first + (blockIdx.x + 1) * kTile + threadIdx.x;
  left[threadIdx.y][threadIdx.x] = a[row * n + first + threadIdx.x];
  top[threadIdx.y][threadIdx.x] = a[(first + threadIdx.y) * n + column];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < kTile; ++k) sum += left[threadIdx.y][k] * top[k][threadIdx.x];
  a[row * n + column] -= sum;
}

int main(int argc, char** argv) {
  Args args(argc, argv, "lud: LU decomposition in tiles of 16 x 16");
  const int tiles = args.number("tiles", 20, 1, 2048, "tiles in a row of the matrix");
  args.done();
  const int n = tiles * kTile;

  auto a = random_floats(std::size_t(n) * n, 1);
  for (int i = 0; i < n; ++i) a[std::size_t(i) * n + i] += float(n);  // dominant diagonal: no pivoting needed
  const DeviceArray<float> device_a(a);
  for (int step = 0; step < tiles; ++step) {
    const int first = step * kTile, rest = tiles - 1 - step;
    diagonal<<<1, kTile>>>(device_a, n, first);
    finish_kernel();
    if (rest == 0) break;
    perimeter<<<rest, 2 * kTile>>>(device_a, n, first);
    finish_kernel();
    internal<<<dim3(rest, rest), dim3(kTile, kTile)>>>(device_a, n, first);
    finish_kernel();
  }

  std::vector<double> want(a.begin(), a.end());
  for (int k = 0; k < n; ++k) {
    const double* pivot = &want[std::size_t(k) * n];
    for (int i = k + 1; i < n; ++i) {
      double* row = &want[std::size_t(i) * n];
      row[k] /= pivot[k];
      for (int j = k + 1; j < n; ++j) row[j] -= row[k] * pivot[j];
    }
  }
  Check check;
  check.close("LU", device_a.download(), want, 1e-4);
  return check.report();
}
