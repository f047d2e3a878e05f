#include <algorithm>

#include "inputs/cuda/runtime/runtime.hpp"

// Stream capture: what a program gives into captured streams becomes the nodes of a graph.
namespace atl::cudart {
namespace {

enum CaptureStatus : int { kNone = 0, kActive = 1, kInvalidated = 2 };
enum : unsigned { kReplaceDependencies = 1 };

/// What the null stream is depends on how the program was built: with _ptsz in the names of its calls, one of the thread.
enum class NullStream : std::uint8_t { legacy, per_thread };

int begin(Runtime& r, void* stream, NullStream null, Graph* graph, const std::vector<GraphNode*>& after) {
  // The legacy stream waits for all others, which no graph can.
  if (stream ? stream == reinterpret_cast<void*>(kLegacyStream) : null == NullStream::legacy) return kCaptureUnsupported;
  if (r.graphs.capture_of(stream)) return kCaptureMerge;
  r.graphs.begin_capture(stream, graph, after);
  return kSuccess;
}

/// Work of another stream that nothing behind it waits for must have been joined to the stream that the capture began in.
bool joined(const Capture& c) {
  std::set<const GraphNode*> behind;
  for (const auto& node : c.graph->nodes) behind.insert(node->after.begin(), node->after.end());
  const std::vector<GraphNode*>& last = c.latest.at(c.origin);
  for (const auto& [stream, latest] : c.latest)
    for (const GraphNode* node : latest)
      if (behind.count(node) == 0 && std::find(last.begin(), last.end(), node) == last.end()) return false;
  return true;
}

int begin_own_graph(void* stream, NullStream null) {
  return call([&](Runtime& r) {
    Graph* graph = r.graphs.create();
    const int status = begin(r, stream, null, graph, {});
    if (status != kSuccess)
      r.graphs.destroy(graph);
    else
      r.graphs.capture_of(stream)->own_graph = true;
    return status;
  });
}

int begin_in_graph(void* stream, NullStream null, Graph* graph, GraphNode** after, std::size_t count) {
  return call([&](Runtime& r) -> int {
    if (!r.graphs.known(graph) || (count != 0 && !after)) return kInvalidValue;
    return begin(r, stream, null, graph, std::vector<GraphNode*>(after, after + count));
  });
}

}  // namespace

extern "C" {

int cudaStreamBeginCapture(void* stream, int) { return begin_own_graph(stream, NullStream::legacy); }
int cudaStreamBeginCapture_ptsz(void* stream, int) { return begin_own_graph(stream, NullStream::per_thread); }

int cudaStreamBeginCaptureToGraph(void* stream, Graph* graph, GraphNode** after, const void*, std::size_t count, int) {
  return begin_in_graph(stream, NullStream::legacy, graph, after, count);
}

int cudaStreamBeginCaptureToGraph_ptsz(void* stream, Graph* graph, GraphNode** after, const void*, std::size_t count, int) {
  return begin_in_graph(stream, NullStream::per_thread, graph, after, count);
}

int cudaStreamEndCapture(void* stream, Graph** out) {
  return call([&](Runtime& r) -> int {
    if (!out) return kInvalidValue;
    *out = nullptr;
    const Capture* capture = r.graphs.capture_of(stream);
    if (!capture || capture->origin != stream) return capture ? kCaptureUnmatched : kInvalidValue;
    const int status = capture->invalid ? kCaptureInvalidated : joined(*capture) ? kSuccess : kCaptureUnjoined;
    Graph* graph = capture->graph;
    const bool own = capture->own_graph;
    r.graphs.end_capture(capture->id);
    if (status == kSuccess)
      *out = graph;
    else if (own)
      r.graphs.destroy(graph);
    return status;
  });
}

int cudaStreamIsCapturing(void* stream, int* status) {
  return call([&](Runtime& r) -> int {
    if (!status) return kInvalidValue;
    const Capture* capture = r.graphs.capture_of(stream);
    *status = !capture ? kNone : capture->invalid ? kInvalidated : kActive;
    return kSuccess;
  });
}

int cudaStreamGetCaptureInfo(void* stream, int* status, unsigned long long* id, Graph** graph, GraphNode*** nodes,
                             const void** edges, std::size_t* count) {
  if (const int failed = cudaStreamIsCapturing(stream, status); failed != kSuccess) return failed;
  return call([&](Runtime& r) -> int {
    Capture* capture = r.graphs.capture_of(stream);
    if (!capture) return kSuccess;
    std::vector<GraphNode*>& latest = capture->latest[stream];
    if (id) *id = capture->id;
    if (graph) *graph = capture->graph;
    if (nodes) *nodes = latest.data();
    if (edges) *edges = nullptr;
    if (count) *count = latest.size();
    return kSuccess;
  });
}

int cudaStreamUpdateCaptureDependencies(void* stream, GraphNode** nodes, const void*, std::size_t count, unsigned flags) {
  return call([&](Runtime& r) -> int {
    Capture* capture = r.graphs.capture_of(stream);
    if (!capture || (count != 0 && !nodes)) return kInvalidValue;
    for (std::size_t i = 0; i < count; ++i)
      if (!r.graphs.known(nodes[i]) || nodes[i]->graph != capture->graph) return kInvalidValue;
    if ((flags & kReplaceDependencies) != 0) capture->latest[stream].clear();
    r.graphs.join(*capture, stream, std::vector<GraphNode*>(nodes, nodes + count));
    return kSuccess;
  });
}

/// Which calls a capture forbids to other threads; none are forbidden here.
int cudaThreadExchangeStreamCaptureMode(int* mode) {
  thread_local int current = 0;
  return call([&](Runtime&) -> int {
    if (!mode || *mode < 0 || *mode > 2) return kInvalidValue;
    std::swap(*mode, current);
    return kSuccess;
  });
}

}  // extern "C"
}  // namespace atl::cudart
