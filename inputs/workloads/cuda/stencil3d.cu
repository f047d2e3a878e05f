// 7-point stencil in three dimensions. A CTA of 32 x 4 threads covers 64 x 4 columns (two per thread) and marches through
// all planes; what lies below, at and above an element stays in registers, neighbours in the plane go through shared memory.
// Elements of the outer border are copied. Two grids change places in each step.
//
//   in   read-only in a step; a CTA shares the columns next to its own with the neighbouring CTAs, along the whole depth
//   out  written, private; it is the `in` of the next step
#include "common.cuh"

using namespace workload;

constexpr int kWide = 64, kHigh = 4, kThreads = kWide / 2;

__host__ __device__ inline float combine(float centre, float sum) { return 0.4f * centre + 0.1f * sum; }

__global__ void stencil(float* out, const float* in, int nx, int ny, int nz) {
  __shared__ float plane[kHigh][kWide];
  const int ty = threadIdx.y;
  const int y = blockIdx.y * kHigh + ty;
  const int size = nx * ny;
  float below[2] = {}, here[2] = {}, above[2] = {};
  for (int half = 0; half < 2; ++half) {
    const int x = blockIdx.x * kWide + half * kThreads + threadIdx.x;
    if (x < nx && y < ny) above[half] = in[y * nx + x];
  }
  for (int z = 0; z < nz; ++z) {
    for (int half = 0; half < 2; ++half) {
      const int tx = half * kThreads + threadIdx.x, x = blockIdx.x * kWide + tx;
      below[half] = here[half];
      here[half] = above[half];
      if (x < nx && y < ny && z + 1 < nz) above[half] = in[(z + 1) * size + y * nx + x];
      plane[ty][tx] = here[half];
    }
    __syncthreads();
    for (int half = 0; half < 2; ++half) {
      const int tx = half * kThreads + threadIdx.x, x = blockIdx.x * kWide + tx;
      if (x >= nx || y >= ny) continue;
      const int at = z * size + y * nx + x;
      float result = here[half];
      if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1 && z > 0 && z < nz - 1) {
        const float west = tx > 0 ? plane[ty][tx - 1] : in[at - 1];
        const float east = tx < kWide - 1 ? plane[ty][tx + 1] : in[at + 1];
        const float north = ty > 0 ? plane[ty - 1][tx] : in[at - nx];
        const float south = ty < kHigh - 1 ? plane[ty + 1][tx] : in[at + nx];
        result = combine(here[half], below[half] + above[half] + west + east + north + south);
      }
      out[at] = result;
    }
    __syncthreads();
  }
}

int main(int argc, char** argv) {
  Args args(argc, argv, "stencil3d: 7-point stencil");
  const int nx = args.number("nx", 128, 1, 1024, "elements of a row");
  const int ny = args.number("ny", 128, 1, 1024, "rows of a plane");
  const int nz = args.number("nz", 32, 1, 1024, "planes");
  const int steps = args.number("steps", 2, 1, 100000, "time steps");
  args.done();

  const auto start = random_floats(std::size_t(nx) * ny * nz, 1);
  DeviceArray<float> from(start), to(start.size());
  const dim3 grid(ceil_div(nx, kWide), ceil_div(ny, kHigh));
  for (int step = 0; step < steps; ++step) {
    stencil<<<grid, dim3(kThreads, kHigh)>>>(to, from, nx, ny, nz);
    finish_kernel();
    from.swap(to);
  }

  std::vector<float> want = start, next = start;
  const std::ptrdiff_t size = std::ptrdiff_t(nx) * ny;
  for (int step = 0; step < steps; ++step) {
    for (int z = 1; z < nz - 1; ++z) {
      for (int y = 1; y < ny - 1; ++y) {
        for (int x = 1; x < nx - 1; ++x) {
          const float* p = &want[(std::size_t(z) * ny + y) * nx + x];
          next[(std::size_t(z) * ny + y) * nx + x] = combine(p[0], p[-size] + p[size] + p[-1] + p[1] + p[-nx] + p[nx]);
        }
      }
    }
    want.swap(next);
  }
  Check check;
  check.close("grid", from.download(), want, 1e-5);
  return check.report();
}
