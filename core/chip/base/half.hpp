#pragma once
#include <bit>

#include "core/chip/base/event.hpp"
#include "core/chip/base/gate.hpp"
#include "core/engine/error.hpp"
#include "core/engine/event_queue.hpp"
#include "core/engine/spsc_ring.hpp"

// A chip that two threads run is two halves: the cores (SMs with their L1s, and the ports by which they ask) and the uncore
// (slices, memory, and the ports by which these answer). core/chip/chip_halves.cpp says how they run.
namespace atl {

/// Tells which of two events of a cycle comes first in the order of scheduling, that of one thread, though each half only
/// knows its own order. Pushes of one half are numbered. Of events that both scheduled in the same cycle, the one comes
/// first whose parent was handled first; that is known by how many events of the uncore the cores had seen in that cycle.
struct Stamp {
  std::uint64_t number = 0;  ///< of the push, doubled; 1 more if an event of the uncore pushed
  /// Cycle of the parent << kPlaceBits, and the events of the uncore handled in that cycle before the parent.
  std::uint64_t parent = 0;
  static constexpr unsigned kPlaceBits = 24;
  static constexpr std::uint64_t kLastPlace = (std::uint64_t{1} << kPlaceBits) - 1;
  static_assert(~std::uint64_t{0} >> kPlaceBits >= 2 * kCycleLimit - 1, "times of the longest run fit");

  bool of_uncore() const { return (number & 1) != 0; }
};
inline bool before(const Stamp& a, const Stamp& b) {
  if (a.of_uncore() == b.of_uncore()) return a.number < b.number;
  return a.of_uncore() ? a.parent < b.parent : a.parent <= b.parent;
}

/// Numbers the pushes of the events that one half handles.
struct alignas(64) Stamper {
  std::uint64_t number = 0;
  std::uint64_t parent = 0;
  std::uint64_t handled = 0;  ///< events of this half
  Stamp next() { return {number += 2, parent}; }
  void handling(Cycle now, std::uint64_t place) { parent = now << Stamp::kPlaceBits | place, ++handled; }
};

/// Made where it is kept, like any event (EventQueue::emplace()).
struct StampedEvent {
  StampedEvent(const Packet& packet, std::uint16_t index, EventKind kind, std::uint8_t sub, const Stamp& stamp)
      : event{packet, index, kind, sub}, stamp(stamp) {}
  StampedEvent(const Event& event, const Stamp& stamp) : event(event), stamp(stamp) {}
  Event event;
  Stamp stamp;
};
using HalfQueue = EventQueue<StampedEvent>;

/// From one half to the other: an event, or the credit of a gate that the other half has.
struct Crossing {
  Cycle at = 0;  ///< kNever: a credit
  Event event;
  Stamp stamp;

  static Crossing credit(Gate* gate, const Stamp& stamp) {
    Crossing c{kNever, {}, stamp};
    c.event.packet.line = {std::bit_cast<std::uintptr_t>(gate)};
    return c;
  }
  Gate* gate() const { return std::bit_cast<Gate*>(static_cast<std::uintptr_t>(event.packet.line.value)); }
};
static_assert(sizeof(Crossing) == 64);

/// One half's events, and where those go that it schedules.
struct alignas(64) Half {
  /// `crosses`: the kind of event that the other half handles.
  explicit Half(EventKind crosses) : crosses(crosses), out(kCrossings) {}

  void push(Cycle at, const Packet& p, std::uint16_t index, EventKind kind, std::uint8_t sub) {
    if (whole != nullptr) return whole->emplace(at, p, index, kind, sub);
    const Stamp stamp = by->next();
    if (kind == crosses) return cross({at, {p, index, kind, sub}, stamp});
    queue.emplace(at, p, index, kind, sub, stamp);
  }
  /// A credit for whoever in the other half sends into the queue.
  void release_entry(Gate& gate) {
    if (whole != nullptr) {
      if (const auto w = gate.release()) whole->push(whole->now(), resumption(*w));
      return;
    }
    if (apart) return cross(Crossing::credit(&gate, by->next()));
    if (const auto w = gate.release()) other->resume(*w, by->next());
  }
  void resume(const Waiter& w, const Stamp& stamp) { queue.emplace(queue.now(), resumption(w), stamp); }

  static constexpr std::size_t kCrossings = std::size_t{1} << 12;
  const EventKind crosses;
  bool apart = false;                  ///< each half is run by a thread
  Half* other = nullptr;               ///< touched only while not apart
  HalfQueue* into = nullptr;           ///< the other half's queue for what crosses, likewise
  Stamper* by = nullptr;               ///< of the half whose event is being handled
  EventQueue<Event>* whole = nullptr;  ///< takes the events of both halves while one thread works alone
  HalfQueue queue;
  SpscRing<Crossing> out;
  std::uint32_t crossed = 0;  ///< into `out`, by the event that is being handled

 private:
  void cross(const Crossing& c) {
    if (!apart) {
      into->emplace(c.at, c.event, c.stamp);
    } else {
      if (!out.room(1)) [[unlikely]]
        throw SimulationError(
            "an event of a chip reaches more places than two threads can tell each other: use --threads 1");
      out.push(c), ++crossed;
    }
  }
};

}  // namespace atl
