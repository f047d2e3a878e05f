// Jacobi iteration on a grid that is divided among several devices by rows, as multi-GPU programs do it: each device
// computes its slab of rows, and needs the row above and the row below it from its neighbours. Under
// `atoll record --devices N` it runs on N devices; with one there is nothing to exchange.
//
//   grids       two per device, in its own memory; each is read in one step and written in the next
//   rows above  with `--exchange copy`, the neighbours' last and first rows are copied into memory of this device after
//   and below   each step (cudaMemcpyPeerAsync); with `--exchange peer`, the kernel reads them where they are
//
// The devices' streams meet by events only: a step begins when the neighbours have finished the one before.
#include "common.cuh"

using namespace workload;

__global__ void average(float* out, const float* in, const float* above, const float* below, int rows, int n) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= rows || j >= n) return;
  const float* here = in + i * n + j;
  const float* up = i > 0 ? here - n : above ? above + j : nullptr;
  const float* down = i < rows - 1 ? here + n : below ? below + j : nullptr;
  const bool inner = j > 0 && j < n - 1 && up && down;
  out[i * n + j] = inner ? 0.2f * (here[0] + here[-1] + here[1] + *up + *down) : here[0];
}

struct Slab {
  int first = 0, rows = 0;
  float *grid[2], *above[2] = {}, *below[2] = {};
  cudaStream_t stream;
  cudaEvent_t done;
};

int main(int argc, char** argv) {
  Args args(argc, argv, "halo2d: 5-point averaging on several devices that exchange rows");
  const int n = args.number("n", 512, 3, 32768, "columns of the grid");
  const int rows = args.number("rows", 256, 1, 32768, "rows of each device");
  const int steps = args.number("steps", 4, 1, 100000, "time steps");
  const bool copies = args.choice("exchange", {"copy", "peer"}, "how a device gets its neighbours' rows") == "copy";
  args.done();

  int devices = 0;
  check(cudaGetDeviceCount(&devices));
  const std::size_t row_bytes = sizeof(float) * n, slab_bytes = row_bytes * rows;
  const std::vector<float> start = random_floats(std::size_t(rows) * devices * n, 1);
  std::vector<Slab> slabs(devices);
  for (int d = 0; d < devices; ++d) {
    Slab& s = slabs[d];
    check(cudaSetDevice(d));
    for (int peer : {d - 1, d + 1})
      if (peer >= 0 && peer < devices) check(cudaDeviceEnablePeerAccess(peer, 0));
    check(cudaStreamCreate(&s.stream));
    check(cudaEventCreateWithFlags(&s.done, cudaEventDisableTiming));
    for (int b = 0; b < 2; ++b) {
      check(cudaMalloc(&s.grid[b], slab_bytes));
      if (copies && d > 0) check(cudaMalloc(&s.above[b], row_bytes));
      if (copies && d < devices - 1) check(cudaMalloc(&s.below[b], row_bytes));
    }
    check(cudaMemcpy(s.grid[0], &start[std::size_t(d) * rows * n], slab_bytes, cudaMemcpyHostToDevice));
  }
  const auto last_row = [&](int d, int b) { return slabs[d].grid[b] + std::size_t(rows - 1) * n; };
  for (int d = 0; d < devices; ++d) {
    Slab& s = slabs[d];
    check(cudaSetDevice(d));
    for (int b = 0; b < 2 && !copies; ++b) {
      if (d > 0) s.above[b] = last_row(d - 1, b);
      if (d < devices - 1) s.below[b] = slabs[d + 1].grid[b];
    }
    if (copies && d > 0) check(cudaMemcpyPeer(s.above[0], d, last_row(d - 1, 0), d - 1, row_bytes));
    if (copies && d < devices - 1) check(cudaMemcpyPeer(s.below[0], d, slabs[d + 1].grid[0], d + 1, row_bytes));
  }
  for (int d = 0; d < devices; ++d) {
    check(cudaSetDevice(d));
    check(cudaDeviceSynchronize());
  }

  const dim3 grid(ceil_div(n, 32), ceil_div(rows, 8)), block(32, 8);
  for (int step = 0; step < steps; ++step) {
    const int in = step % 2, out = 1 - in;
    for (int d = 0; d < devices; ++d) {
      Slab& s = slabs[d];
      check(cudaSetDevice(d));
      for (int peer : {d - 1, d + 1})
        if (step > 0 && peer >= 0 && peer < devices) check(cudaStreamWaitEvent(s.stream, slabs[peer].done, 0));
      average<<<grid, block, 0, s.stream>>>(s.grid[out], s.grid[in], s.above[in], s.below[in], rows, n);
      check(cudaGetLastError());
    }
    for (int d = 0; d < devices; ++d) {
      Slab& s = slabs[d];
      check(cudaSetDevice(d));
      if (copies && d > 0)
        check(cudaMemcpyPeerAsync(slabs[d - 1].below[out], d - 1, s.grid[out], d, row_bytes, s.stream));
      if (copies && d < devices - 1)
        check(cudaMemcpyPeerAsync(slabs[d + 1].above[out], d + 1, last_row(d, out), d, row_bytes, s.stream));
      check(cudaEventRecord(s.done, s.stream));
    }
  }
  std::vector<float> got(start.size());
  for (int d = 0; d < devices; ++d) {
    check(cudaSetDevice(d));
    check(cudaStreamSynchronize(slabs[d].stream));
    check(cudaMemcpy(&got[std::size_t(d) * rows * n], slabs[d].grid[steps % 2], slab_bytes, cudaMemcpyDeviceToHost));
  }

  const int all = rows * devices;
  std::vector<float> want = start, next = start;
  for (int step = 0; step < steps; ++step) {
    for (int i = 1; i < all - 1; ++i) {
      for (int j = 1; j < n - 1; ++j) {
        const float* here = &want[std::size_t(i) * n + j];
        next[std::size_t(i) * n + j] = 0.2f * (here[0] + here[-1] + here[1] + here[-n] + here[n]);
      }
    }
    want.swap(next);
  }
  Check check;
  check.close("grid", got, want, 1e-5);
  return check.report();
}
