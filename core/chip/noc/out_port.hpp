#pragma once
#include <algorithm>
#include <bit>
#include <vector>

#include "core/chip/base/gate.hpp"
#include "core/chip/base/server.hpp"
#include "core/chip/base/state_check.hpp"
#include "core/chip/context.hpp"
#include "core/chip/noc/packet_queues.hpp"
#include "core/engine/archive.hpp"

namespace atl {

/// One queue of a port, half a cache line of the host. Packets of a lane leave in order; while the head waits for a credit,
/// so do those behind it, unless the port lets them pass.
struct Lane {
  Gate gate;  ///< credits of this queue, for those who send into it
  PacketQueues::Queue queue;
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, gate, queue); }
};
static_assert(sizeof(Lane) == 32);

/// Queues that share one bandwidth in turn. A crossbar port has a lane for its own chip and one for each direction of links:
/// with a single queue, a packet for a busy link would hold up all others and no link could be used beyond some 60 %
/// (head-of-line blocking of input-queued switches).
struct OutPort {
  std::vector<Lane> lanes;
  PacketQueues* packets;  ///< its owner's, of all ports: places that one has left serve the next
  Server server;
  // Of lanes, one bit each: with many chips most are empty.
  std::uint64_t ready = 0;    ///< their heads wait for nothing but their turn
  std::uint64_t waiting = 0;  ///< lined up at their heads' destinations
  std::uint64_t granted = 0;  ///< hold the credit for their heads
  std::uint32_t next = 0;     ///< lane to serve first
  bool timed = false;         ///< an event is scheduled for when the port is free

  OutPort(PacketQueues& store, std::uint32_t lane_count, std::uint32_t capacity, double bytes_per_cycle)
      : lanes(lane_count), packets(&store), server(bytes_per_cycle) {
    for (Lane& l : lanes) l.gate = Gate(capacity);
  }

  std::uint32_t size(std::uint32_t lane) const { return lanes[lane].queue.size; }
  bool waits(std::uint32_t lane) const { return (waiting & bit(lane)) != 0; }
  void prefetch(std::uint32_t lane) const { prefetch_address(&lanes[lane]); }
  const Packet& front(std::uint32_t lane) const { return packets->front(lanes[lane].queue); }
  template <class F> void for_each_packet(std::uint32_t lane, F&& f) const { packets->for_each(lanes[lane].queue, f); }
  /// Calls f(lane) for each lane that has packets.
  template <class F> void for_each_used(F&& f) const {
    for (std::uint64_t rest = ready | waiting; rest != 0; rest &= rest - 1)
      f(static_cast<std::uint32_t>(std::countr_zero(rest)));
  }

  void push(std::uint32_t lane, const Packet& p) {
    packets->push(lanes[lane].queue, p);
    ready |= bit(lane) & ~waiting;
  }
  /// The packet at the head of a lane that has one.
  Packet take(std::uint32_t lane) {
    const Packet p = packets->take(lanes[lane].queue);
    if (lanes[lane].queue.empty()) ready &= ~bit(lane);
    return p;
  }
  /// Sends what can be sent now. `gate_of(packet)` is the destination's gate, nullptr where it needs no credit;
  /// `send(packet, lane, depart)` hands it on.
  /// `self` is who to resume (its sub is set to the lane), `timer` the event that calls again.
  /// `kPassing`: while all heads wait, the first packet behind them goes that has a credit, as from a virtual queue per
  /// destination; packets to one destination stay in order.
  template <bool kPassing = false, class GateOf, class Send>
  void pump(Context& c, Waiter self, EventKind timer, GateOf&& gate_of, Send&& send) {
    const auto n = static_cast<std::uint32_t>(lanes.size());
    for (;;) {
      if (ready == 0) {
        if (kPassing && pass(c, self, timer, gate_of, send)) continue;
        return;
      }
      if (!server.idle(c.now())) return c.call_once(timed, server.idle_from(), timer, self.index);
      const std::uint64_t from_next = ready & ~std::uint64_t{0} << next;
      const auto k = static_cast<std::uint32_t>(std::countr_zero(from_next != 0 ? from_next : ready));
      if ((granted & bit(k)) == 0) {
        Gate* g = gate_of(front(k));
        if (g != nullptr && !g->acquire()) {
          self.sub = static_cast<std::uint8_t>(k);
          g->wait(self);
          waiting |= bit(k);
          ready &= ~bit(k);
          continue;
        }
      }
      granted &= ~bit(k);
      next = k + 1 < n ? k + 1 : 0;
      const Packet p = take(k);
      send(p, k, server.serve(c.now(), c.machine.bytes(p)));
    }
  }
  /// Only in the lane of the own chip: what waits for a link waits for one destination.
  template <class GateOf, class Send> bool pass(Context& c, Waiter self, EventKind timer, GateOf&& gate_of, Send&& send) {
    if (size(0) < 2) return false;
    if (!server.idle(c.now())) {
      c.call_once(timed, server.idle_from(), timer, self.index);
      return false;
    }
    const auto p = packets->take_behind(lanes[0].queue, [&](const Packet& behind) {
      Gate* g = gate_of(behind);
      return g == nullptr || g->acquire();
    });
    if (p) send(*p, 0, server.serve(c.now(), c.machine.bytes(*p)));
    return p.has_value();
  }
  void grant(std::uint32_t lane) {
    waiting &= ~bit(lane);
    granted |= bit(lane), ready |= bit(lane);
  }
  bool idle() const {
    return std::all_of(lanes.begin(), lanes.end(), [](const Lane& l) { return l.queue.empty() && l.gate.full(); });
  }
  template <class F> void for_each_gate(F&& f) {
    for (Lane& l : lanes) f(l.gate);
  }
  template <class F> void for_each_queue(F&& f) const {
    for (const Lane& l : lanes) f(l.queue);
  }
  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, fixed(lanes), server, ready, waiting, granted, next, timed);
  }
  template <class Each> void check(StateCheck& s, Each&& each_packet) const {
    std::uint64_t used = 0;
    for (std::uint32_t k = 0; k < lanes.size(); ++k) {
      s.line_of(lanes[k].gate);
      for_each_packet(k, each_packet);
      if (size(k) != 0) used |= bit(k);
    }
    require_state((ready & waiting) == 0 && (ready | waiting) == used && (granted & ~ready) == 0 && next < lanes.size());
  }

 private:
  static std::uint64_t bit(std::uint32_t lane) { return std::uint64_t{1} << lane; }
};

}  // namespace atl
