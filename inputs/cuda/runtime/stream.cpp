#include <chrono>

#include "inputs/cuda/runtime/runtime.hpp"

// What a program puts into a stream is done when the call returns, one order that all streams allow; or, behind a kernel
// that waits for another one or for the program, later (backlog.hpp).
namespace atl::cudart {
namespace {

using Clock = std::chrono::steady_clock;

struct Event {
  Clock::time_point time;
  bool timed = true;
  bool recorded = false;
  std::uint64_t step = 0;  ///< when all is done that its stream had got
  std::uint64_t task = 0;  ///< of the backlog, with which that is so
};

enum : unsigned { kExternal = 1 };  // a node of its own in a graph, not an edge
enum : unsigned { kNonBlocking = 1 };
enum : unsigned { kBlockingSync = 1, kDisableTiming = 2, kInterprocess = 4 };

int new_stream(Runtime& r, void** out, unsigned flags) {
  if (!out || (flags & ~kNonBlocking) != 0) return kInvalidValue;
  *out = new char;  // an address that nothing else has
  r.streams[*out] = current_device();
  if ((flags & kNonBlocking) != 0) r.free_streams.insert(*out);
  return kSuccess;
}

int known_stream(void* stream) {
  return call([&](Runtime& r) -> int { return is_stream(r, stream) ? kSuccess : kInvalidResourceHandle; });
}

/// What a capture cannot hold: it is of no use any more.
int waited_for(void* stream, bool asked_only) {
  return call([&](Runtime& r) -> int {
    if (!is_stream(r, stream)) return kInvalidResourceHandle;
    Capture* capture = r.graphs.capture_of(stream);
    if (capture) return capture->invalid = true, kCaptureUnsupported;
    const auto first = r.backlog.before(r, {stream, device_of(r, stream)});
    if (asked_only && !r.backlog.done(r, first)) return kNotReady;
    r.backlog.finish(r, first);
    r.order.host_waits(r.order.last(stream, device_of(r, stream)));
    return r.sticky;
  });
}

/// The same of what a stream had got when the event was recorded.
int waited_for_event(void* event, bool asked_only) {
  return call([&](Runtime& r) -> int {
    if (r.events.count(event) == 0) return kInvalidResourceHandle;
    Capture* const capture = r.graphs.capture_of_event(event);
    if (capture) return capture->invalid = true, kCapturedEvent;
    const std::vector<std::uint64_t> task{static_cast<Event*>(event)->task};
    if (asked_only && !r.backlog.done(r, task)) return kNotReady;
    r.backlog.finish(r, task);
    r.order.host_waits(static_cast<Event*>(event)->step);
    return r.sticky;
  });
}

thread_local const InStream* innermost = nullptr;

}  // namespace

bool is_stream(const Runtime& r, const void* stream) { return is_default_stream(stream) || r.streams.contains(stream); }

unsigned device_of(const Runtime& r, const void* stream) {
  const auto found = r.streams.find(stream);
  return found == r.streams.end() ? current_device() : found->second;
}

InStream::InStream(const Runtime& r, const void* stream) : outer_(innermost), place_{stream, device_of(r, stream), false} {
  innermost = this;
}

InStream::InStream(Place place) : outer_(innermost), place_(place) { innermost = this; }

InStream::~InStream() { innermost = outer_; }

InStream::Place InStream::now() { return innermost ? innermost->place_ : Place{nullptr, current_device(), true}; }

extern "C" {

int cudaStreamCreate(void** out) {
  return call([&](Runtime& r) { return new_stream(r, out, 0); });
}

int cudaStreamCreateWithFlags(void** out, unsigned flags) {
  return call([&](Runtime& r) { return new_stream(r, out, flags); });
}

int cudaStreamDestroy(void* stream) {
  return call([&](Runtime& r) -> int {
    if (!r.streams.contains(stream)) return kInvalidResourceHandle;
    // What it has got is done all the same; meanwhile no other stream may get its address.
    const bool done = r.backlog.before(r, {stream, device_of(r, stream)}).empty();
    r.streams.erase(stream), forget_attributes(r, stream);
    if (done) r.free_streams.erase(stream), delete static_cast<char*>(stream);
    return kSuccess;
  });
}

int cudaStreamSynchronize(void* stream) { return waited_for(stream, false); }
int cudaStreamQuery(void* stream) { return waited_for(stream, true); }

int cudaStreamWaitEvent(void* stream, void* event, unsigned flags) {
  return call([&](Runtime& r) -> int {
    if ((flags & ~kExternal) != 0) return kInvalidValue;
    if (!is_stream(r, stream) || r.events.count(event) == 0) return kInvalidResourceHandle;
    Capture* own = r.graphs.capture_of(stream);
    if (own && (flags & kExternal) != 0) return r.graphs.add(*own, stream, NodeType::wait_event, EventWork{event});
    Capture* const capture = r.graphs.capture_of_event(event);
    if (!capture && own) return own->invalid = true, kCaptureIsolation;
    if (capture && own && own != capture) return own->invalid = true, kCaptureMerge;
    if (capture) r.graphs.join(*capture, stream, r.graphs.marks.at(event).nodes);
    if (capture) return kSuccess;
    const InStream in(r, stream);
    const auto wait = [=, device = device_of(r, stream)](Runtime& now) -> int {
      if (now.events.contains(event)) now.order.wait(stream, device, static_cast<Event*>(event)->step);
      return kSuccess;
    };
    r.backlog.add(r, wait, {static_cast<Event*>(event)->task});
    return kSuccess;
  });
}

int cudaStreamGetFlags(void* stream, unsigned* flags) {
  return call([&](Runtime& r) -> int {
    if (!flags) return kInvalidValue;
    *flags = r.free_streams.contains(stream) ? unsigned{kNonBlocking} : 0u;
    return is_stream(r, stream) ? kSuccess : kInvalidResourceHandle;
  });
}

int cudaStreamGetId(void* stream, unsigned long long* id) {
  if (id) *id = reinterpret_cast<std::uintptr_t>(stream);
  return known_stream(stream);
}

int cudaStreamGetDevice(void* stream, int* device) {
  return call([&](Runtime& r) -> int {
    if (device) *device = static_cast<int>(device_of(r, stream));
    return is_stream(r, stream) ? kSuccess : kInvalidResourceHandle;
  });
}

// The program's functions run without the lock: they may wait for another thread that calls us.
int cudaLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
  bool later = false;
  const int status = call([&](Runtime& r) -> int {
    if (!is_stream(r, stream)) return kInvalidResourceHandle;
    Capture* capture = r.graphs.capture_of(stream);
    later = capture != nullptr;
    if (capture) return r.graphs.add(*capture, stream, NodeType::host, HostWork{function, data});
    const InStream in(r, stream);
    later = r.backlog.add_host_function(r, [=] { function(data); });
    return kSuccess;
  });
  if (status == kSuccess && !later) function(data);
  return status;
}

int cudaStreamAddCallback(void* stream, void (*function)(void*, int, void*), void* data, unsigned) {
  bool later = false;
  const int status = call([&](Runtime& r) -> int {
    if (!is_stream(r, stream)) return kInvalidResourceHandle;
    Capture* capture = r.graphs.capture_of(stream);
    if (capture) return capture->invalid = true, kCaptureUnsupported;
    const InStream in(r, stream);
    later = r.backlog.add_host_function(r, [=] { function(stream, kSuccess, data); });
    if (!later) r.order.host_waits(r.order.last(stream, device_of(r, stream)));
    return kSuccess;
  });
  if (status == kSuccess && !later) function(stream, kSuccess, data);
  return status;
}

int cudaEventCreateWithFlags(void** out, unsigned flags) {
  return call([&](Runtime& r) -> int {
    if (!out || (flags & ~(kBlockingSync | kDisableTiming | kInterprocess)) != 0) return kInvalidValue;
    if ((flags & kInterprocess) != 0 && (flags & kDisableTiming) == 0) return kInvalidValue;
    auto* const event = new Event;
    event->timed = (flags & kDisableTiming) == 0;
    r.events.insert(*out = event);
    return kSuccess;
  });
}

int cudaEventCreate(void** out) { return cudaEventCreateWithFlags(out, 0); }

int cudaEventDestroy(void* event) {
  return call([&](Runtime& r) -> int {
    if (r.events.erase(event) == 0) return kInvalidResourceHandle;
    r.graphs.marks.erase(event);
    // What waits for it finds it by its address, which no other event may get.
    if (r.backlog.idle()) delete static_cast<Event*>(event);
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
    const InStream in(r, stream);
    Event& e = *static_cast<Event*>(event);
    e.recorded = true;
    e.task = r.backlog.next();
    // Recorded again while it waits, it means the later place.
    const auto done = [=, number = e.task, device = device_of(r, stream)](Runtime& now) -> int {
      Event& it = *static_cast<Event*>(event);
      if (now.events.contains(event) && it.task == number) it.time = Clock::now(), it.step = now.order.last(stream, device);
      return kSuccess;
    };
    e.task = r.backlog.add(r, done);
    return kSuccess;
  });
}

int cudaEventRecordWithFlags(void* event, void* stream, unsigned flags) {
  if (flags == 0) return cudaEventRecord(event, stream);
  bool captured = false;
  const int status = call([&](Runtime& r) -> int {
    if ((flags & ~kExternal) != 0) return kInvalidValue;
    if (r.events.count(event) == 0 || !is_stream(r, stream)) return kInvalidResourceHandle;
    Capture* capture = r.graphs.capture_of(stream);
    captured = capture != nullptr;
    return captured ? r.graphs.add(*capture, stream, NodeType::record_event, EventWork{event}) : int{kSuccess};
  });
  return captured || status != kSuccess ? status : cudaEventRecord(event, stream);
}

int cudaEventSynchronize(void* event) { return waited_for_event(event, false); }

int cudaEventQuery(void* event) { return waited_for_event(event, true); }

/// The time that the recording took, not what a GPU would take: positive, so that no program divides by zero.
int cudaEventElapsedTime(float* milliseconds, void* start, void* end) {
  return call([&](Runtime& r) -> int {
    if (!milliseconds) return kInvalidValue;
    if (!r.events.count(start) || !r.events.count(end)) return kInvalidResourceHandle;
    const Event &a = *static_cast<Event*>(start), &b = *static_cast<Event*>(end);
    if (!a.timed || !b.timed || !a.recorded || !b.recorded) return kInvalidResourceHandle;
    if (!r.backlog.done(r, {a.task, b.task})) return kNotReady;
    const std::chrono::duration<float, std::milli> passed = b.time - a.time;
    *milliseconds = passed.count() > 0 ? passed.count() : 1e-3f;
    return kSuccess;
  });
}

}  // extern "C"
}  // namespace atl::cudart
