#include "core/chip/request_network.hpp"

#include <fmt/format.h>

#include "core/chip/links.hpp"
#include "core/chip/llc_slice.hpp"

namespace atl {

RequestNetwork::RequestNetwork(Context& c) : c_(c), mmu_(c), port_(c.machine.cluster_ports), resumed_(port_.size()) {
  for (OutPort& p : port_) p.gate = Gate(c.machine.config.noc.queue_packets), p.server = Server(c.machine.cluster_bpc);
}

void RequestNetwork::request(Packet p) {
  p.home = mmu_.home(p.line);
  if (p.home == kUnknownHome) return mmu_.park(p);
  enter(c_.machine.cluster_port(p.sm, p.slice), p);
}

void RequestNetwork::enter(std::uint32_t port, const Packet& p) {
  ++c_.count[p.home == c_.chip ? Counter::requests_local : Counter::requests_remote];
  port_[port].fifo.push(p);
  pump(port);
}

void RequestNetwork::learn(PageAddr page, std::uint8_t home) {
  mmu_.learn(page, home, [&](const Packet& p) {
    const std::uint32_t port = c_.machine.cluster_port(p.sm, p.slice);
    if (resumed_[port].empty() && port_[port].gate.acquire()) return enter(port, p);
    if (resumed_[port].empty()) port_[port].gate.wait({WaiterKind::mmu, 0, static_cast<std::uint16_t>(port)});
    resumed_[port].push(p);
  });
}

void RequestNetwork::on_mmu_credit(std::uint32_t port) {
  const Packet p = resumed_[port].take();
  if (!resumed_[port].empty()) port_[port].gate.wait({WaiterKind::mmu, 0, static_cast<std::uint16_t>(port)});
  enter(port, p);
}

/// Memory-side: the home's slice. SM-side: the own chip's slice, whoever is the home; atomics execute at the home.
bool RequestNetwork::to_local_slice(const Packet& p) const {
  return p.home == c_.chip || (c_.sm_side && p.kind != PacketKind::atomic);
}

void RequestNetwork::pump(std::uint32_t port) {
  const auto index = static_cast<std::uint16_t>(port);
  port_[port].pump(
      c_, {WaiterKind::request_port, 0, index}, {{}, index, EventKind::request_port},
      [&](const Packet& p) -> Gate& {
        return to_local_slice(p) ? (*slices_)[p.slice].gate(LlcSlice::kFromSms) : links_->out_gate(links_->channel_for(p));
      },
      [&](const Packet& p, Cycle depart) {
        const auto& config = c_.machine.config;
        ++c_.count[Counter::noc_request_packets];
        c_.count[Counter::noc_request_bytes] += c_.machine.bytes(p);
        const Cycle at = depart + config.l1.latency_cycles + config.noc.request_latency_cycles;
        if (to_local_slice(p)) {
          c_.schedule(at + config.llc.latency_cycles, EventKind::slice_arrive, p.slice, LlcSlice::kFromSms, p);
        } else {
          c_.schedule(at, EventKind::egress_arrive, links_->channel_for(p), 0, p);
        }
      });
}

std::string RequestNetwork::describe_stall() const {
  std::string text;
  for (std::size_t i = 0; i < port_.size(); ++i) {
    if (port_[i].waiting) {
      const Packet& p = port_[i].fifo.front();
      text += fmt::format("request port {}: {} packets, the first waits for {}\n", i, port_[i].fifo.size(),
                          to_local_slice(p) ? fmt::format("slice {}", p.slice) : fmt::format("the link towards chip {}", p.home));
    }
  }
  if (mmu_.parked_pages() != 0) text += fmt::format("MMU: {} pages wait for their home\n", mmu_.parked_pages());
  return text;
}

}  // namespace atl
