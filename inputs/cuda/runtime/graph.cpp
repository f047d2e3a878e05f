#include "inputs/cuda/runtime/graph.hpp"

#include <algorithm>
#include <cstring>

#include "inputs/cuda/runtime/copy.hpp"
#include "inputs/cuda/runtime/runtime.hpp"

namespace atl::cudart {

std::vector<GraphNode*> Graph::order() const {
  std::vector<GraphNode*> out;
  std::set<const GraphNode*> done;
  std::vector<GraphNode*> left;
  for (const auto& node : nodes) left.push_back(node.get());
  while (!left.empty()) {
    // Programs add nodes after those that they depend on, so that one pass is mostly enough.
    std::vector<GraphNode*> later;
    for (GraphNode* node : left) {
      const bool ready = std::all_of(node->after.begin(), node->after.end(), [&](auto* n) { return done.count(n) != 0; });
      if (ready)
        out.push_back(node), done.insert(node);
      else
        later.push_back(node);
    }
    if (later.size() == left.size()) return {};
    left = std::move(later);
  }
  return out;
}

std::unique_ptr<Graph> Graph::clone() const {
  auto copy = std::make_unique<Graph>();
  std::map<const GraphNode*, GraphNode*> twin;
  for (const auto& node : nodes) {
    auto made = std::make_unique<GraphNode>(*node);
    made->graph = copy.get(), made->origin = node.get();
    if (auto* child = std::get_if<ChildWork>(&made->work)) child->graph = child->graph->clone();
    twin[node.get()] = made.get();
    copy->nodes.push_back(std::move(made));
  }
  for (const auto& node : copy->nodes)
    for (GraphNode*& before : node->after) before = twin.at(before);
  return copy;
}

bool Graphs::known(const Graph* graph, GraphNode* const* nodes, std::size_t count) const {
  if (!known(graph) || (count != 0 && nodes == nullptr)) return false;
  return std::all_of(nodes, nodes + count, [&](const GraphNode* n) { return known(n) && n->graph == graph; });
}

void Graphs::remember_nodes(const Graph& graph, bool known) {
  for (const auto& node : graph.nodes) {
    if (known)
      nodes_.insert(node.get());
    else
      nodes_.erase(node.get());
    if (const auto* child = std::get_if<ChildWork>(&node->work)) remember_inner(*child->graph, known);
  }
}

void Graphs::remember_inner(const Graph& graph, bool known) {
  if (known)
    inner_.insert(&graph);
  else
    inner_.erase(&graph);
  remember_nodes(graph, known);
}

Graph* Graphs::create() { return adopt(std::make_unique<Graph>()); }

Graph* Graphs::adopt(std::unique_ptr<Graph> graph) {
  Graph* made = graph.get();
  remember_nodes(*made, true);
  graphs_[made] = std::move(graph);
  return made;
}

bool Graphs::destroy(Graph* graph) {
  const auto found = graphs_.find(graph);
  if (found == graphs_.end()) return false;
  remember_nodes(*graph, false);
  graphs_.erase(found);
  return true;
}

GraphExec* Graphs::instantiate(const Graph& graph) {
  auto exec = std::make_unique<GraphExec>();
  exec->graph = graph.clone();
  exec->order = exec->graph->order();
  if (exec->order.size() != exec->graph->nodes.size()) return nullptr;
  GraphExec* made = exec.get();
  execs_[made] = std::move(exec);
  return made;
}

GraphExec* Graphs::find(const void* exec) const {
  const auto found = execs_.find(exec);
  return found == execs_.end() ? nullptr : found->second.get();
}

bool Graphs::destroy_exec(const void* exec) { return execs_.erase(exec) != 0; }

GraphNode* Graphs::add(Graph& graph, NodeType type, Work work, const std::vector<GraphNode*>& after) {
  auto node = std::make_unique<GraphNode>();
  node->type = type, node->work = std::move(work), node->after = after, node->graph = &graph;
  GraphNode* made = node.get();
  graph.nodes.push_back(std::move(node));
  nodes_.insert(made);
  if (const auto* child = std::get_if<ChildWork>(&made->work)) remember_inner(*child->graph, true);
  return made;
}

void Graphs::destroy_node(GraphNode* node) {
  Graph& graph = *node->graph;
  for (const auto& other : graph.nodes) std::erase(other->after, node);
  if (const auto* child = std::get_if<ChildWork>(&node->work)) remember_inner(*child->graph, false);
  nodes_.erase(node);
  std::erase_if(graph.nodes, [&](const auto& n) { return n.get() == node; });
}

Capture* Graphs::find_capture(void* stream) {
  const auto found = streams_.find(stream);
  return found == streams_.end() ? nullptr : &captures_.at(found->second);
}

Capture* Graphs::capture_of_event(void* event) {
  const auto mark = marks.find(event);
  const auto found = mark == marks.end() ? captures_.end() : captures_.find(mark->second.capture);
  return found == captures_.end() ? nullptr : &found->second;
}

Capture& Graphs::begin_capture(void* stream, Graph* graph, const std::vector<GraphNode*>& after) {
  Capture& c = captures_[++last_capture_];
  c.id = last_capture_, c.graph = graph, c.origin = stream;
  join(c, stream, after);
  return c;
}

void Graphs::end_capture(std::uint64_t id) {
  std::erase_if(streams_, [&](const auto& s) { return s.second == id; });
  std::erase_if(marks, [&](const auto& m) { return m.second.capture == id; });
  captures_.erase(id);
}

void Graphs::join(Capture& capture, void* stream, const std::vector<GraphNode*>& after) {
  streams_[stream] = capture.id;
  std::vector<GraphNode*>& latest = capture.latest[stream];
  for (GraphNode* node : after)
    if (std::find(latest.begin(), latest.end(), node) == latest.end()) latest.push_back(node);
}

int Graphs::add(Capture& capture, void* stream, NodeType type, Work work) {
  if (capture.invalid) return kCaptureInvalidated;
  std::vector<GraphNode*>& latest = capture.latest[stream];
  latest = {add(*capture.graph, type, std::move(work), latest)};
  return kSuccess;
}

Copy3D line_copy(void* to, const void* from, std::size_t size, int kind) {
  return rows_copy(to, size, from, size, size, 1, kind);
}

Copy3D rows_copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                 std::size_t height, int kind) {
  Copy3D c{};
  c.from = {const_cast<void*>(from), from_pitch, width, height}, c.to = {to, to_pitch, width, height};
  c.extent = {width, height, 1}, c.kind = kind;
  return c;
}

int set_elements(Runtime& r, const SetWork& w) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(w.width, std::size_t{w.element_bytes}, &bytes)) return kInvalidValue;
  if (bytes == 0 || w.height == 0) return kSuccess;
  if (w.element_bytes != 1 && w.element_bytes != 2 && w.element_bytes != 4) return kInvalidValue;
  const std::size_t pitch = w.height > 1 ? w.pitch : bytes;
  if (bytes > pitch || !reachable(r, w.to) || !rows_in_one_block(r, Rows(w.to, pitch), bytes, w.height))
    return kInvalidValue;
  return r.backlog.in_turn(r, [=](Runtime&) -> int {
    for (std::size_t y = 0; y < w.height; ++y) {
      char* row = static_cast<char*>(w.to) + y * pitch;
      if (w.element_bytes == 1)
        std::memset(row, static_cast<int>(w.value), bytes);
      else
        for (std::size_t x = 0; x < bytes; x += w.element_bytes) std::memcpy(row + x, &w.value, w.element_bytes);
    }
    return kSuccess;
  });
}

int in_stream(void* stream, NodeType type, const std::function<int(Runtime&)>& now) {
  return call([&](Runtime& r) -> int {
    Capture* capture = r.graphs.capture_of(stream);
    const InStream in(r, stream);
    return capture ? r.graphs.add(*capture, stream, type, CallWork{now}) : now(r);
  });
}

}  // namespace atl::cudart
