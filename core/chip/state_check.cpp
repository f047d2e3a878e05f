#include "core/chip/base/state_check.hpp"

#include <bit>

#include "core/chip/chip.hpp"

// What is true of every chip between two windows, and on which its components rely without asking. A checkpoint whose
// checksums are right may say something else: it is refused here, before anything runs. Each component checks what it holds
// against the machine; the chip checks what only several of them know.
namespace atl {

void StateCheck::packet(const Packet& p, bool home_known, std::uint32_t slices) const {
  const SystemConfig& c = machine.config;
  line(p.line);
  chip(p.source);
  require_state(p.home < c.chips || (!home_known && p.home == kUnknownHome));
  const bool notice = p.kind == PacketKind::own || p.kind == PacketKind::own_ack;
  const bool invalidation = p.kind == PacketKind::invalidate || p.kind == PacketKind::invalidate_ack;
  require_state(static_cast<std::size_t>(p.kind) < kPacketKinds && p.sm < c.sm.count &&
                p.slice < (invalidation ? machine.llc.slices : slices) && (p.sectors & ~machine.full_line) == 0 &&
                (p.in_part & ~p.sectors) == 0);
  require_state((!notice || machine.full_map) && (!invalidation || machine.directories()));
  if (p.has(kToSlice)) {
    const bool referral =
        is_response(p.kind) && p.sectors == 0 && p.kind != PacketKind::writeback_ack && !notice && !invalidation;
    if (p.has(kFromOwner) || referral) require_state(machine.full_map), chip(p.token & 0xFF);
  } else if (p.has(kDirect)) {
    warp(p.token >> 8), slot(p.token & 0xFF);
  } else {
    warp(p.token >> 16);
    require_state((p.token & 0xFFFF) < std::max(1u, c.l1.mshrs));
  }
}

// ---- SMs ----

void L1Cache::check(const StateCheck& s) const {
  for (std::uint32_t i = 0; i < tags_.entries(); ++i)
    if (tags_.occupied(i)) s.line(tags_.line(i));
  mshr_.for_each([&](const auto& entry, auto&& for_each_waiter) {
    s.line(entry.line);
    for_each_waiter([&](const Waiter& w) { s.warp(w.warp), s.slot(w.slot); });
  });
  require_state(mshr_.entries() == s.machine.config.l1.mshrs);
}

/// A warp is at one place at a time: about to be ready, ready, in the load-store unit, waiting for results or at a barrier.
void Sm::check(StateCheck& s, const std::vector<std::uint32_t>& ready, std::uint32_t free) const {
  l1_.check(s);
  const SystemConfig& c = s.machine.config;
  require_state(warps_per_cta_ >= 1 && warps_per_cta_ <= warp_.size() && cta_.size() <= c.sm.ctas);
  std::vector<std::uint32_t> at(ready);
  for (std::uint32_t k = 0; k < scheduler_.size(); ++k) {
    require_state(scheduler_[k].last < warp_.size());
    for (std::uint64_t left = scheduler_[k].ready; left != 0; left &= left - 1) {
      const auto w = static_cast<std::uint32_t>(std::countr_zero(left));
      require_state(w < warp_.size() && scheduler_of(w) == k);
      ++at[w];
    }
  }
  lsu_.for_each([&](std::uint8_t w) {
    require_state(w < warp_.size());
    ++at[w];
  });
  std::vector<std::uint32_t> live(cta_.size()), at_barrier(cta_.size()), draining(cta_.size());
  std::uint64_t stores = 0;
  for (std::uint32_t id = 0; id < warp_.size(); ++id) {
    const Warp& w = warp_[id];
    require_state(is_bool(w.live) && is_bool(w.waiting) && is_bool(w.at_barrier));
    if (!w.live) {
      require_state(at[id] == 0);
      continue;
    }
    require_state(w.cta < cta_.size() && w.cta == id / warps_per_cta_ && cta_[w.cta].live_warps != 0);
    const CtaProgram& program = cta_[w.cta].program;
    const std::uint32_t i = id - w.cta * warps_per_cta_;
    require_state(i < program.warps.size() && w.op >= program.warps[i].first &&
                  w.op - program.warps[i].first < program.warps[i].count);
    const Op& op = program.ops[w.op];
    require_state(w.access == op.first_access && w.wait == (op.kind == OpKind::exit ? ~0u : op.wait));
    const bool drains = w.waiting && op.kind == OpKind::exit && w.busy == 0;
    require_state((!w.at_barrier || op.kind == OpKind::barrier) && (!w.waiting || drains || (w.wait & w.busy) != 0));
    require_state(c_.machine.config.sm.exit_waits ? !drains || w.stores != 0 : w.stores == 0 && !drains);
    draining[w.cta] += drains;
    stores += w.stores;
    for (std::uint32_t slot = 0; slot < kScoreboardSlots; ++slot)
      require_state((w.busy >> slot & 1) == (w.outstanding[slot] != 0));
    require_state(at[id] + w.waiting + w.at_barrier == 1);
    ++live[w.cta], at_barrier[w.cta] += w.at_barrier;
  }
  lsu_.for_each([&](std::uint8_t w) {
    const OpKind kind = op_of(warp_[w]).kind;
    require_state(kind == OpKind::load || kind == OpKind::store || kind == OpKind::atomic);
  });
  std::uint32_t resident = 0;
  for (std::uint32_t k = 0; k < cta_.size(); ++k) {
    require_state(live[k] == cta_[k].live_warps &&
                  (live[k] == 0 || (at_barrier[k] == cta_[k].at_barrier && draining[k] == cta_[k].draining)) &&
                  (live[k] == 0 || (k + 1) * warps_per_cta_ <= warp_.size()));
    resident += live[k] != 0;
  }
  require_state(passing_ <= awaited_ && awaited_ <= unacknowledged_);
  require_state(!c_.machine.config.sm.exit_waits || stores == unacknowledged_ - awaited_);
  require_state(resident == resident_ && lsu_at_.part < Access::kSectors);
  require_state(std::uint64_t{free} + resident + finished_ <=
                std::min<std::size_t>(cta_.size(), warp_.size() / warps_per_cta_));
  require_state(lsu_.empty() ? lsu_at_.access == 0 && lsu_at_.part == 0 && credit_wanted_ == nullptr
                             : lsu_at_.access <= op_of(warp_[lsu_.front()]).accesses);
  require_state(is_bool(op_hits_) && is_bool(lsu_timed_) && hits_ahead_ <= (lsu_.empty() ? 0 : hits_ahead()));
  require_state(hits_ahead_ == 0 || (lsu_timed_ && lsu_due_ == lsu_free_ + hits_ahead_));
  if (op_hits_) {
    require_state(!lsu_.empty() && last_hit_ <= c_.now());
    const Warp& w = warp_[lsu_.front()];
    const std::uint8_t slot = op_of(w).slot;
    require_state(op_of(w).kind == OpKind::load && (slot == kNoSlot || w.outstanding[slot] != 0));
  }
  s.expects(WaiterKind::sm, 0, id_, credit_wanted_ != nullptr);
}

void ClusterSharing::check(StateCheck& s) const {
  if (!watches()) return;
  for (const OwnershipTable& t : table_) t.check(sms_);
  const std::vector<bool> unused = require_places(free_leaving_, leaving_.size());
  for (std::uint32_t place = 0; place < leaving_.size(); ++place) {
    s.expects(WaiterKind::cluster, place >> 16, place & 0xFFFF, !unused[place]);
    if (unused[place]) continue;
    const Leaving& l = leaving_[place];
    s.request(l.p);
    require_state(l.gate != nullptr && (l.queue == kInput || l.queue < member_.size()));
  }
  for (std::uint32_t sm = 0; sm < member_.size(); ++sm) {
    const Member& m = member_[sm];
    m.access.for_each([&](const Packet& p) {
      s.request(p);
      require_state(cluster_of(p.sm) == cluster_of(sm));
    });
    for (const LineAddr line : m.reads) s.line(line);
    require_state((m.departures.empty() || m.next_departure < m.departures.size()) &&
                  (*all_sms_)[sm].neighbours() == m.access.size());
  }
}

void ClusterSharing::check_event(const StateCheck& s, const Event& e) const {
  require_state(shares_);
  if (e.kind == EventKind::cluster_access) return require_state(e.index < member_.size());
  s.request(e.packet);
  require_state(e.kind == EventKind::cluster_table ? e.index == cluster_of(e.packet.sm) : e.index < member_.size());
}

// ---- Networks ----

void Mmu::check(const StateCheck& s) const {
  cache_.for_each([&](PageAddr, std::uint8_t home) { s.chip(home); });
  parked_.for_each([&](const auto&, auto&& for_each_waiter) {
    for_each_waiter([&](const Packet& p) { s.packet(p, false), require_state(!is_response(p.kind)); });
  });
  for (const FirstTouch::Touch& t : touches_) s.chip(t.chip);
}

void RequestNetwork::check(StateCheck& s) const {
  mmu_.check(s);
  packets_.check([&](auto&& see) {
    for (const OutPort& p : port_) p.for_each_queue(see);
  });
  std::size_t resuming = 0;
  for (std::uint32_t port = 0; port < port_.size(); ++port) {
    port_[port].check(s, [&](const Packet& p) { s.request(p); });
    for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
      s.expects(WaiterKind::request_port, lane, port, port_[port].waits(lane));
      const Fifo<Packet>& queue = resumed_[port * lanes_ + lane];
      queue.for_each([&](const Packet& p) {
        s.request(p);
        require_state(port_of(p) == port);
      });
      s.expects(WaiterKind::mmu, lane, port, !queue.empty());
      resuming += queue.size();
    }
  }
  require_state(resuming == resuming_);
}

void ResponseNetwork::check(StateCheck& s, const std::vector<std::uint32_t>& crossing,
                            const std::vector<std::uint32_t>& arriving) const {
  for (const Port& p : port_) {
    s.line_of(p.gate);
    p.fifo.for_each([&](const Packet& packet) { s.response(packet); });
  }
  if (!routers_) return;
  for (std::uint32_t slice = 0; slice < routers_->memory.inputs(); ++slice)
    routers_->memory.queue(slice).for_each([&](const Packet& p) {
      s.response(p);
      require_state(p.slice == slice);
    });
  for (std::uint32_t port = 0; port < routers_->cluster.inputs(); ++port)
    routers_->cluster.queue(port).for_each([&](const Packet& p) {
      s.response(p);
      require_state(c_.machine.cluster_port(p.sm, p.slice) == port);
    });
  routers_->memory.check(crossing, port_of());
  routers_->cluster.check(arriving, sm_of());
}

void Links::check(StateCheck& s) const {
  packets_.check([&](auto&& see) {
    for (const ChannelState& channel : state_) see(channel.out), see(channel.through), see(channel.in);
  });
  for (std::uint32_t i = 0; i < state_.size(); ++i) {
    const ChannelState& channel = state_[i];
    s.line_of(channel.out_gate);
    packets_.for_each(channel.out, [&](const Packet& p) { s.packet(p); });
    packets_.for_each(channel.in, [&](const Packet& p) { s.packet(p), require_state(p.destination() == c_.chip); });
    packets_.for_each(channel.through, [&](const Packet& p) { s.packet(p); });
    packets_.for_each_note(channel.through, [&](std::uint32_t arrived_on) { require_state(arrived_on < state_.size()); });
    require_state(!channel.in.empty() || (!channel.waiting && !channel.granted));
    s.expects(WaiterKind::ingress, 0, i, channel.waiting);
    require_state(port_[topology_.channels()[i].port].can_send.has(place_of(i)) == can_send(channel));
    require_state((freed_[i / 64] >> i % 64 & 1) == (channel.freed != 0));
  }
  for (const Port& p : port_) require_state(p.next < channels_per_port_ && p.next_in < channels_per_port_);
}

void Links::check(const StateCheck& s, const Message& m) const {
  require_state((m.port & ~kCreditPort) < state_.size());
  if ((m.port & kCreditPort) == 0) s.packet(m.as<Packet>());
}

// ---- Cache and memory ----

void LlcSlice::check(StateCheck& s) const {
  for (std::uint32_t i = 0; i < tags_.entries(); ++i)
    if (tags_.occupied(i)) s.line(tags_.line(i));
  for (const std::uint8_t home : home_of_) s.chip(home);
  std::uint32_t remote = 0, answered = 0;  // of lines of which all were answered early nobody here says whose they are
  mshr_.for_each([&](const auto& entry, auto&& for_each_waiter) {
    s.line(entry.line);
    bool elsewhere = false;
    for_each_waiter([&](const Packet& p) { s.request(p), elsewhere |= p.home != c_.chip; });
    remote += elsewhere, answered += entry.waiting == 0;
  });
  require_state(remote <= remote_misses_ && remote_misses_ <= remote + answered);
  if (full_map_) {
    full_map_->directory().for_each([&](LineAddr line, std::uint64_t sharers, std::uint8_t owner) {
      s.line(line), s.sharers(sharers);
      require_state(owner == FullMapDirectory::kNobody || (owner < s.machine.config.chips && owner != c_.chip));
    });
  }
  for (std::uint32_t q = 0; q < in_.size(); ++q) {
    const Input& in = in_[q];
    s.line_of(in.gate);
    in.fifo.for_each([&](const Packet& p) { s.request(p); });
    require_state(!in.fifo.empty() || in.lined_up == nullptr);
    s.expects(WaiterKind::slice_queue, q, id_, in.lined_up != nullptr);
  }
  out_.check(s, [&](const Packet& p) { s.response(p), require_state(p.source == c_.chip || out_.lanes.size() > 1); });
  write_.check(s, [&](const Packet& p) { l2_ ? s.request(p) : s.below(p); });
  for (std::uint32_t lane = 0; lane < out_.lanes.size(); ++lane)
    s.expects(WaiterKind::slice_out, lane, id_, out_.waits(lane));
  for (std::uint32_t lane = 0; lane < write_.lanes.size(); ++lane)
    s.expects(WaiterKind::slice_write, lane, id_, write_.waits(lane));
  require_state(turn_ < 2 && flush_ <= Flush::settle && (flush_next_ == kNotFlushing || flush_next_ <= tags_.entries()));
}

void HomeAgent::check(const StateCheck& s) const {
  all_.for_each([&](LineAddr line, std::uint64_t sharers, std::uint8_t) { s.line(line), s.sharers(sharers); });
  directory_.for_each([&](LineAddr local, std::uint64_t sharers) {
    require_state(pages_.has(local));
    s.line(pages_.global(local)), s.sharers(sharers);
  });
}

void DramChannel::check(StateCheck& s) const {
  s.line_of(gate_);
  std::vector<bool> named = require_places(free_, pool_.size());
  std::size_t queued = free_.size();
  for (std::uint32_t i = 0; i < bank_.size(); ++i) {
    const Bank& b = bank_[i];
    require_state((b.first == kNone) == (b.chosen == kNone) && (waiting_ >> i & 1) == (b.chosen != kNone) &&
                  (b.first != kNone || b.last == kNone));
    bool chosen = b.chosen == kNone;
    for (std::uint32_t r = b.first; r != kNone; r = pool_[r].next, ++queued) {
      require_state(r < pool_.size() && !named[r] && (r == b.last) == (pool_[r].next == kNone));
      named[r] = true, chosen |= r == b.chosen;
      s.below(pool_[r].packet);
      require_state(c_.machine.map.bank(pool_[r].packet.line) == i &&
                    pool_[r].arrived <= now() + (Time{1} << DramCycles::kBits));
    }
    require_state(chosen);
    if (b.chosen == kNone) continue;
    const Request& r = pool_[b.chosen];
    require_state(candidate_[i].order == r.order && (writes_chosen_ >> i & 1) == r.write);
  }
  require_state(queued == pool_.size() && next_activate_ < activates_.size() &&
                (bank_.size() >= 64 || waiting_ >> bank_.size() == 0));
  const auto waits = [this](std::uint32_t bank) { return bank < bank_.size() && (waiting_ >> bank & 1) != 0; };
  require_state(is_bool(looked_) && (!looked_ || (waits(first_) && waits(oldest_))));
}

void StructureCounter::check(const StateCheck& s, std::uint64_t kernels) const {
  require_state(noted_ == 0 || noted_ < notes_.size());
  for (std::size_t i = 0; i < noted_; ++i) require_state(notes_[i].use < Use::count_), s.chip(notes_[i].home);
  for (const StructureUse& u : log_.use) require_state(u.kernel < kernels && u.structure < count_.size());
  require_state(notes_.empty() || kernel_ < std::max<std::uint64_t>(1, kernels));
}

// ---- Chip ----

void Chip::check_modes(const Modes& m) const {
  const Machine& machine = c_.machine;
  require_state(m.llc <= LlcRole::split && m.local_ways <= machine.config.llc.ways &&
                m.replication.level < machine.replicas.levels());
  const std::uint32_t lines = m.range_bytes / machine.config.line_bytes;
  require_state(m.range_bytes == 0 ||
                (m.range_bytes % machine.config.line_bytes == 0 && lines <= 64 && std::has_single_bit(lines)));
}

void Chip::check_event(StateCheck& s, const Event& e) const {
  const Packet& p = e.packet;
  const auto below = [&](std::size_t size) { require_state(e.index < size); };
  switch (e.kind) {
    case EventKind::warp_ready:
      return below(sms_.size()), s.warp(e.sub);
    case EventKind::issue:
      return below(sms_.size()), require_state(e.sub < c_.machine.config.sm.schedulers);
    case EventKind::access_done:
      return below(sms_.size()), s.warp(e.sub), s.slot(p.token);
    case EventKind::lsu:
      return below(sms_.size());
    case EventKind::l1_fill:
      return s.response(p), require_state(e.index == p.sm && (e.sub == 0 || cluster_.watches()));
    case EventKind::request_port:
      return below(requests_.ports());
    case EventKind::response_port:
      return below(c_.machine.cluster_ports);
    case EventKind::response_arrive:
      return s.response(p), require_state(e.index == c_.machine.cluster_port(p.sm, p.slice));
    case EventKind::slice_arrive:
      below(slices_.size());
      return e.sub == LlcSlice::kFill ? s.response(p) : (s.request(p), require_state(e.sub < 2));
    case EventKind::slice:
    case EventKind::slice_out:
    case EventKind::slice_write:
    case EventKind::slice_flush:
      return below(slices_.size());
    case EventKind::slice_acks:
      return below(slices_.size()), require_state(c_.machine.home_directory);
    case EventKind::dram_pick:
      return below(channels_.size());
    case EventKind::dram_done:
      return below(channels_.size()), s.below(p);
    case EventKind::egress_arrive:
    case EventKind::ingress_arrive:
      return below(links_.channels()), s.packet(p);
    case EventKind::credits_arrive:
      return below(links_.channels());
    case EventKind::egress:
    case EventKind::ingress:
      return below(links_.ports());
    case EventKind::resume: {
      require_state(p.token <= static_cast<std::uint32_t>(WaiterKind::cluster));
      return s.waits({static_cast<WaiterKind>(p.token), e.sub, e.index});
    }
    case EventKind::cluster_table:
    case EventKind::cluster_access:
    case EventKind::cluster_miss:
      return cluster_.check_event(s, e);
    case EventKind::credits_send:
    case EventKind::dispatch:
    case EventKind::touch_send:
    case EventKind::control:
    case EventKind::sample:
    case EventKind::epoch:
      return;
  }
  require_state(false);
}

void Chip::check_state_at(Cycle boundary) {
  require_state(c_.queue.now() <= boundary && c_.queue.next() >= boundary && census_schedule_.possible(boundary));
  require_state(phase_ <= Phase::stopped && change_ <= Change::flushing && span_ < Span::count_);
  const auto& kernels = workload_->kernels();
  require_state(kernels.empty() || kernel_ < kernels.size());
  require_state(census_.size() <= kernels.size() && span_since_ <= boundary);
  for (const WaitCensus& w : census_) require_state(w.packets.size() == c_.machine.config.chips);
  check_modes({.llc = c_.role, .local_ways = c_.local_ways, .replication = c_.replication});
  if (phase_ == Phase::running || ctas_) {
    require_state(ctas_ && *ctas_ == ctas_of(kernels[kernel_], c_.machine.config, c_.machine.devices, id()));
    require_state(dispatched_ <= to_run_ && to_run_ <= ctas_->count() && finished_ <= dispatched_);
  }
  dispatcher_.check(free_slots_);

  StateCheck s(c_.machine, c_.chip);
  std::vector<std::vector<std::uint32_t>> ready(sms_.size(), std::vector<std::uint32_t>(c_.machine.config.sm.warps));
  std::vector<std::uint32_t> crossing(slices_.size()), arriving(c_.machine.cluster_ports);
  std::vector<bool> parked = parked_.taken();
  c_.queue.for_each([&](Cycle, const Event& e) {
    check_event(s, e);
    if (e.kind == EventKind::warp_ready) ++ready[e.index][e.sub];
    if (e.kind == EventKind::response_arrive) ++crossing[e.packet.slice];
    if (e.kind == EventKind::response_port) ++arriving[e.index];
    if (e.kind != EventKind::control) return;
    require_state(e.packet.token < parked.size() && parked[e.packet.token]);
    parked[e.packet.token] = false;
  });
  for (std::size_t i = 0; i < sms_.size(); ++i) sms_[i].check(s, ready[i], free_slots_[i]);
  cluster_.check(s), requests_.check(s), responses_.check(s, crossing, arriving), links_.check(s);
  slice_packets_.check([&](auto&& see) {
    for (const LlcSlice& slice : slices_) slice.for_each_queue(see);
  });
  for (const LlcSlice& slice : slices_) slice.check(s);
  for (const DramChannel& channel : channels_) channel.check(s);
  if (agent_) agent_->check(s);
  c_.structures.check(s, kernels.size());
  s.close_book();
}

void Chip::check(const std::vector<Mail>& mail) const {
  const StateCheck s(c_.machine, c_.chip);
  for (const Mail& from : mail)
    for (const Message& m : from.data) links_.check(s, m);
}

}  // namespace atl
