#pragma once
#include <algorithm>
#include <vector>

#include "core/chip/census.hpp"
#include "core/chip/context.hpp"
#include "core/chip/server.hpp"
#include "core/engine/archive.hpp"

namespace atl {

/// The response crossbar's far side: one queue and port per cluster and memory-side router, towards the SMs. It never
/// blocks, since an SM takes every response it asked for.
class ResponseNetwork {
 public:
  explicit ResponseNetwork(Context& c)
      : c_(c),
        port_(
            c.machine.cluster_ports,
            Port{{}, Gate(c.machine.config.noc.queue_packets + c.machine.response_flight), Server(c.machine.cluster_bpc)}) {}
  Gate& gate(std::uint32_t port) { return port_[port].gate; }
  void on_arrive(std::uint32_t port, const Packet& p) {
    port_[port].fifo.push(p);
    pump(port);
  }
  bool credits_home() const {
    return std::all_of(port_.begin(), port_.end(), [](const Port& p) { return p.gate.full() && p.fifo.empty(); });
  }
  void take_census(Census& census) const;  // census.cpp
  void on_port(std::uint32_t port) { port_[port].timed = false, pump(port); }
  template <class F> void for_each_gate(F&& f) {
    for (Port& p : port_) f(p.gate);
  }
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, port_); }

 private:
  struct Port {
    Fifo<Packet> fifo;
    Gate gate;
    Server server;
    bool timed = false;
    template <class Archive> void serialize(Archive& a, unsigned) { state(a, fifo, gate, server, timed); }
  };
  void pump(std::uint32_t port) {
    Port& out = port_[port];
    while (!out.fifo.empty()) {
      if (!out.server.idle(c_.now())) {
        if (!out.timed) {
          out.timed = true;
          c_.schedule(out.server.idle_from(), EventKind::response_port, port);
        }
        return;
      }
      const Packet p = out.fifo.take();
      const std::uint32_t bytes = c_.machine.bytes(p);
      ++c_.count[Counter::noc_response_packets];
      c_.count[Counter::noc_response_bytes] += bytes;
      c_.schedule(out.server.serve(c_.now(), bytes), EventKind::l1_fill, p.sm, 0, p);
      c_.release(out.gate);
    }
  }
  Context& c_;
  std::vector<Port> port_;
};

}  // namespace atl
