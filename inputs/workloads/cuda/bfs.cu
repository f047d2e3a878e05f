// Breadth-first search from node 0, two kernels per level, one thread per node, frontier as byte masks.
//
//   offsets, targets  the graph, read-only; a thread walks its own edges (private)
//   frontier          nodes of this level: read by all threads of `expand`, cleared by the owner, set by `advance`
//   reached           nodes found in this level: scattered by `expand` from any CTA, read and cleared by the owner in
//   `advance` visited           gathered by `expand` from any CTA, written by the owner in `advance` cost              level
//   of a node: written by `expand` from any CTA; threads that race for a node write the same value more              one
//   flag, written by many CTAs of `advance`, read by the host
// The scatter is irregular: a line of `reached` or `cost` is written by CTAs of all chips, mostly for different elements
// (false sharing).
#include "graph.cuh"

using namespace workload;

__global__ void expand(int* cost, char* reached, char* frontier, const char* visited, const int* offsets, const int* targets,
                       int nodes) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= nodes || !frontier[v]) return;
  frontier[v] = 0;
  for (int e = offsets[v]; e < offsets[v + 1]; ++e) {
    const int target = targets[e];
    if (visited[target]) continue;
    cost[target] = cost[v] + 1;
    reached[target] = 1;
  }
}

__global__ void advance(char* frontier, char* visited, char* reached, int* more, int nodes) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= nodes || !reached[v]) return;
  frontier[v] = 1;
  visited[v] = 1;
  reached[v] = 0;
  *more = 1;
}

int main(int argc, char** argv) {
  Args args(argc, argv, "bfs: breadth-first search of a random graph");
  const int nodes = args.number("nodes", 65536, 1, 1 << 26, "nodes of the graph");
  const int degree = args.number("degree", 6, 1, 16, "mean number of edges of a node");
  const int threads = args.number("threads", 512, 1, 1024, "threads of a CTA");
  args.done();

  const Graph graph = random_graph(nodes, degree, 1);
  std::vector<char> source(nodes, 0);
  source[0] = 1;
  std::vector<int> want(nodes, -1);
  want[0] = 0;
  const DeviceArray<int> offsets(graph.offsets), targets(graph.targets), cost(want);
  const DeviceArray<char> frontier(source), visited(source);
  DeviceArray<char> reached(nodes);
  reached.clear();
  DeviceArray<int> more(1);

  const int ctas = ceil_div(nodes, threads);
  do {
    more.clear();
    expand<<<ctas, threads>>>(cost, reached, frontier, visited, offsets, targets, nodes);
    finish_kernel();
    advance<<<ctas, threads>>>(frontier, visited, reached, more, nodes);
    finish_kernel();
  } while (more.download()[0] != 0);

  std::vector<int> queue = {0};
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const int v = queue[head];
    for (int e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
      const int target = graph.targets[e];
      if (want[target] >= 0) continue;
      want[target] = want[v] + 1;
      queue.push_back(target);
    }
  }
  Check check;
  check.equal("cost", cost.download(), want);
  return check.report();
}
