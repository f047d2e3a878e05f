#pragma once
#include <algorithm>
#include <bit>
#include <vector>

#include "core/chip/base/fifo.hpp"
#include "core/chip/base/gate.hpp"
#include "core/chip/base/server.hpp"
#include "core/chip/base/state_check.hpp"
#include "core/chip/context.hpp"
#include "core/engine/archive.hpp"

namespace atl {

/// One queue of a port. Packets of a lane leave in order; while the head waits for a credit, so do those behind it, unless
/// the port lets them pass.
struct Lane {
  Fifo<Packet> fifo;
  Gate gate;             ///< credits of this queue, for those who send into it
  bool waiting = false;  ///< lined up at the head's destination
  bool granted = false;  ///< holds the credit for the head
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, fifo, gate, waiting, granted); }
};

/// Queues that share one bandwidth in turn. A crossbar port has a lane for its own chip and one for each direction of links:
/// with a single queue, a packet for a busy link would hold up all others and no link could be used beyond some 60 %
/// (head-of-line blocking of input-queued switches).
struct OutPort {
  std::vector<Lane> lanes;
  Server server;
  std::uint64_t ready = 0;  ///< lanes whose head waits for nothing but its turn: with many chips most lanes are empty
  std::uint32_t next = 0;   ///< lane to serve first
  bool timed = false;       ///< an event is scheduled for when the port is free

  OutPort(std::uint32_t lane_count, std::uint32_t capacity, double bytes_per_cycle)
      : lanes(lane_count), server(bytes_per_cycle) {
    for (Lane& l : lanes) l.gate = Gate(capacity);
  }

  void push(std::uint32_t lane, const Packet& p) {
    lanes[lane].fifo.push(p);
    if (!lanes[lane].waiting) ready |= bit(lane);
  }
  /// The packet at the head of a lane that has one.
  Packet take(std::uint32_t lane) {
    const Packet p = lanes[lane].fifo.take();
    if (lanes[lane].fifo.empty()) ready &= ~bit(lane);
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
      if (!server.idle(c.now())) {
        if (!timed) {
          timed = true;
          c.schedule(server.idle_from(), timer, self.index);
        }
        return;
      }
      const std::uint64_t from_next = ready & ~std::uint64_t{0} << next;
      const auto k = static_cast<std::uint32_t>(std::countr_zero(from_next != 0 ? from_next : ready));
      Lane& lane = lanes[k];
      if (!lane.granted) {
        Gate* g = gate_of(lane.fifo.front());
        if (g != nullptr && !g->acquire()) {
          self.sub = static_cast<std::uint8_t>(k);
          g->wait(self);
          lane.waiting = true;
          ready &= ~bit(k);
          continue;
        }
      }
      lane.granted = false;
      next = k + 1 < n ? k + 1 : 0;
      const Packet p = take(k);
      send(p, k, server.serve(c.now(), c.machine.bytes(p)));
    }
  }
  /// Only in the lane of the own chip: what waits for a link waits for one destination.
  template <class GateOf, class Send> bool pass(Context& c, Waiter self, EventKind timer, GateOf&& gate_of, Send&& send) {
    Fifo<Packet>& fifo = lanes[0].fifo;
    if (fifo.size() < 2) return false;
    if (!server.idle(c.now())) {
      if (!timed) {
        timed = true;
        c.schedule(server.idle_from(), timer, self.index);
      }
      return false;
    }
    for (std::size_t i = 1; i < fifo.size(); ++i) {
      if (Gate* g = gate_of(fifo.at(i)); g != nullptr && !g->acquire()) continue;
      const Packet p = fifo.take_at(i);
      send(p, 0, server.serve(c.now(), c.machine.bytes(p)));
      return true;
    }
    return false;
  }
  void grant(std::uint32_t lane) {
    lanes[lane].waiting = false, lanes[lane].granted = true;
    ready |= bit(lane);
  }
  bool idle() const {
    return std::all_of(lanes.begin(), lanes.end(), [](const Lane& l) { return l.fifo.empty() && l.gate.full(); });
  }
  template <class F> void for_each_gate(F&& f) {
    for (Lane& l : lanes) f(l.gate);
  }
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, fixed(lanes), server, ready, next, timed); }
  template <class Each> void check(StateCheck& s, Each&& each_packet) const {
    std::uint64_t can_go = 0;
    for (std::uint32_t k = 0; k < lanes.size(); ++k) {
      const Lane& l = lanes[k];
      s.line_of(l.gate);
      l.fifo.for_each(each_packet);
      require_state(!l.fifo.empty() || (!l.waiting && !l.granted));
      if (!l.fifo.empty() && !l.waiting) can_go |= bit(k);
    }
    require_state(ready == can_go && next < lanes.size());
  }

 private:
  static std::uint64_t bit(std::uint32_t lane) { return std::uint64_t{1} << lane; }
};

}  // namespace atl
