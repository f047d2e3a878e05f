#pragma once
#include <algorithm>
#include <optional>
#include <vector>

#include "core/chip/base/census.hpp"
#include "core/chip/base/server.hpp"
#include "core/chip/context.hpp"
#include "core/chip/noc/vc_router.hpp"
#include "core/engine/archive.hpp"

namespace atl {

/// The response crossbar. It never blocks, since an SM takes every response it asked for. By default only its far side is
/// here: one queue and port per cluster and memory-side router, towards the SMs, behind the slices' own ports.
///
/// With `noc.virtual_channels` its routers are here instead (SelRep's H-Xbar): a memory-side router has its slices as inputs
/// and a channel to each cluster as outputs, a cluster's router these channels and its SMs. Slices inject() their responses.
class ResponseNetwork {
 public:
  explicit ResponseNetwork(Context& c);
  Gate& gate(std::uint32_t port) { return port_[port].gate; }
  void on_arrive(std::uint32_t port, const Packet& p) {
    if (routers_) return on_crossed(port, p);
    port_[port].fifo.push(p);
    pump(port);
  }
  void on_port(std::uint32_t port) {
    if (routers_) return on_delivered(port);
    port_[port].timed = false, pump(port);
  }
  bool credits_home() const {
    return std::all_of(port_.begin(), port_.end(), [](const Port& p) { return p.gate.full() && p.fifo.empty(); }) &&
           (!routers_ || (routers_->memory.empty() && routers_->cluster.empty()));
  }
  void take_census(Census& census) const;  // census.cpp
  template <class F> void for_each_gate(F&& f) {
    for (Port& p : port_) f(p.gate);
  }
  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, fixed(port_));
    if (routers_) state(a, routers_->memory, routers_->cluster, fixed(conflict_since_));
  }

  /// state_check.cpp; `crossing`: [slice] packets that pass the first router, `arriving`: [port] the second.
  void check(StateCheck& s, const std::vector<std::uint32_t>& crossing, const std::vector<std::uint32_t>& arriving) const;

  // Routers.
  bool routed() const { return routers_.has_value(); }
  bool room(std::uint32_t slice) const { return routers_->memory.room(slice); }
  void inject(std::uint32_t slice, const Packet& p);

 private:
  struct Port {
    Fifo<Packet> fifo;
    Gate gate;
    Server server;
    bool timed = false;
    template <class Archive> void serialize(Archive& a, unsigned) { state(a, fifo, gate, server, timed); }
  };
  struct Routers {
    VcRouter memory, cluster;
  };
  void pump(std::uint32_t port);
  void on_crossed(std::uint32_t port, const Packet& p);
  void on_delivered(std::uint32_t port);
  Cycle passage(const Packet& p) const;
  void watch(std::uint32_t slice);
  auto cross();
  auto deliver();
  auto port_of() const {
    return [this](const Packet& p) { return c_.machine.cluster_port(p.sm, p.slice); };
  }
  static auto sm_of() {
    return [](const Packet& p) { return std::uint32_t{p.sm}; };
  }

  Context& c_;
  std::vector<Port> port_;
  std::optional<Routers> routers_;
  std::vector<Cycle> conflict_since_;  ///< [slice of the first router] kNever: none; empty: nobody wants to know
};

}  // namespace atl
