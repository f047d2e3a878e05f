#include "core/chip/noc/response_network.hpp"

namespace atl {

ResponseNetwork::ResponseNetwork(Context& c) : c_(c), port_(c.machine.cluster_ports) {
  const auto& config = c.machine.config;
  for (Port& p : port_)
    p.gate = Gate(config.noc.queue_packets + c.machine.response_flight), p.server = Server(c.machine.cluster_bpc);
  if (config.noc.virtual_channels == 0) return;
  const std::uint32_t window = config.noc.virtual_channels, held = c.machine.router_packets;
  const std::uint32_t ports = c.machine.cluster_ports, routers = config.noc.memory_routers;
  routers_.emplace(Routers{{config.llc.slices, ports, config.llc.slices / routers, window, held, held},
                           {ports, config.sm.count, routers, window, held, VcRouter::kNoLimit}});
  const ReplicationRow& row = row_of(config.llc.replication);
  if (row.profiles && row.read_only && config.selrep.limit == DegreeLimit::replies)
    conflict_since_.assign(config.llc.slices / routers, kNever);
}

void ResponseNetwork::pump(std::uint32_t port) {
  Port& out = port_[port];
  while (!out.fifo.empty()) {
    if (!out.server.idle(c_.now())) return c_.call_once(out.timed, out.server.idle_from(), EventKind::response_port, port);
    const Packet p = out.fifo.take();
    const std::uint32_t bytes = c_.machine.bytes(p);
    ++c_.count[Counter::noc_response_packets];
    c_.count[Counter::noc_response_bytes] += bytes;
    c_.schedule(out.server.serve(c_.now(), bytes), EventKind::l1_fill, p.sm, 0, p);
    c_.release(out.gate);
  }
}

// ---- Routers ----

/// Cycles that a packet's flits take through a router; slices' and clusters' channels are equally wide.
Cycle ResponseNetwork::passage(const Packet& p) const {
  return static_cast<Cycle>(std::ceil(c_.machine.bytes(p) / c_.machine.cluster_bpc - 1e-9));
}

auto ResponseNetwork::cross() {
  return [this](std::uint32_t slice, std::uint32_t port, const Packet& p) {
    if (slice < conflict_since_.size()) {
      const Cycle since = std::exchange(conflict_since_[slice], kNever);
      c_.degrees.reply(passage(p), since == kNever ? 0 : c_.now() - since);
    }
    c_.schedule(c_.now() + passage(p), EventKind::response_arrive, port, 0, p);
  };
}

/// The wires and pipelines of both routers come last, so that no credit travels.
auto ResponseNetwork::deliver() {
  return [this](std::uint32_t port, std::uint32_t, const Packet& p) {
    ++c_.count[Counter::noc_response_packets];
    c_.count[Counter::noc_response_bytes] += c_.machine.bytes(p);
    const Cycle end = c_.now() + passage(p);
    c_.schedule(end, EventKind::response_port, port);
    c_.schedule(end + c_.machine.config.noc.response_latency_cycles, EventKind::l1_fill, p.sm, 0, p);
    routers_->memory.free(port, port % c_.machine.config.noc.memory_routers, port_of(), cross());
  };
}

/// Notes when a conflict of a slice begins; it ends when a packet of the slice passes.
void ResponseNetwork::watch(std::uint32_t slice) {
  if (slice < conflict_since_.size() && conflict_since_[slice] == kNever && routers_->memory.conflict(slice, port_of()))
    conflict_since_[slice] = c_.now();
}

void ResponseNetwork::inject(std::uint32_t slice, const Packet& p) {
  routers_->memory.arrive(slice, p, port_of(), cross());
  watch(slice);
}

void ResponseNetwork::on_crossed(std::uint32_t port, const Packet& p) {
  routers_->memory.finish(p.slice, port_of(), cross());
  watch(p.slice);
  routers_->cluster.arrive(port, p, sm_of(), deliver());
}

void ResponseNetwork::on_delivered(std::uint32_t port) { routers_->cluster.finish(port, sm_of(), deliver()); }

}  // namespace atl
