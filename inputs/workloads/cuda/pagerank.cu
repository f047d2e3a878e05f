// PageRank: each node gathers the ranks of the nodes that link to it, one thread per node. Ranks are scaled to a mean of 1.
//
//   offsets, sources  links by target, read-only; a thread walks its own links (private), neighbouring threads other lines
//   share             1 / (links out of a node), read-only, gathered by all CTAs at random
//   from              ranks of the step before, read-only in a step, gathered by all CTAs at random
//   to                written, private; it is the `from` of the next step, so all chips lose their copies in every step
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

int main(int argc, char** argv) {
  Args args(argc, argv, "pagerank: power iteration on a random graph");
  const int nodes = args.number("nodes", 32768, 1, 1 << 26, "nodes of the graph");
  const int degree = args.number("degree", 8, 1, 16, "mean number of links to a node");
  const int steps = args.number("steps", 5, 1, 1000, "iterations");
  const int threads = args.number("threads", 128, 1, 1024, "threads of a CTA");
  args.done();

  const Graph graph = random_graph(nodes, degree, 1);
  std::vector<float> share(nodes, 0);
  for (const int source : graph.targets) share[source] += 1;
  for (float& s : share) s = s > 0 ? 1 / s : 0;
  const DeviceArray<int> offsets(graph.offsets), sources(graph.targets);
  const DeviceArray<float> device_share(share);
  DeviceArray<float> from(std::vector<float>(nodes, 1)), to(nodes);
  for (int step = 0; step < steps; ++step) {
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
