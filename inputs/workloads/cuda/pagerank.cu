// PageRank: each node gathers the ranks of the nodes that link to it. Ranks are scaled to a mean of 1. One thread per node
// (`gather`), for graphs of few links, or with --lanes 32 a warp per node (`gather_by_warps`), for many. With --lanes 64 a CTA
// of 64 threads per node (`gather_by_ctas`), which keeps its sums in shared memory and goes through the links in the order of
// their sources: as in the Hetero-Mark suite, whose wavefronts have 64 lanes.
//
//   offsets, sources  links by target, read-only; a thread walks its own links (private), neighbouring threads other lines;
//                     a warp or CTA reads its own one after the other
//   share             1 / (links out of a node), read-only, gathered by all CTAs at random; a warp reads a copy per link
//                     or CTA reads a copy per link beside `sources`
//   from              ranks of the step before, read-only in a step, gathered by all CTAs at random
//   to                written, private; it is the `from` of the next step, so all chips lose their copies in every step
#include <algorithm>

#include "graph.cuh"

using namespace workload;

constexpr float kDamping = 0.85f;

__global__ void gather(float* to, const float* from, const float* share, const int* offsets, const int* sources, int nodes) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= nodes) return;
  float sum = 0;
  for (int e = offsets[v]; e < offsets[v + 1]; ++e) sum += from[sources[e]] * share[sources[e]];
  to[v] = (1 - kDamping) + kDamping * sum;
}

__global__ void gather_by_warps(float* to, const float* from, const float* link_share, const int* offsets,
                                const int* sources, int nodes) {
  const int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (v >= nodes) return;
  float sum = 0;
  for (int e = offsets[v] + threadIdx.x % 32; e < offsets[v + 1]; e += 32) sum += link_share[e] * from[sources[e]];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  if (threadIdx.x % 32 == 0) to[v] = (1 - kDamping) + kDamping * sum;
}

__global__ void gather_by_ctas(float* to, const float* from, const float* link_share, const int* offsets,
                               const int* sources, int nodes) {
  __shared__ float sums[64];
  const int v = blockIdx.x, lane = threadIdx.x;
  if (v >= nodes) return;
  if (lane == 0) to[v] = 0;
  sums[lane] = 0;
  for (int e = offsets[v] + lane; e < offsets[v + 1]; e += 64) sums[lane] += link_share[e] * from[sources[e]];
  for (int step = 32; step > 0; step /= 2) {
    __syncthreads();
    if (lane < step) sums[lane] += sums[lane + step];
  }
  if (lane == 0) to[v] += (1 - kDamping) + kDamping * sums[0];
}

int main(int argc, char** argv) {
  Args args(argc, argv, "pagerank: power iteration on a random graph");
  const int nodes = args.number("nodes", 32768, 1, 1 << 26, "nodes of the graph");
  const int degree = args.number("degree", 8, 1, 1024, "mean number of links to a node");
  const int steps = args.number("steps", 5, 1, 1000, "iterations");
  const int threads = args.number("threads", 128, 1, 1024, "threads of a CTA");
  const int lanes = args.number("lanes", 1, 1, 64, "threads of a node: 1, 32, or 64, which are a CTA");
  args.done();
  if (lanes != 1 && lanes != 32 && lanes != 64) fail("--lanes must be 1, 32 or 64");
  if (lanes == 32 && threads % 32 != 0) fail("--threads must be a multiple of 32 for whole warps");

  Graph graph = random_graph(nodes, degree, 1);
  for (int v = 0; lanes == 64 && v < nodes; ++v)
    std::sort(&graph.targets[graph.offsets[v]], &graph.targets[0] + graph.offsets[v + 1]);
  std::vector<float> share(nodes, 0);
  for (const int source : graph.targets) share[source] += 1;
  for (float& s : share) s = s > 0 ? 1 / s : 0;
  const DeviceArray<int> offsets(graph.offsets), sources(graph.targets);
  std::vector<float> link_share;
  for (const int source : lanes > 1 ? graph.targets : std::vector<int>{}) link_share.push_back(share[source]);
  const DeviceArray<float> device_share(lanes > 1 ? link_share : share);
  DeviceArray<float> from(std::vector<float>(nodes, 1)), to(nodes);
  for (int step = 0; step < steps; ++step) {
    if (lanes == 64)
      gather_by_ctas<<<nodes, 64>>>(to, from, device_share, offsets, sources, nodes);
    else if (lanes == 32)
      gather_by_warps<<<ceil_div(nodes, threads / 32), threads>>>(to, from, device_share, offsets, sources, nodes);
    else
      gather<<<ceil_div(nodes, threads), threads>>>(to, from, device_share, offsets, sources, nodes);
    finish_kernel();
    from.swap(to);
  }

  std::vector<double> want(nodes, 1), next(nodes);
  for (int step = 0; step < steps; ++step) {
    for (int v = 0; v < nodes; ++v) {
      double sum = 0;
      for (int e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) sum += want[graph.targets[e]] * share[graph.targets[e]];
      next[v] = (1 - kDamping) + kDamping * sum;
    }
    want.swap(next);
  }
  Check check;
  check.close("rank", from.download(), want, 1e-5);
  return check.report();
}
