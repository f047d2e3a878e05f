// Random graphs of bfs and pagerank.
#pragma once

#include "common.cuh"

// Edges of node v: targets[offsets[v]] to targets[offsets[v + 1] - 1].
struct Graph {
  std::vector<int> offsets, targets;
};

// Every node has 1 to 2 * degree - 1 edges to nodes anywhere in the graph.
inline Graph random_graph(int nodes, int degree, std::uint64_t seed) {
  workload::Random random(seed);
  Graph graph;
  graph.offsets.push_back(0);
  for (int v = 0; v < nodes; ++v) {
    for (int edges = 1 + random.below(2 * degree - 1); edges > 0; --edges) graph.targets.push_back(random.below(nodes));
    graph.offsets.push_back(static_cast<int>(graph.targets.size()));
  }
  return graph;
}
