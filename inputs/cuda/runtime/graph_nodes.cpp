#include <algorithm>
#include <cstring>

#include "inputs/cuda/runtime/runtime.hpp"

// Graphs that a program makes node by node: their nodes and what these do; graph_edges.cpp has their order.
namespace atl::cudart {
namespace {

struct KernelParameters {
  const void* function;
  Dim3 grid, block;
  unsigned shared;
  void **arguments, **extra;
};
static_assert(sizeof(KernelParameters) == 56);

struct AllocationParameters {
  std::uint8_t pool[88];  // cudaMemPoolProps
  const void* access;
  std::size_t access_count, size;
  void* address;
};
static_assert(sizeof(AllocationParameters) == 120);

struct NodeParameters {
  int type, reserved[3];
  union {
    long long padding[29];
    KernelParameters kernel;
    struct {
      int flags, reserved[3];
      Copy3D box;
    } copy;
    SetWork set;
    HostWork host;
    Graph* child;
    EventWork event;
    AllocationParameters allocate;
    void* release;
  };
  long long more;
};
static_assert(sizeof(NodeParameters) == 256);

/// What `out` has of attributes, which are no parameters, stays.
int kernel_work(Runtime& r, const KernelParameters& p, KernelWork& out) {
  LaunchRequest q{p.function, p.grid, p.block, p.arguments, p.shared, out.request.cooperative, {}};
  q.cluster = out.request.cluster;
  if (!q.arguments && p.extra && !parameters_from_extra(p.extra, q.parameters)) return kInvalidValue;
  if (const int status = check_launch(r, q); status != kSuccess) return status;
  own_parameters(r, q);
  out = {std::move(q), {}};
  return kSuccess;
}

/// Adds a node with what `make` says: a status, and the work.
template <typename Make>
int add_node(GraphNode** out, Graph* graph, GraphNode* const* after, std::size_t count, NodeType type, Make&& make) {
  return call([&](Runtime& r) -> int {
    if (!out || !r.graphs.known(graph, after, count)) return kInvalidValue;
    Work work;
    if (const int status = make(r, work); status != kSuccess) return status;
    *out = r.graphs.add(*graph, type, std::move(work), std::vector<GraphNode*>(after, after + count));
    return kSuccess;
  });
}

/// Runs `body` with the work of a node of the form `T`.
template <typename T, typename Body> int with_work(GraphNode* node, Body&& body) {
  return call([&](Runtime& r) -> int {
    if (!r.graphs.known(node)) return kInvalidValue;
    T* work = std::get_if<T>(&node->work);
    return work ? static_cast<int>(body(r, *work)) : int{kInvalidValue};
  });
}

/// The same in an executable copy of the node's graph.
template <typename T, typename Body> int with_exec_work(const void* exec, const GraphNode* node, Body&& body) {
  return call([&](Runtime& r) -> int {
    const GraphExec* e = r.graphs.find(exec);
    if (!e) return kInvalidValue;
    for (const auto& copy : e->graph->nodes)
      if (copy->origin == node)
        if (T* work = std::get_if<T>(&copy->work)) return body(r, *work);
    return kInvalidValue;
  });
}

template <typename T> int replace(const T* from, T& to) { return from ? (to = *from, kSuccess) : kInvalidValue; }

/// Memory of a graph is there from the moment in which its node is made, and stays.
int allocate(Runtime& r, AllocationParameters& p, Work& work) {
  const std::uint64_t address = p.size ? r.code.allocate(p.size, cuda::MemoryKind::device) : 0;
  if (address == 0) return p.size ? kMemoryAllocation : kInvalidValue;
  r.graph_memory.insert(address);
  p.address = reinterpret_cast<void*>(address);
  work = MemoryWork{address, p.size};
  return kSuccess;
}

int node_work(Runtime& r, NodeParameters& p, Work& work) {
  switch (static_cast<NodeType>(p.type)) {
    case NodeType::kernel:
      return kernel_work(r, p.kernel, work.emplace<KernelWork>());
    case NodeType::copy:
      work = p.copy.box;
      return kSuccess;
    case NodeType::set:
      work = p.set;
      return kSuccess;
    case NodeType::host:
      work = p.host;
      return kSuccess;
    case NodeType::graph:
      if (!r.graphs.known(p.child)) return kInvalidValue;
      work = ChildWork{p.child->clone()};
      return kSuccess;
    case NodeType::empty:
      return kSuccess;
    case NodeType::wait_event:
    case NodeType::record_event:
      work = p.event;
      return r.events.count(p.event.event) ? kSuccess : kInvalidResourceHandle;
    case NodeType::allocate:
      return allocate(r, p.allocate, work);
    case NodeType::release:
      work = MemoryWork{reinterpret_cast<std::uint64_t>(p.release), 0};
      return kSuccess;
  }
  return kNotSupported;
}

/// Other parameters for a node, of its own kind. Memory and graphs within it stay as they are.
int set_node(Runtime& r, GraphNode& node, NodeParameters* p) {
  if (!p || static_cast<NodeType>(p->type) != node.type) return kInvalidValue;
  if (node.type == NodeType::allocate || node.type == NodeType::release || node.type == NodeType::graph)
    return kNotSupported;
  if (auto* kernel = std::get_if<KernelWork>(&node.work)) return kernel_work(r, p->kernel, *kernel);
  Work work;
  const int status = node_work(r, *p, work);
  if (status == kSuccess) node.work = std::move(work);
  return status;
}

}  // namespace

extern "C" {

int cudaGraphCreate(Graph** out, unsigned flags) {
  return call([&](Runtime& r) -> int {
    if (!out || flags != 0) return kInvalidValue;
    *out = r.graphs.create();
    return kSuccess;
  });
}

int cudaGraphDestroy(Graph* graph) {
  return call([&](Runtime& r) -> int { return r.graphs.destroy(graph) ? kSuccess : kInvalidValue; });
}

int cudaGraphClone(Graph** out, const Graph* graph) {
  return call([&](Runtime& r) -> int {
    if (!out || !r.graphs.known(graph)) return kInvalidValue;
    *out = r.graphs.adopt(graph->clone());
    return kSuccess;
  });
}

int cudaGraphNodeFindInClone(GraphNode** out, const GraphNode* node, const Graph* clone) {
  return call([&](Runtime& r) -> int {
    if (!out || !r.graphs.known(clone)) return kInvalidValue;
    for (const auto& copy : clone->nodes)
      if (copy->origin == node) return *out = copy.get(), kSuccess;
    return kInvalidValue;
  });
}

int cudaGraphAddNode(GraphNode** out, Graph* graph, GraphNode* const* after, const void*, std::size_t count,
                     NodeParameters* p) {
  if (!p) return remember(kInvalidValue);
  return add_node(out, graph, after, count, static_cast<NodeType>(p->type),
                  [&](Runtime& r, Work& work) { return node_work(r, *p, work); });
}

int cudaGraphNodeSetParams(GraphNode* node, NodeParameters* p) {
  return call([&](Runtime& r) -> int { return r.graphs.known(node) ? set_node(r, *node, p) : int{kInvalidValue}; });
}

int cudaGraphExecNodeSetParams(void* exec, const GraphNode* node, NodeParameters* p) {
  return call([&](Runtime& r) -> int {
    const GraphExec* e = r.graphs.find(exec);
    if (!e) return kInvalidValue;
    for (const auto& copy : e->graph->nodes)
      if (copy->origin == node) return set_node(r, *copy, p);
    return kInvalidValue;
  });
}

int cudaGraphAddKernelNode(GraphNode** out, Graph* graph, GraphNode* const* after, std::size_t count,
                           const KernelParameters* p) {
  return add_node(out, graph, after, count, NodeType::kernel, [&](Runtime& r, Work& work) {
    return p ? kernel_work(r, *p, work.emplace<KernelWork>()) : int{kInvalidValue};
  });
}

int cudaGraphAddMemcpyNode(GraphNode** out, Graph* graph, GraphNode* const* after, std::size_t count, const Copy3D* p) {
  return add_node(out, graph, after, count, NodeType::copy,
                  [&](Runtime&, Work& work) { return replace(p, work.emplace<Copy3D>()); });
}

int cudaGraphAddMemcpyNode1D(GraphNode** out, Graph* graph, GraphNode* const* after, std::size_t count, void* to,
                             const void* from, std::size_t size, int kind) {
  const Copy3D line = line_copy(to, from, size, kind);
  return cudaGraphAddMemcpyNode(out, graph, after, count, &line);
}

int cudaGetSymbolAddress(void** out, const void* symbol);

int cudaGraphAddMemcpyNodeToSymbol(GraphNode** out, Graph* graph, GraphNode* const* after, std::size_t count,
                                   const void* symbol, const void* from, std::size_t size, std::size_t offset, int kind) {
  void* at = nullptr;
  if (const int status = cudaGetSymbolAddress(&at, symbol); status != kSuccess) return status;
  return cudaGraphAddMemcpyNode1D(out, graph, after, count, static_cast<char*>(at) + offset, from, size, kind);
}

int cudaGraphAddMemcpyNodeFromSymbol(GraphNode** out, Graph* graph, GraphNode* const* after, std::size_t count, void* to,
                                     const void* symbol, std::size_t size, std::size_t offset, int kind) {
  void* at = nullptr;
  if (const int status = cudaGetSymbolAddress(&at, symbol); status != kSuccess) return status;
  return cudaGraphAddMemcpyNode1D(out, graph, after, count, to, static_cast<char*>(at) + offset, size, kind);
}

int cudaGraphAddMemsetNode(GraphNode** out, Graph* graph, GraphNode* const* after, std::size_t count, const SetWork* p) {
  return add_node(out, graph, after, count, NodeType::set,
                  [&](Runtime&, Work& work) { return replace(p, work.emplace<SetWork>()); });
}

int cudaGraphAddHostNode(GraphNode** out, Graph* graph, GraphNode* const* after, std::size_t count, const HostWork* p) {
  return add_node(out, graph, after, count, NodeType::host,
                  [&](Runtime&, Work& work) { return replace(p, work.emplace<HostWork>()); });
}

int cudaGraphAddEmptyNode(GraphNode** out, Graph* graph, GraphNode* const* after, std::size_t count) {
  return add_node(out, graph, after, count, NodeType::empty, [](Runtime&, Work&) { return kSuccess; });
}

int cudaGraphAddChildGraphNode(GraphNode** out, Graph* graph, GraphNode* const* after, std::size_t count, Graph* child) {
  return add_node(out, graph, after, count, NodeType::graph, [&](Runtime& r, Work& work) -> int {
    if (!r.graphs.known(child)) return kInvalidValue;
    work = ChildWork{child->clone()};
    return kSuccess;
  });
}

int cudaGraphAddEventRecordNode(GraphNode** out, Graph* graph, GraphNode* const* after, std::size_t count, void* event) {
  return add_node(out, graph, after, count, NodeType::record_event, [&](Runtime& r, Work& work) -> int {
    work = EventWork{event};
    return r.events.count(event) ? kSuccess : kInvalidResourceHandle;
  });
}

int cudaGraphAddEventWaitNode(GraphNode** out, Graph* graph, GraphNode* const* after, std::size_t count, void* event) {
  return add_node(out, graph, after, count, NodeType::wait_event, [&](Runtime& r, Work& work) -> int {
    work = EventWork{event};
    return r.events.count(event) ? kSuccess : kInvalidResourceHandle;
  });
}

int cudaGraphAddMemAllocNode(GraphNode** out, Graph* graph, GraphNode* const* after, std::size_t count,
                             AllocationParameters* p) {
  return add_node(out, graph, after, count, NodeType::allocate,
                  [&](Runtime& r, Work& work) { return p ? allocate(r, *p, work) : int{kInvalidValue}; });
}

int cudaGraphAddMemFreeNode(GraphNode** out, Graph* graph, GraphNode* const* after, std::size_t count, void* address) {
  return add_node(out, graph, after, count, NodeType::release, [&](Runtime& r, Work& work) -> int {
    work = MemoryWork{reinterpret_cast<std::uint64_t>(address), 0};
    return r.arena.find(reinterpret_cast<std::uint64_t>(address)) ? kSuccess : kInvalidValue;
  });
}

int cudaGraphKernelNodeGetParams(GraphNode* node, KernelParameters* out) {
  return with_work<KernelWork>(node, [&](Runtime& r, KernelWork& work) -> int {
    if (!out) return kInvalidValue;
    LaunchRequest& q = work.request;
    work.arguments.clear();
    Kernel& kernel = *r.code.find_kernel(q.kernel);
    for (const ptx::Param& p : r.code.function(kernel).params) work.arguments.push_back(q.parameters.data() + p.offset);
    // Programs look for nodes of theirs by the kernel's name in C++, though <<<>>> launches by handle.
    const void* function = kernel.host != nullptr ? kernel.host : q.kernel;
    *out = {function, q.grid, q.block, static_cast<unsigned>(q.dynamic_shared), work.arguments.data(), nullptr};
    return kSuccess;
  });
}

int cudaGraphKernelNodeSetParams(GraphNode* node, const KernelParameters* p) {
  return with_work<KernelWork>(
      node, [&](Runtime& r, KernelWork& work) { return p ? kernel_work(r, *p, work) : int{kInvalidValue}; });
}

int cudaGraphExecKernelNodeSetParams(void* exec, GraphNode* node, const KernelParameters* p) {
  return with_exec_work<KernelWork>(
      exec, node, [&](Runtime& r, KernelWork& work) { return p ? kernel_work(r, *p, work) : int{kInvalidValue}; });
}

int cudaGraphKernelNodeSetAttribute(GraphNode* node, int attribute, const void* value) {
  return with_work<KernelWork>(node, [&](Runtime&, KernelWork& work) -> int {
    const bool event = attribute == kAttributeProgrammaticEvent || attribute == kAttributeLaunchCompletionEvent;
    if (!value || event) return kInvalidValue;  // events are for launches
    LaunchAttribute given{};
    given.id = attribute;
    std::memcpy(given.bytes, value, sizeof given.bytes);
    return work.request.take(given);
  });
}

int cudaGraphKernelNodeGetAttribute(GraphNode* node, int attribute, void* value) {
  return with_work<KernelWork>(node, [&](Runtime&, KernelWork& work) -> int {
    if (!value) return kInvalidValue;
    std::memset(value, 0, sizeof(LaunchAttribute::bytes));
    if (attribute == kAttributeCooperative) *static_cast<int*>(value) = work.request.cooperative ? 1 : 0;
    if (attribute == kAttributeClusterDimension) *static_cast<Dim3*>(value) = work.request.cluster;
    return kSuccess;
  });
}

int cudaGraphMemcpyNodeGetParams(GraphNode* node, Copy3D* out) {
  return with_work<Copy3D>(node,
                           [&](Runtime&, Copy3D& work) -> int { return out ? (*out = work, kSuccess) : kInvalidValue; });
}

int cudaGraphMemcpyNodeSetParams(GraphNode* node, const Copy3D* p) {
  return with_work<Copy3D>(node, [&](Runtime&, Copy3D& work) { return replace(p, work); });
}

int cudaGraphMemcpyNodeSetParams1D(GraphNode* node, void* to, const void* from, std::size_t size, int kind) {
  const Copy3D line = line_copy(to, from, size, kind);
  return cudaGraphMemcpyNodeSetParams(node, &line);
}

int cudaGraphExecMemcpyNodeSetParams(void* exec, GraphNode* node, const Copy3D* p) {
  return with_exec_work<Copy3D>(exec, node, [&](Runtime&, Copy3D& work) { return replace(p, work); });
}

int cudaGraphExecMemcpyNodeSetParams1D(void* exec, GraphNode* node, void* to, const void* from, std::size_t size, int kind) {
  const Copy3D line = line_copy(to, from, size, kind);
  return cudaGraphExecMemcpyNodeSetParams(exec, node, &line);
}

int cudaGraphMemsetNodeGetParams(GraphNode* node, SetWork* out) {
  return with_work<SetWork>(node,
                            [&](Runtime&, SetWork& work) -> int { return out ? (*out = work, kSuccess) : kInvalidValue; });
}

int cudaGraphMemsetNodeSetParams(GraphNode* node, const SetWork* p) {
  return with_work<SetWork>(node, [&](Runtime&, SetWork& work) { return replace(p, work); });
}

int cudaGraphExecMemsetNodeSetParams(void* exec, GraphNode* node, const SetWork* p) {
  return with_exec_work<SetWork>(exec, node, [&](Runtime&, SetWork& work) { return replace(p, work); });
}

int cudaGraphHostNodeGetParams(GraphNode* node, HostWork* out) {
  return with_work<HostWork>(node,
                             [&](Runtime&, HostWork& work) -> int { return out ? (*out = work, kSuccess) : kInvalidValue; });
}

int cudaGraphHostNodeSetParams(GraphNode* node, const HostWork* p) {
  return with_work<HostWork>(node, [&](Runtime&, HostWork& work) { return replace(p, work); });
}

int cudaGraphExecHostNodeSetParams(void* exec, GraphNode* node, const HostWork* p) {
  return with_exec_work<HostWork>(exec, node, [&](Runtime&, HostWork& work) { return replace(p, work); });
}

int cudaGraphChildGraphNodeGetGraph(GraphNode* node, Graph** out) {
  return with_work<ChildWork>(
      node, [&](Runtime&, ChildWork& work) -> int { return out ? (*out = work.graph.get(), kSuccess) : kInvalidValue; });
}

int cudaGraphMemFreeNodeGetParams(GraphNode* node, void** out) {
  return with_work<MemoryWork>(node, [&](Runtime&, MemoryWork& work) -> int {
    return out ? (*out = reinterpret_cast<void*>(work.address), kSuccess) : kInvalidValue;
  });
}

int cudaGraphNodeGetType(GraphNode* node, int* type) {
  return call([&](Runtime& r) -> int {
    if (!type || !r.graphs.known(node)) return kInvalidValue;
    *type = static_cast<int>(node->type);
    return kSuccess;
  });
}

int cudaGraphDestroyNode(GraphNode* node) {
  return call([&](Runtime& r) -> int {
    if (!r.graphs.known(node)) return kInvalidValue;
    r.graphs.destroy_node(node);
    return kSuccess;
  });
}

}  // extern "C"
}  // namespace atl::cudart
