#pragma once
#include "core/chip/base/event.hpp"
#include "core/chip/base/gate.hpp"
#include "core/chip/base/half.hpp"
#include "core/chip/base/machine.hpp"
#include "core/chip/base/observer.hpp"
#include "core/chip/profile/degree_profiler.hpp"
#include "core/chip/profile/llc_profiler.hpp"
#include "core/chip/profile/structure_counter.hpp"
#include "core/engine/archive.hpp"
#include "core/engine/event_queue.hpp"
#include "core/stats/counters.hpp"
#include "policies/policy.hpp"

namespace atl {

/// What every component of a chip sees of it: the machine's constants, the clock and the counters. A chip that two threads
/// run has one for each half.
struct alignas(64) Context {
  const Machine& machine;
  std::uint8_t chip;
  Half* half = nullptr;  ///< takes the events in place of `queue`, which then only has the time
  EventQueue<Event> queue{};
  Counters count{};
  LlcRole role = LlcRole::memory_side;
  std::uint32_t local_ways = 0;  ///< split: ways of a set for lines of this chip
  bool paused = false;           ///< SMs send nothing: the organisation is about to change
  LlcProfiler profiler{machine.config};
  ReplicationModes replication{};
  DegreeProfiler degrees{machine.config, machine.replicas};
  StructureCounter structures{{}, machine.config.line_bytes, machine.config.chips, chip};
  ChipObserver* observer = nullptr;  ///< absent in ordinary runs

  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, queue, count, role, local_ways, paused, profiler, replication, degrees, structures);
  }

  /// The slice of this chip for a request of an SM. Atomics execute where all clusters' meet.
  std::uint32_t slice(const Packet& p) const {
    const bool replicated = p.has(kReadOnlyData) || (replication.all_lines && p.kind != PacketKind::atomic);
    return machine.slice(p.line, p.sm, replicated ? replication.level : 0);
  }
  bool sm_side() const { return role == LlcRole::sm_side; }
  Cycle now() const { return queue.now(); }
  void schedule(Cycle at, const Event& e) {
    if (half != nullptr) [[unlikely]]
      return half->push(at, e.packet, e.index, e.kind, e.sub);
    queue.push(at, e);
  }
  void schedule(Cycle at, EventKind kind, std::uint32_t index, std::uint32_t sub = 0) {
    if (half != nullptr) [[unlikely]]
      return half->push(at, Packet{}, static_cast<std::uint16_t>(index), kind, static_cast<std::uint8_t>(sub));
    queue.emplace(at, Packet{}, static_cast<std::uint16_t>(index), kind, static_cast<std::uint8_t>(sub));
  }
  void schedule(Cycle at, EventKind kind, std::uint32_t index, std::uint32_t sub, const Packet& p) {
    if (half != nullptr) [[unlikely]]
      return half->push(at, p, static_cast<std::uint16_t>(index), kind, static_cast<std::uint8_t>(sub));
    queue.emplace(at, p, static_cast<std::uint16_t>(index), kind, static_cast<std::uint8_t>(sub));
  }
  /// Calls a component at a time to come, by one event however often it asks: `timed` says that the event is on its way.
  void call_once(bool& timed, Cycle at, EventKind kind, std::uint32_t index, std::uint32_t sub = 0) {
    if (timed) return;
    timed = true;
    schedule(at, kind, index, sub);
  }
  /// Returns a credit. A waiter resumes as an event of this cycle, not inside the caller: no component is re-entered.
  void release(Gate& gate) {
    if (const auto w = gate.release()) schedule(now(), resumption(*w));
  }
  /// Returns a credit of a slice's queue for requests of SMs, which the ports of the SMs take.
  void release_entry(Gate& gate) {
    if (half != nullptr) [[unlikely]]
      return half->release_entry(gate);
    release(gate);
  }
};

}  // namespace atl
