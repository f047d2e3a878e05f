#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <variant>
#include <vector>

#include "inputs/cuda/runtime/abi.hpp"
#include "inputs/cuda/runtime/launch.hpp"

/// CUDA graphs. What a stream is given is done at once, or in its turn in the backlog, so a graph is a list of work in an
/// order that its edges allow, and capturing a stream is putting work into a list instead of doing it.
namespace atl::cudart {

struct Graph;

/// As cudaGraphNodeType counts them.
enum class NodeType : int {
  kernel,
  copy,
  set,
  host,
  graph,
  empty,
  wait_event,
  record_event,
  allocate = 10,
  release = 11,
};

struct KernelWork {
  LaunchRequest request;         ///< with its parameters as a block
  std::vector<void*> arguments;  ///< what cudaGraphKernelNodeGetParams gave out
};

/// As cudaMemsetParams.
struct SetWork {
  void* to;
  std::size_t pitch;
  unsigned value, element_bytes;
  std::size_t width, height;  ///< elements, rows
};

struct HostWork {
  void (*function)(void*);
  void* data;
};

struct EventWork {
  void* event;
};

struct MemoryWork {
  std::uint64_t address, size;
};

struct ChildWork {
  std::shared_ptr<Graph> graph;
};

/// A captured call that has no form of its own, repeated as it was.
struct CallWork {
  std::function<int(Runtime&)> call;
};

using Work = std::variant<std::monostate, KernelWork, Copy3D, SetWork, HostWork, EventWork, MemoryWork, ChildWork, CallWork>;

struct GraphNode {
  NodeType type = NodeType::empty;
  Work work;
  std::vector<GraphNode*> after;  ///< nodes of the same graph that come before it
  Graph* graph = nullptr;
  const GraphNode* origin = nullptr;  ///< in a copy: the node that it was copied from
  bool enabled = true;
};

struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;  ///< in the order in which they were added
  /// An order that the edges allow, else by age; empty although there are nodes: the edges make a circle.
  std::vector<GraphNode*> order() const;
  /// Node by node, with `origin`.
  std::unique_ptr<Graph> clone() const;
};

struct GraphExec {
  std::unique_ptr<Graph> graph;
  std::vector<GraphNode*> order;
  std::uint64_t flags = 0;
};

/// Work that several streams give in between cudaStreamBeginCapture and cudaStreamEndCapture.
struct Capture {
  std::uint64_t id = 0;
  Graph* graph = nullptr;
  void* origin = nullptr;                           ///< the stream that it began in
  std::map<void*, std::vector<GraphNode*>> latest;  ///< of each stream in it: what its next work comes after
  bool invalid = false;
  bool own_graph = false;  ///< made for it: goes with it if it fails
};

class Graphs {
 public:
  Graph* create();
  Graph* adopt(std::unique_ptr<Graph> graph);
  bool destroy(Graph* graph);
  /// One of the program's, or in a node of one.
  bool known(const Graph* graph) const { return graphs_.count(const_cast<Graph*>(graph)) != 0 || inner_.count(graph) != 0; }
  bool known(const GraphNode* node) const { return nodes_.count(const_cast<GraphNode*>(node)) != 0; }
  /// The graph and `count` of its nodes.
  bool known(const Graph* graph, GraphNode* const* nodes, std::size_t count) const;
  GraphExec* instantiate(const Graph& graph);  ///< null: the edges make a circle
  GraphExec* find(const void* exec) const;
  bool destroy_exec(const void* exec);
  GraphNode* add(Graph& graph, NodeType type, Work work, const std::vector<GraphNode*>& after);
  void destroy_node(GraphNode* node);

  /// The capture that a stream takes part in, or null.
  Capture* capture_of(void* stream) { return streams_.empty() ? nullptr : find_capture(stream); }
  /// The one under way in which an event was recorded last, or null.
  Capture* capture_of_event(void* event);
  Capture& begin_capture(void* stream, Graph* graph, const std::vector<GraphNode*>& after);
  void end_capture(std::uint64_t id);
  void join(Capture& capture, void* stream, const std::vector<GraphNode*>& after);
  /// The next node of a captured stream. Returns a status.
  int add(Capture& capture, void* stream, NodeType type, Work work);

  /// What a captured event stands for.
  struct Mark {
    std::uint64_t capture = 0;
    std::vector<GraphNode*> nodes;
  };
  std::map<void*, Mark> marks;  ///< by event

 private:
  Capture* find_capture(void* stream);
  void remember_nodes(const Graph& graph, bool known);
  void remember_inner(const Graph& graph, bool known);

  std::map<Graph*, std::unique_ptr<Graph>> graphs_;
  std::map<const void*, std::unique_ptr<GraphExec>> execs_;
  std::set<GraphNode*> nodes_;
  std::set<const Graph*> inner_;  ///< of nodes
  std::map<std::uint64_t, Capture> captures_;
  std::map<void*, std::uint64_t> streams_;  // that are captured
  std::uint64_t last_capture_ = 0;
};

/// One row of bytes as a box.
Copy3D line_copy(void* to, const void* from, std::size_t size, int kind);
Copy3D rows_copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                 std::size_t height, int kind);
int set_elements(Runtime& r, const SetWork& work);

/// Does `now` at once, or, while the stream is captured, makes it a node.
int in_stream(void* stream, NodeType type, const std::function<int(Runtime&)>& now);

}  // namespace atl::cudart
