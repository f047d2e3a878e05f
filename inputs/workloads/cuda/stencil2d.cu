// 9-point stencil in two dimensions with weights for the centre, the four sides and the four corners. The grid has a border
// of one element that never changes; rows are padded to 128 B. Two grids change places in each step.
//
//   in   read-only in a step. A CTA of 64 x 4 threads loads its 64 x 4 elements and the ring around them into shared memory;
//        the ring is shared with the neighbouring CTAs, which wrote it in the step before: the seams between chips move
//        from one chip to the other in every step.
//   out  written, private; it is the `in` of the next step
#include "common.cuh"

using namespace workload;

constexpr int kWide = 64, kHigh = 4;

struct Weights {
  float centre, side, corner;
};

__global__ void stencil(float* out, const float* in, int rows, int columns, int pitch, Weights w) {
  __shared__ float tile[kHigh + 2][kWide + 2];
  const int first_row = blockIdx.y * kHigh, first_column = blockIdx.x * kWide;  // of the ring
  for (int i = threadIdx.y; i < kHigh + 2; i += kHigh) {
    for (int j = threadIdx.x; j < kWide + 2; j += kWide) {
      const int row = first_row + i, column = first_column + j;
      if (row < rows + 2 && column < columns + 2) tile[i][j] = in[row * pitch + column];
    }
  }
  __syncthreads();
  const int row = first_row + threadIdx.y + 1, column = first_column + threadIdx.x + 1;
  if (row > rows || column > columns) return;
  const float(*t)[kWide + 2] = &tile[threadIdx.y];
  const int x = threadIdx.x;
  out[row * pitch + column] = w.centre * t[1][x + 1] + w.side * (t[0][x + 1] + t[1][x] + t[1][x + 2] + t[2][x + 1]) +
                              w.corner * (t[0][x] + t[0][x + 2] + t[2][x] + t[2][x + 2]);
}

// With --cta tall a CTA is 64 threads, each of which takes 16 rows of its column, and CTAs are numbered down the rows first: as
// in the SHOC suite's OpenCL version. The grid is rows by columns of CTAs.
constexpr int kTall = 16;

__global__ void stencil_of_columns(float* out, const float* in, int rows, int columns, int pitch, Weights w) {
  __shared__ float tile[kTall + 2][kWide + 2];
  const int first_row = blockIdx.x * kTall, first_column = blockIdx.y * kWide, x = threadIdx.x;
  for (int i = 0; i < kTall + 2; ++i) {
    const int row = first_row + i, column = first_column + x + 1;
    if (row < rows + 2 && column < columns + 2) tile[i][x + 1] = in[row * pitch + column];
  }
  const int side = x == 0 ? 0 : x == kWide - 1 ? kWide + 1 : -1;  // two threads fetch the ring's sides
  for (int i = 0; side >= 0 && i < kTall + 2; ++i) {
    const int row = first_row + i, column = first_column + side;
    if (row < rows + 2 && column < columns + 2) tile[i][side] = in[row * pitch + column];
  }
  __syncthreads();
  const int column = first_column + x + 1;
  if (column > columns) return;
  for (int i = 0; i < kTall && first_row + i < rows; ++i) {
    const float(*t)[kWide + 2] = &tile[i];
    out[(first_row + i + 1) * pitch + column] =
        w.centre * t[1][x + 1] + w.side * (t[0][x + 1] + t[1][x] + t[1][x + 2] + t[2][x + 1]) +
        w.corner * (t[0][x] + t[0][x + 2] + t[2][x] + t[2][x + 2]);
  }
}

int main(int argc, char** argv) {
  Args args(argc, argv, "stencil2d: 9-point stencil");
  const int rows = args.number("rows", 512, 1, 32768, "inner rows");
  const int columns = args.number("columns", 512, 1, 32768, "inner columns");
  const int steps = args.number("steps", 4, 1, 100000, "time steps");
  const bool tall = args.choice("cta", {"flat", "tall"}, "64 x 4 threads, or 64 threads of 16 rows each") == "tall";
  args.done();
  const int pitch = ceil_div(columns + 2, 32) * 32;
  const Weights w = {0.25f, 0.15f, 0.0375f};

  const auto start = random_floats(std::size_t(rows + 2) * pitch, 1);
  DeviceArray<float> from(start), to(start);
  const dim3 grid(ceil_div(columns, kWide), ceil_div(rows, kHigh));
  const dim3 tall_grid(ceil_div(rows, kTall), ceil_div(columns, kWide));
  for (int step = 0; step < steps; ++step) {
    if (tall)
      stencil_of_columns<<<tall_grid, kWide>>>(to, from, rows, columns, pitch, w);
    else
      stencil<<<grid, dim3(kWide, kHigh)>>>(to, from, rows, columns, pitch, w);
    finish_kernel();
    from.swap(to);
  }

  std::vector<float> want = start, next = start;
  for (int step = 0; step < steps; ++step) {
    for (int i = 1; i <= rows; ++i) {
      const float *b = &want[std::size_t(i) * pitch], *a = b - pitch, *c = b + pitch;
      for (int j = 1; j <= columns; ++j) {
        next[std::size_t(i) * pitch + j] = w.centre * b[j] + w.side * (a[j] + b[j - 1] + b[j + 1] + c[j]) +
                                           w.corner * (a[j - 1] + a[j + 1] + c[j - 1] + c[j + 1]);
      }
    }
    want.swap(next);
  }
  Check check;
  check.close("grid", from.download(), want, 1e-5);
  return check.report();
}
