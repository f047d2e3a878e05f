#include "core/chip/noc/links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "core/chip/llc/llc_slice.hpp"
#include "core/chip/noc/response_network.hpp"

namespace atl {

Links::Links(Context& c, Outbox& outbox)
    : c_(c),
      topology_(c.machine.config.link, c.machine.config.chips, c.chip),
      outbox_(outbox),
      state_(topology_.channels().size()),
      freed_((state_.size() + 63) / 64),
      port_(topology_.ports()),
      sent_(port_.size()),
      received_(port_.size()),
      shared_(topology_.neighbours().size() > topology_.ports()) {
  const SystemConfig& config = c.machine.config;
  for (std::uint32_t p = 0; p < port_.size(); ++p) {
    port_[p].out = Server(c.machine.per_cycle(topology_.bandwidth_gbps(p)));
    const double in_gbps = topology_.bandwidth_in_gbps(p);
    const double entry_bpc = c.machine.per_cycle(link_port_gbps(config, in_gbps));
    // A port that several others send to is also the bottleneck of what arrives.
    port_[p].in = Server(shared_ ? std::min(c.machine.per_cycle(in_gbps), entry_bpc) : entry_bpc);
  }
  for (ChannelState& s : state_) {
    s.out_gate = Gate(config.link.buffer_packets + c.machine.llc.request_flight);
    s.credits = config.link.buffer_packets;
  }
  if (!port_.empty()) channels_per_port_ = static_cast<std::uint32_t>(state_.size() / port_.size());
  ATOLL_ASSERT(channels_per_port_ <= Turns::kMost);
}

// ---- Leaving ----

void Links::send(std::uint32_t channel, const Packet& p) {
  packets_.push(state_[channel].out, p);
  note_turn(channel);
  pump_out(topology_.channels()[channel].port);
}

void Links::pump_out(std::uint32_t port) {
  Port& p = port_[port];
  for (;;) {
    const std::uint32_t chosen = p.can_send.next(p.next);
    if (chosen == Turns::kNobody) return;
    if (!p.out.idle(c_.now())) return c_.call_once(p.out_timed, p.out.idle_from(), EventKind::egress, port);
    p.next = chosen + 1 < channels_per_port_ ? chosen + 1 : 0;
    const std::uint32_t id = port * channels_per_port_ + chosen;
    const Channel& channel = topology_.channels()[id];
    ChannelState& s = state_[id];
    // Through traffic and the chip's own in turn: lined up behind the chip's many queues, it would starve, fill the
    // buffers behind it, and take the whole ring down.
    const bool through = !s.through.empty() && (s.out.empty() || s.through_next);
    s.through_next = !through;
    if (through) free_buffer(packets_.note(s.through));
    const Packet packet = packets_.take(through ? s.through : s.out);
    if (through) {
      c_.count[Counter::link_forwarded] += !packet.has(kRides);
    } else {
      c_.release(s.out_gate);
    }
    --s.credits;
    p.can_send.set(chosen, can_send(s));
    const std::uint32_t bytes = c_.machine.link_bytes(packet);
    const Cycle arrival = p.out.serve(c_.now(), bytes) + topology_.latency(channel.neighbour);
    c_.count[Counter::link_packets] += !packet.has(kRides);
    c_.count[Counter::link_bytes] += bytes, sent_[port] += bytes;
    if (packet.kind == PacketKind::invalidate) c_.count[Counter::coherence_invalidation_bytes] += bytes;
    outbox_.data.push_back({channel.neighbour, Message::make(arrival, c_.chip, channel.at_neighbour, packet)});
  }
}

void Links::on_credits(std::uint32_t channel, std::uint32_t number) {
  state_[channel].credits += number;
  note_turn(channel);
  pump_out(topology_.channels()[channel].port);
}

// ---- Arriving ----

void Links::receive(std::span<const Message> messages) {
  for (const Message& m : messages) {
    if ((m.port & kCreditPort) != 0) {
      Event e{{}, static_cast<std::uint16_t>(m.port & ~kCreditPort), EventKind::credits_arrive};
      e.packet.token = m.as<std::uint32_t>();
      c_.schedule(m.arrival, e);
    } else {
      c_.schedule(m.arrival, EventKind::ingress_arrive, m.port, 0, m.as<Packet>());
    }
  }
}

void Links::on_ingress_arrive(std::uint32_t channel, const Packet& p) {
  const std::uint32_t bytes = c_.machine.link_bytes(p);
  c_.count[Counter::link_received_bytes] += bytes, received_[topology_.channels()[channel].port] += bytes;
  if (p.destination() == c_.chip) {
    Packet here = p;
    // An SM's request goes where this chip replicates the line, which the SM's chip does not know; what went through a
    // slice of that chip goes where that slice will read.
    if (c_.machine.replicates && !is_response(p.kind) && !p.has(kToSlice))
      here.slice = static_cast<std::uint8_t>(c_.role == LlcRole::memory_side ? c_.slice(p) : c_.machine.map.slice(p.line));
    packets_.push(state_[channel].in, here);
    return pump_in(channel);
  }
  const std::uint32_t onward = channel_for(p, channel);
  packets_.push(state_[onward].through, p, channel);
  note_turn(onward);
  pump_out(topology_.channels()[onward].port);
}

void Links::free_buffer(std::uint32_t channel) {
  ++state_[channel].freed;
  freed_[channel / 64] |= std::uint64_t{1} << channel % 64;
  if (credits_timed_) return;
  credits_timed_ = true;
  const Cycle step = c_.machine.config.link.credit_cycles;
  c_.schedule((c_.now() / step + 1) * step, EventKind::credits_send, 0);
}

void Links::on_ingress(std::uint32_t port) {
  Port& p = port_[port];
  p.in_timed = false;
  // In turn: each call serves one packet, and with a fixed order the first channel would shut the others out.
  const std::uint32_t n = channels_per_port_;
  for (std::uint32_t i = 0, k = p.next_in; i < n; ++i, k = k + 1 < n ? k + 1 : 0) pump_in(port * n + k);
}

void Links::on_credit(std::uint32_t channel) {
  state_[channel].waiting = false, state_[channel].granted = true;
  pump_in(channel);
}

/// Where the packet needs a credit; nullptr for data that a slice waits for, which is always taken in.
Gate* Links::destination_gate(const Packet& p) {
  if (to_slice(p)) return nullptr;
  if (is_response(p.kind)) return &responses_->gate(c_.machine.cluster_port(p.sm, p.slice));
  return &slices_[slice_for(p)].gate(LlcSlice::kFromLinks);
}

/// The slice of this chip that an arriving request goes to: `p.slice` is the one that asked where that is a slice. It stands
/// for the home's too, unless the home looks the line up and the one that asked is a replica's or an L2's.
std::uint32_t Links::slice_for(const Packet& p) const {
  if (c_.machine.has_l2) [[unlikely]] {
    const bool copy = p.kind == PacketKind::invalidate;  // which an L2 has
    return copy ? c_.machine.llc.slices + c_.machine.front_map.slice(p.line) : c_.machine.map.slice(p.line);
  }
  const bool looks_up = !c_.sm_side() || c_.machine.home_directory;
  return p.has(kToSlice) && c_.machine.replicates && looks_up ? c_.machine.map.slice(p.line) : p.slice;
}

/// The slice of this chip that an answer goes to.
LlcSlice& Links::fetcher(const Packet& p) const {
  const bool of_l2 = c_.machine.has_l2 && p.kind != PacketKind::invalidate_ack;  // what the home's slice gets
  return slices_[p.slice + (of_l2 ? c_.machine.llc.slices : 0)];
}

void Links::pump_in(std::uint32_t channel) {
  ChannelState& s = state_[channel];
  Port& port = port_[topology_.channels()[channel].port];
  while (!s.in.empty() && !s.waiting) {
    // Where others wait for the port, this channel waits for its turn, be the port free in this very cycle.
    if (port.in_timed) return;
    if (!port.in.idle(c_.now()))
      return c_.call_once(port.in_timed, port.in.idle_from(), EventKind::ingress, topology_.channels()[channel].port);
    if (!s.granted) {
      Gate* gate = destination_gate(packets_.front(s.in));
      if (gate != nullptr && !gate->acquire()) {
        gate->wait({WaiterKind::ingress, 0, static_cast<std::uint16_t>(channel)});
        s.waiting = true;
        return;
      }
    }
    s.granted = false;
    const Packet p = packets_.take(s.in);
    free_buffer(channel);
    hand_on(p, port.in.serve(c_.now(), shared_ ? c_.machine.link_bytes(p) : c_.machine.bytes(p)));
    const std::uint32_t place = place_of(channel);
    port.next_in = place + 1 < channels_per_port_ ? place + 1 : 0;
  }
}

void Links::hand_on(const Packet& p, Cycle depart) {
  if (p.has(kToSlice) || !is_response(p.kind)) c_.count[Counter::noc_link_bytes] += c_.machine.bytes(p);
  if (to_slice(p)) {
    fetcher(p).reach(depart + c_.machine.link_to_fetcher, LlcSlice::kFill, p);
  } else if (is_response(p.kind)) {
    c_.schedule(depart + c_.machine.link_to_cluster, EventKind::response_arrive, c_.machine.cluster_port(p.sm, p.slice), 0,
                p);
  } else {
    slices_[slice_for(p)].reach(depart + c_.machine.link_to_slice, LlcSlice::kFromLinks, p);
  }
}

void Links::on_send_credits() {
  credits_timed_ = false;
  for (std::uint32_t w = 0; w < freed_.size(); ++w) {
    for (std::uint64_t rest = std::exchange(freed_[w], 0); rest != 0; rest &= rest - 1) {
      const std::uint32_t i = 64 * w + static_cast<std::uint32_t>(std::countr_zero(rest));
      const Channel& channel = topology_.channels()[i];
      const Cycle arrival = c_.now() + topology_.latency(channel.neighbour);
      const std::uint32_t freed = std::exchange(state_[i].freed, 0), port = channel.at_neighbour | kCreditPort;
      outbox_.data.push_back({channel.neighbour, Message::make(arrival, c_.chip, port, freed)});
    }
  }
}

void Links::count_busiest() {
  const auto elapsed = static_cast<double>(c_.now() - std::exchange(counted_, c_.now()));
  // Packets are counted as wholes, and on slow links may take longer than a sample: what cannot have passed counts next
  // time.
  const auto passed = [&](std::uint64_t& bytes, double gbps) {
    const auto most = static_cast<std::uint64_t>(std::llround(elapsed * c_.machine.per_cycle(gbps)));
    const std::uint64_t now = std::min(bytes, most);
    bytes -= now;
    return static_cast<double>(now) / gbps;
  };
  double out = 0, in = 0;  // bytes per GB/s
  for (std::uint32_t p = 0; p < port_.size(); ++p) {
    out = std::max(out, passed(sent_[p], topology_.bandwidth_gbps(p)));
    in = std::max(in, passed(received_[p], topology_.bandwidth_in_gbps(p)));
  }
  c_.count[Counter::link_busiest_bytes] += static_cast<std::uint64_t>(std::llround(out * topology_.bandwidth_out_gbps()));
  c_.count[Counter::link_busiest_received_bytes] +=
      static_cast<std::uint64_t>(std::llround(in * topology_.bandwidth_in_gbps()));
}

bool Links::credits_home() const {
  const bool reported = std::all_of(freed_.begin(), freed_.end(), [](std::uint64_t w) { return w == 0; });
  return reported && std::all_of(state_.begin(), state_.end(), [&](const ChannelState& s) {
           return s.out.empty() && s.through.empty() && s.in.empty() && s.out_gate.full() &&
                  s.credits == c_.machine.config.link.buffer_packets;
         });
}

Cycle Links::next_sent() const {
  Cycle next = kNever;
  for (const Port& p : port_)
    if (!p.out.idle(c_.now())) next = std::min(next, p.out.idle_from());
  return next;
}

std::string Links::describe_stall() const {
  std::string text;
  for (std::uint32_t i = 0; i < state_.size(); ++i) {
    const ChannelState& s = state_[i];
    if (s.out.empty() && s.through.empty() && s.in.empty()) continue;
    const Channel& ch = topology_.channels()[i];
    const bool dateline = c_.machine.config.link.topology == Topology::ring && ch.stage == 1;
    text +=
        fmt::format("link to chip {} ({}{}): {} packets to send and {} to pass on, {} credits; {} packets received{}\n",
                    ch.neighbour, ch.message_class == 0 ? "requests" : "responses", dateline ? ", past the dateline" : "",
                    s.out.size, s.through.size, s.credits, s.in.size, s.waiting ? ", the first waits for a credit" : "");
  }
  return text;
}

}  // namespace atl
