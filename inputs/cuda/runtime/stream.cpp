#include <chrono>

#include "inputs/cuda/runtime/runtime.hpp"

// Everything a program puts into a stream is done when the call returns: one order that all streams allow.
namespace atl::cudart {
namespace {

using Clock = std::chrono::steady_clock;

struct Event {
  Clock::time_point time;
  bool recorded = false;
};

enum : unsigned { kExternal = 1 };  // a node of its own in a graph, not an edge

constexpr std::uintptr_t kLastBuiltInStream = 2;  // null, legacy and per-thread stream are small numbers

bool is_stream(const Runtime& r, void* stream) {
  return reinterpret_cast<std::uintptr_t>(stream) <= kLastBuiltInStream || r.streams.count(stream) != 0;
}

int new_stream(Runtime& r, void** out) {
  if (!out) return kInvalidValue;
  *out = new char;  // an address that nothing else has
  r.streams.insert(*out);
  return kSuccess;
}

int known_stream(void* stream) {
  return call([&](Runtime& r) -> int { return is_stream(r, stream) ? kSuccess : kInvalidResourceHandle; });
}

/// What a capture cannot hold: it is of no use any more.
int waited_for(void* stream) {
  return call([&](Runtime& r) -> int {
    if (!is_stream(r, stream)) return kInvalidResourceHandle;
    Capture* capture = r.graphs.capture_of(stream);
    if (capture) capture->invalid = true;
    return capture ? kCaptureUnsupported : kSuccess;
  });
}

}  // namespace

extern "C" {

int cudaStreamCreate(void** out) {
  return call([&](Runtime& r) { return new_stream(r, out); });
}

int cudaStreamCreateWithFlags(void** out, unsigned) { return cudaStreamCreate(out); }
int cudaStreamCreateWithPriority(void** out, unsigned, int) { return cudaStreamCreate(out); }

int cudaStreamDestroy(void* stream) {
  return call([&](Runtime& r) -> int {
    if (r.streams.erase(stream) == 0) return kInvalidResourceHandle;
    delete static_cast<char*>(stream);
    return kSuccess;
  });
}

int cudaStreamSynchronize(void* stream) { return waited_for(stream); }
int cudaStreamQuery(void* stream) { return waited_for(stream); }

int cudaStreamWaitEvent(void* stream, void* event, unsigned flags) {
  return call([&](Runtime& r) -> int {
    if (!is_stream(r, stream) || r.events.count(event) == 0) return kInvalidResourceHandle;
    Capture* own = r.graphs.capture_of(stream);
    if (own && (flags & kExternal) != 0) return r.graphs.add(*own, stream, NodeType::wait_event, EventWork{event});
    const auto mark = r.graphs.marks.find(event);
    Capture* capture = mark == r.graphs.marks.end() ? nullptr : r.graphs.capture(mark->second.capture);
    if (!capture && own) return own->invalid = true, kCaptureIsolation;
    if (capture && own && own != capture) return own->invalid = true, kCaptureMerge;
    if (capture) r.graphs.join(*capture, stream, mark->second.nodes);
    return kSuccess;
  });
}

int cudaStreamGetFlags(void* stream, unsigned* flags) {
  if (flags) *flags = 0;
  return known_stream(stream);
}

int cudaStreamGetPriority(void* stream, int* priority) {
  if (priority) *priority = 0;
  return known_stream(stream);
}

int cudaStreamGetId(void* stream, unsigned long long* id) {
  if (id) *id = reinterpret_cast<std::uintptr_t>(stream);
  return known_stream(stream);
}

int cudaStreamGetDevice(void* stream, int* device) {
  if (device) *device = 0;
  return known_stream(stream);
}

// The program's functions run without the lock: they may wait for another thread that calls us.
int cudaLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
  bool captured = false;
  const int status = call([&](Runtime& r) -> int {
    if (!is_stream(r, stream)) return kInvalidResourceHandle;
    Capture* capture = r.graphs.capture_of(stream);
    captured = capture != nullptr;
    return captured ? r.graphs.add(*capture, stream, NodeType::host, HostWork{function, data}) : int{kSuccess};
  });
  if (status == kSuccess && !captured) function(data);
  return status;
}

int cudaStreamAddCallback(void* stream, void (*function)(void*, int, void*), void* data, unsigned) {
  const int status = waited_for(stream);
  if (status == kSuccess) function(stream, kSuccess, data);
  return status;
}

int cudaEventCreateWithFlags(void** out, unsigned) {
  return call([&](Runtime& r) -> int {
    if (!out) return kInvalidValue;
    *out = new Event;
    r.events.insert(*out);
    return kSuccess;
  });
}

int cudaEventCreate(void** out) { return cudaEventCreateWithFlags(out, 0); }

int cudaEventDestroy(void* event) {
  return call([&](Runtime& r) -> int {
    if (r.events.erase(event) == 0) return kInvalidResourceHandle;
    r.graphs.marks.erase(event);
    delete static_cast<Event*>(event);
    return kSuccess;
  });
}

int cudaEventRecord(void* event, void* stream) {
  return call([&](Runtime& r) -> int {
    if (r.events.count(event) == 0 || !is_stream(r, stream)) return kInvalidResourceHandle;
    if (Capture* capture = r.graphs.capture_of(stream)) {
      r.graphs.marks[event] = {capture->id, capture->latest[stream]};
      return kSuccess;
    }
    r.graphs.marks.erase(event);
    *static_cast<Event*>(event) = {Clock::now(), true};
    return kSuccess;
  });
}

int cudaEventRecordWithFlags(void* event, void* stream, unsigned flags) {
  if ((flags & kExternal) == 0) return cudaEventRecord(event, stream);
  bool captured = false;
  const int status = call([&](Runtime& r) -> int {
    if (r.events.count(event) == 0 || !is_stream(r, stream)) return kInvalidResourceHandle;
    Capture* capture = r.graphs.capture_of(stream);
    captured = capture != nullptr;
    return captured ? r.graphs.add(*capture, stream, NodeType::record_event, EventWork{event}) : int{kSuccess};
  });
  return captured || status != kSuccess ? status : cudaEventRecord(event, stream);
}

int cudaEventSynchronize(void* event) {
  return call([&](Runtime& r) -> int { return r.events.count(event) ? kSuccess : kInvalidResourceHandle; });
}

int cudaEventQuery(void* event) { return cudaEventSynchronize(event); }

/// The time that the recording took, not what a GPU would take: positive, so that no program divides by zero.
int cudaEventElapsedTime(float* milliseconds, void* start, void* end) {
  return call([&](Runtime& r) -> int {
    if (!milliseconds) return kInvalidValue;
    if (!r.events.count(start) || !r.events.count(end)) return kInvalidResourceHandle;
    const Event &a = *static_cast<Event*>(start), &b = *static_cast<Event*>(end);
    if (!a.recorded || !b.recorded) return kInvalidResourceHandle;
    const std::chrono::duration<float, std::milli> passed = b.time - a.time;
    *milliseconds = passed.count() > 0 ? passed.count() : 1e-3f;
    return kSuccess;
  });
}

}  // extern "C"
}  // namespace atl::cudart
