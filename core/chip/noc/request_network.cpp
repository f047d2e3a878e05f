#include "core/chip/noc/request_network.hpp"

#include <fmt/format.h>

#include "core/chip/llc/llc_slice.hpp"
#include "core/chip/noc/links.hpp"

namespace atl {

RequestNetwork::RequestNetwork(Context& c, std::uint32_t directions)
    : c_(c), mmu_(c), lanes_(1 + directions), resumed_(c.machine.cluster_ports * lanes_) {
  port_.reserve(c.machine.cluster_ports);
  while (port_.size() < c.machine.cluster_ports)
    port_.emplace_back(packets_, lanes_, c.machine.config.noc.queue_packets, c.machine.cluster_bpc);
}

void RequestNetwork::connect(std::span<LlcSlice> slices, Links& links) {
  slices_ = slices.last(c_.machine.front_slices), links_ = &links;
  first_slice_ = static_cast<std::uint32_t>(slices.size()) - c_.machine.front_slices;
}

std::uint32_t RequestNetwork::lane_of(const Packet& p) const { return to_local_slice(p) ? 0 : links_->lane_for(p); }

Gate* RequestNetwork::gate_for(Packet& p) {
  p.home = mmu_.home(p.line);
  return p.home == kUnknownHome || behind_resumed(p) ? nullptr : &port_[port_of(p)].lanes[lane_of(p)].gate;
}

/// An earlier request for the line waited for the page's home and still waits for a credit: this one must not pass it.
bool RequestNetwork::behind_resumed(const Packet& p) {
  if (resuming_ == 0) return false;
  const Fifo<Packet>& queue = resumed(port_of(p), lane_of(p));
  for (std::size_t i = 0; i < queue.size(); ++i) {
    if (queue.at(i).line == p.line) return true;
  }
  return false;
}

void RequestNetwork::request(const Packet& p) {
  if (c_.observer != nullptr) [[unlikely]]
    c_.observer->on_request(c_, p);
  if (p.home == kUnknownHome) return mmu_.park(p);
  if (behind_resumed(p)) return resume_later(p);
  enter(p);
}

void RequestNetwork::resume_later(const Packet& p) {
  ++resuming_;
  resumed(port_of(p), lane_of(p)).push(p);
}

void RequestNetwork::enter(const Packet& p) {
  ++c_.count[p.home == c_.chip ? Counter::requests_local : Counter::requests_remote];
  c_.structures.request(p);
  if (c_.profiler.on()) c_.profiler.own_request(p);
  const std::uint32_t port = port_of(p);
  port_[port].push(lane_of(p), p);
  pump(port);
}

void RequestNetwork::prefetch(PageAddr page, std::uint8_t home) const {
  const Packet* parked = mmu_.parked(page);
  if (parked == nullptr) return;
  Packet p = *parked;
  p.home = home;
  port_[port_of(p)].prefetch(lane_of(p));
}

void RequestNetwork::learn(PageAddr page, std::uint8_t home) {
  mmu_.learn(page, home, [&](const Packet& p) {
    const std::uint32_t port = port_of(p), lane = lane_of(p);
    Gate& gate = port_[port].lanes[lane].gate;
    const bool first = resuming_ == 0 || resumed(port, lane).empty();
    if (first && gate.acquire()) return enter(p);
    if (first) gate.wait({WaiterKind::mmu, static_cast<std::uint8_t>(lane), static_cast<std::uint16_t>(port)});
    resume_later(p);
  });
}

void RequestNetwork::on_mmu_credit(std::uint32_t port, std::uint32_t lane) {
  Fifo<Packet>& queue = resumed(port, lane);
  const Packet p = queue.take();
  --resuming_;
  if (!queue.empty()) {
    const Waiter next{WaiterKind::mmu, static_cast<std::uint8_t>(lane), static_cast<std::uint16_t>(port)};
    Gate& gate = port_[port].lanes[lane].gate;
    // Another credit may have come since this one was granted, when nobody was in line.
    gate.acquire() ? c_.schedule(c_.now(), resumption(next)) : gate.wait(next);
  }
  enter(p);
}

/// Memory-side: the home's slice. SM-side and split: the own chip's slice, whoever is the home; atomics execute at the home.
/// An L2 takes all.
bool RequestNetwork::to_local_slice(const Packet& p) const {
  return p.home == c_.chip || c_.machine.has_l2 || (c_.role != LlcRole::memory_side && p.kind != PacketKind::atomic);
}

void RequestNetwork::pump(std::uint32_t port) {
  port_[port].pump(
      c_, {WaiterKind::request_port, 0, static_cast<std::uint16_t>(port)}, EventKind::request_port,
      [&](const Packet& p) {
        return to_local_slice(p) ? &slices_[p.slice].gate(LlcSlice::kFromSms) : &links_->out_gate(links_->channel_for(p));
      },
      [&](const Packet& p, std::uint32_t lane, Cycle depart) {
        const auto& config = c_.machine.config;
        ++c_.count[Counter::noc_request_packets];
        c_.count[Counter::noc_request_bytes] += c_.machine.bytes(p);
        if (lane == 0) {  // by the ports' clock: slices may run in another thread
          c_.schedule(depart + c_.machine.port_to_slice, EventKind::slice_arrive, first_slice_ + p.slice, LlcSlice::kFromSms,
                      p);
        } else {
          c_.schedule(depart + config.l1.latency_cycles + config.noc.request_latency_cycles, EventKind::egress_arrive,
                      links_->channel_for(p), 0, p);
        }
        c_.release(port_[port].lanes[lane].gate);
      });
}

std::string RequestNetwork::describe_stall() const {
  std::string text;
  for (std::size_t i = 0; i < port_.size(); ++i) {
    for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
      if (!port_[i].waits(lane)) continue;
      const Packet& p = port_[i].front(lane);
      text += fmt::format(
          "request port {}: {} packets, the first waits for {}\n", i, port_[i].size(lane),
          to_local_slice(p) ? fmt::format("slice {}", p.slice) : fmt::format("the link towards chip {}", p.home));
    }
  }
  if (mmu_.parked_pages() != 0) text += fmt::format("MMU: {} pages wait for their home\n", mmu_.parked_pages());
  return text;
}

}  // namespace atl
