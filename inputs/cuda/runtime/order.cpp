#include "inputs/cuda/runtime/order.hpp"

#include <algorithm>
#include <utility>

#include "inputs/cuda/runtime/streams.hpp"

namespace atl::cudart {
namespace {

// Guarded by the runtime's lock, as all here.
std::uint64_t first_thread = 0;  // how far the program's first thread has waited
bool some_thread = false;        // has called

/// How far a thread of the program has waited.
struct Host {
  std::uint64_t step = first_thread;
  bool is_first = !std::exchange(some_thread, true);
};
thread_local Host host;

}  // namespace

Order::Order(unsigned devices) : latest_(devices) { host.step = 0; }

std::uint64_t Order::next(const void* stream, unsigned device, std::initializer_list<unsigned> taken) {
  std::uint64_t& own = of_streams_[{stream, device}];
  std::uint64_t after = std::max(own, host.step);
  for (const unsigned d : taken) after = std::max(after, latest_[d]);
  for (const unsigned d : taken) latest_[d] = after + 1;
  return own = after + 1;
}

std::uint64_t Order::last(const void* stream, unsigned device) const {
  if (is_default_stream(stream)) return latest_[device];
  const auto found = of_streams_.find({stream, device});
  return found == of_streams_.end() ? 0 : found->second;
}

void Order::wait(const void* stream, unsigned device, std::uint64_t step) {
  std::uint64_t& own = of_streams_[{stream, device}];
  own = std::max(own, step);
  // Other streams of a device wait for its default stream.
  if (is_default_stream(stream)) latest_[device] = std::max(latest_[device], step);
}

void Order::host_waits(std::uint64_t step) {
  host.step = std::max(host.step, step);
  if (host.is_first) first_thread = host.step;
}

}  // namespace atl::cudart
