#include <algorithm>

#include "inputs/cuda/runtime/runtime.hpp"

// The order of a graph's nodes: what is in it, what comes after what.
namespace atl::cudart {
namespace {

int list(const std::vector<GraphNode*>& nodes, GraphNode** out, std::size_t* count) {
  if (!count) return kInvalidValue;
  for (std::size_t i = 0; out && i < *count; ++i) out[i] = i < nodes.size() ? nodes[i] : nullptr;
  *count = out ? std::min(*count, nodes.size()) : nodes.size();
  return kSuccess;
}

}  // namespace

extern "C" {

int cudaGraphGetNodes(const Graph* graph, GraphNode** out, std::size_t* count) {
  return call([&](Runtime& r) -> int {
    if (!r.graphs.known(graph)) return kInvalidValue;
    std::vector<GraphNode*> nodes;
    for (const auto& node : graph->nodes) nodes.push_back(node.get());
    return list(nodes, out, count);
  });
}

int cudaGraphGetRootNodes(const Graph* graph, GraphNode** out, std::size_t* count) {
  return call([&](Runtime& r) -> int {
    if (!r.graphs.known(graph)) return kInvalidValue;
    std::vector<GraphNode*> roots;
    for (const auto& node : graph->nodes)
      if (node->after.empty()) roots.push_back(node.get());
    return list(roots, out, count);
  });
}

int cudaGraphGetEdges(const Graph* graph, GraphNode** from, GraphNode** to, void*, std::size_t* count) {
  return call([&](Runtime& r) -> int {
    if (!r.graphs.known(graph) || !count) return kInvalidValue;
    std::vector<GraphNode*> sources, targets;
    for (const auto& node : graph->nodes)
      for (GraphNode* before : node->after) sources.push_back(before), targets.push_back(node.get());
    std::size_t same = *count;
    list(sources, from, &same);
    return list(targets, to, count);
  });
}

int cudaGraphNodeGetDependencies(GraphNode* node, GraphNode** out, void*, std::size_t* count) {
  return call([&](Runtime& r) { return r.graphs.known(node) ? list(node->after, out, count) : int{kInvalidValue}; });
}

int cudaGraphNodeGetDependentNodes(GraphNode* node, GraphNode** out, void*, std::size_t* count) {
  return call([&](Runtime& r) -> int {
    if (!r.graphs.known(node)) return kInvalidValue;
    std::vector<GraphNode*> behind;
    for (const auto& other : node->graph->nodes)
      if (std::find(other->after.begin(), other->after.end(), node) != other->after.end()) behind.push_back(other.get());
    return list(behind, out, count);
  });
}

int cudaGraphAddDependencies(Graph* graph, GraphNode* const* from, GraphNode* const* to, const void*, std::size_t count) {
  return call([&](Runtime& r) -> int {
    if (!r.graphs.known(graph, from, count) || !r.graphs.known(graph, to, count)) return kInvalidValue;
    for (std::size_t i = 0; i < count; ++i) {
      auto& after = to[i]->after;
      if (from[i] == to[i] || std::find(after.begin(), after.end(), from[i]) != after.end()) return kInvalidValue;
      after.push_back(from[i]);
    }
    return kSuccess;
  });
}

int cudaGraphRemoveDependencies(Graph* graph, GraphNode* const* from, GraphNode* const* to, const void*, std::size_t count) {
  return call([&](Runtime& r) -> int {
    if (!r.graphs.known(graph, from, count) || !r.graphs.known(graph, to, count)) return kInvalidValue;
    for (std::size_t i = 0; i < count; ++i)
      if (std::erase(to[i]->after, from[i]) == 0) return kInvalidValue;
    return kSuccess;
  });
}

}  // extern "C"
}  // namespace atl::cudart
