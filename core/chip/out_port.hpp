#pragma once
#include "core/chip/context.hpp"
#include "core/chip/fifo.hpp"
#include "core/chip/gate.hpp"
#include "core/chip/server.hpp"

namespace atl {

/// A queue in front of a bandwidth: the head leaves when the port is free and its destination has given a credit. While
/// the head waits for that credit, those behind it wait too, as in an input-queued router.
struct OutPort {
  Fifo<Packet> fifo;
  Gate gate;  ///< credits of this queue, for those who send into it
  Server server;
  bool waiting = false;  ///< lined up at the head's destination
  bool granted = false;  ///< holds the credit for the head
  bool timed = false;    ///< an event is scheduled for when the port is free

  /// Sends what can be sent now. `gate_of(packet)` is the destination's gate, `send(packet, depart)` hands it on.
  /// `self` is who to resume, `timer` the event that calls again.
  template <class GateOf, class Send> void pump(Context& c, Waiter self, const Event& timer, GateOf&& gate_of, Send&& send) {
    while (!fifo.empty() && !waiting) {
      if (!server.idle(c.now())) {
        if (!timed) {
          timed = true;
          c.schedule(server.idle_from(), timer);
        }
        return;
      }
      if (!granted) {
        Gate& g = gate_of(fifo.front());
        if (!g.acquire()) {
          g.wait(self);
          waiting = true;
          return;
        }
      }
      granted = false;
      const Packet p = fifo.take();
      send(p, server.serve(c.now(), c.machine.bytes(p)));
      c.release(gate);
    }
  }
  void grant() { waiting = false, granted = true; }
};

}  // namespace atl
