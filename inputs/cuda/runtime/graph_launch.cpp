#include "inputs/cuda/runtime/copy.hpp"
#include "inputs/cuda/runtime/runtime.hpp"

// Graphs that are ready to run.
namespace atl::cudart {

extern "C" int cudaEventRecord(void* event, void* stream);
extern "C" int cudaFree(void* pointer);

namespace {

enum UpdateResult : int { kUpdated = 0, kUpdateError = 1, kTopologyChanged = 2, kTypeChanged = 3 };

struct UpdateInfo {
  int result;
  GraphNode *node, *from;
};

struct InstantiateParameters {
  unsigned long long flags;
  void* stream;
  GraphNode* failed;
  int result;
};

int run_list(const std::vector<GraphNode*>& order);

int run(GraphNode& node) {
  if (const auto* host = std::get_if<HostWork>(&node.work)) {
    bool later = false;
    const int status = call([&](Runtime& r) -> int {
      later = r.backlog.add_host_function(r, [work = *host] { work.function(work.data); });
      return kSuccess;
    });
    if (!later) host->function(host->data);  // without the lock: it may wait for another thread that calls us
    return status;
  }
  if (const auto* child = std::get_if<ChildWork>(&node.work)) return run_list(child->graph->order());
  return call([&](Runtime& r) -> int {
    if (const auto* kernel = std::get_if<KernelWork>(&node.work)) return launch(r, kernel->request);
    if (const auto* copy = std::get_if<Copy3D>(&node.work)) return copy_box(r, *copy);
    if (const auto* set = std::get_if<SetWork>(&node.work)) return set_elements(r, *set);
    if (const auto* other = std::get_if<CallWork>(&node.work)) return other->call(r);
    if (const auto* event = std::get_if<EventWork>(&node.work); event && node.type == NodeType::record_event)
      return cudaEventRecord(event->event, const_cast<void*>(InStream::now().stream));
    return kSuccess;  // memory of a graph stays, and what is waited for is done
  });
}

int run_list(const std::vector<GraphNode*>& order) {
  for (GraphNode* node : order) {
    if (!node->enabled) continue;
    if (const int status = run(*node); status != kSuccess) return status;
  }
  return kSuccess;
}

/// Node by node, in their order: the same kinds with the same edges. Changes nothing.
int compare(const Graph& to, const Graph& from, UpdateInfo& info) {
  info = {kTopologyChanged, nullptr, nullptr};
  if (to.nodes.size() != from.nodes.size()) return kGraphUpdateFailure;
  std::map<const GraphNode*, const GraphNode*> twin;
  for (std::size_t i = 0; i < to.nodes.size(); ++i) twin[from.nodes[i].get()] = to.nodes[i].get();
  for (std::size_t i = 0; i < to.nodes.size(); ++i) {
    const GraphNode &a = *to.nodes[i], &b = *from.nodes[i];
    info.node = from.nodes[i].get();
    bool same = a.after.size() == b.after.size();
    for (std::size_t n = 0; same && n < a.after.size(); ++n) same = twin.at(b.after[n]) == a.after[n];
    if (!same) return kGraphUpdateFailure;
    if (a.type != b.type || a.work.index() != b.work.index()) return info.result = kTypeChanged, kGraphUpdateFailure;
    const auto *inner = std::get_if<ChildWork>(&a.work), *with = std::get_if<ChildWork>(&b.work);
    if (inner && compare(*inner->graph, *with->graph, info) != kSuccess) return kGraphUpdateFailure;
  }
  info = {kUpdated, nullptr, nullptr};
  return kSuccess;
}

/// Of a graph that compares.
void take_work(const Graph& to, const Graph& from) {
  for (std::size_t i = 0; i < to.nodes.size(); ++i) {
    if (const auto* inner = std::get_if<ChildWork>(&to.nodes[i]->work))
      take_work(*inner->graph, *std::get<ChildWork>(from.nodes[i]->work).graph);
    else
      to.nodes[i]->work = from.nodes[i]->work;
  }
}

}  // namespace

extern "C" {

int cudaGraphInstantiate(void** out, const Graph* graph, unsigned long long flags) {
  return call([&](Runtime& r) -> int {
    if (!out || !r.graphs.known(graph)) return kInvalidValue;
    GraphExec* exec = r.graphs.instantiate(*graph);
    if (!exec) return kInvalidValue;
    exec->flags = flags;
    *out = exec;
    return kSuccess;
  });
}

int cudaGraphInstantiateWithFlags(void** out, const Graph* graph, unsigned long long flags) {
  return cudaGraphInstantiate(out, graph, flags);
}

int cudaGraphInstantiateWithParams(void** out, const Graph* graph, InstantiateParameters* p) {
  if (!p) return remember(kInvalidValue);
  const int status = cudaGraphInstantiate(out, graph, p->flags);
  p->failed = nullptr, p->result = status == kSuccess ? 0 : 1;
  return status;
}

int cudaGraphExecGetFlags(void* exec, unsigned long long* flags) {
  return call([&](Runtime& r) -> int {
    const GraphExec* e = r.graphs.find(exec);
    return e && flags ? (*flags = e->flags, kSuccess) : kInvalidValue;
  });
}

int cudaGraphExecDestroy(void* exec) {
  return call([&](Runtime& r) -> int { return r.graphs.destroy_exec(exec) ? kSuccess : kInvalidValue; });
}

int cudaGraphUpload(void* exec, void*) {
  return call([&](Runtime& r) -> int { return r.graphs.find(exec) ? kSuccess : kInvalidValue; });
}

int cudaGraphExecUpdate(void* exec, const Graph* graph, UpdateInfo* info) {
  return call([&](Runtime& r) -> int {
    UpdateInfo ignored{}, &said = info ? *info : ignored;
    said = {kUpdateError, nullptr, nullptr};
    GraphExec* e = r.graphs.find(exec);
    if (!e || !r.graphs.known(graph)) return kInvalidValue;
    if (const int status = compare(*e->graph, *graph, said); status != kSuccess) return status;
    take_work(*e->graph, *graph);
    for (std::size_t i = 0; i < e->graph->nodes.size(); ++i) e->graph->nodes[i]->origin = graph->nodes[i].get();
    return kSuccess;
  });
}

int cudaGraphNodeSetEnabled(void* exec, const GraphNode* node, unsigned enabled) {
  return call([&](Runtime& r) -> int {
    const GraphExec* e = r.graphs.find(exec);
    for (std::size_t i = 0; e && i < e->graph->nodes.size(); ++i)
      if (e->graph->nodes[i]->origin == node) return e->graph->nodes[i]->enabled = enabled != 0, kSuccess;
    return kInvalidValue;
  });
}

int cudaGraphNodeGetEnabled(void* exec, const GraphNode* node, unsigned* enabled) {
  return call([&](Runtime& r) -> int {
    const GraphExec* e = r.graphs.find(exec);
    for (std::size_t i = 0; e && enabled && i < e->graph->nodes.size(); ++i)
      if (e->graph->nodes[i]->origin == node) return *enabled = e->graph->nodes[i]->enabled ? 1 : 0, kSuccess;
    return kInvalidValue;
  });
}

int cudaGraphLaunch(void* exec, void* stream) {
  std::vector<GraphNode*> order;
  bool captured = false;
  const int status = call([&](Runtime& r) -> int {
    const GraphExec* e = r.graphs.find(exec);
    if (!e) return kInvalidValue;
    order = e->order;
    Capture* capture = r.graphs.capture_of(stream);
    captured = capture != nullptr;
    return captured ? r.graphs.add(*capture, stream, NodeType::graph, ChildWork{e->graph->clone()}) : int{kSuccess};
  });
  if (status != kSuccess || captured) return status;
  const InStream in(runtime(), stream);
  return run_list(order);
}

}  // extern "C"
}  // namespace atl::cudart
