#include "core/chip/base/census.hpp"

#include <algorithm>

#include "core/chip/chip.hpp"

// What everything in a chip waits for, as each component knows it. Whoever lines up in front of a full queue waits for what
// that queue's head waits for: time is charged to the resource that is short, not to the queues that fill up behind it.
namespace atl {
namespace {
constexpr std::size_t kLookStep = 8;
}

// ---- SMs ----

void Sm::count_requests(Census& census) const {
  census.under_way(PacketUse::load, l1_.outstanding() + awaited_);
  census.queued(Counter::queue_l1_mshrs, l1_.outstanding());
  census.under_way(PacketUse::store, unacknowledged_ - awaited_);
}

void Sm::count_slots(Census& census) const {
  if (resident_ == 0) {
    for (const Scheduler& s : scheduler_)
      if (s.free_at <= census.now) census.to.slots[Census::index(Wait::no_warp)] += WaitCensus::kSlot * census.weight;
    return;
  }
  std::uint64_t presenting = 0;
  for (std::size_t i = 0; i < lsu_.size(); ++i) presenting |= std::uint64_t{1} << lsu_.at(i);
  const auto step = static_cast<std::uint32_t>(scheduler_.size());
  for (std::uint32_t s = 0; s < step; ++s) {
    if (scheduler_[s].ready != 0 || scheduler_[s].free_at > census.now) continue;
    std::uint32_t lsu = 0, memory = 0, stores = 0, compute = 0, barrier = 0;
    for (std::uint32_t id = s; id < warp_.size(); id += step) {
      const Warp& w = warp_[id];
      if (!w.live) continue;
      if ((presenting >> id & 1) != 0) {
        ++lsu;
      } else if (w.at_barrier) {
        ++barrier;
      } else {
        ++(!w.waiting ? compute : (w.wait & w.busy) == 0 ? stores : waits_for_memory(w) ? memory : compute);
      }
    }
    const auto add = [&](Wait wait, std::uint64_t slots) { census.to.slots[Census::index(wait)] += slots * census.weight; };
    const std::uint32_t n = lsu + memory + stores + compute;
    if (n == 0) {
      // Those at a barrier wait for what the others of their CTA wait for.
      if (barrier == 0) add(Wait::no_warp, WaitCensus::kSlot);
      continue;
    }
    if (lsu != 0) add(load_store_wait(), WaitCensus::kSlot * lsu / n);
    add(Wait::memory, WaitCensus::kSlot * memory / n);
    add(Wait::stores, WaitCensus::kSlot * stores / n);
    add(Wait::compute, WaitCensus::kSlot * compute / n);
  }
}

/// One of the results that the next op waits for is a load's or an atomic's, not shared memory's.
bool Sm::waits_for_memory(const Warp& w) const {
  const Op* ops = code_[w.cta].ops;
  std::uint32_t slots = w.wait & w.busy;
  for (std::uint32_t i = w.op; i-- > 0 && slots != 0;) {
    const Op& op = ops[i];
    if (op.slot >= kScoreboardSlots || (slots >> op.slot & 1) == 0) continue;
    if (op.kind != OpKind::shared) return true;
    slots &= ~(1u << op.slot);
  }
  return false;
}

Wait Sm::load_store_wait() const {
  if (credit_wanted_ != nullptr) return network_.wait_behind(*credit_wanted_, id_);
  if (!lsu_stalled_ || c_.paused) return Wait::l1;
  if (behind_read_) return Wait::cluster;
  const Op& op = op_of(warp_[lsu_.front()]);
  return op.kind == OpKind::load && l1_.enabled() && (op.flags & kBypassL1) == 0 ? Wait::l1_mshr : Wait::store_credit;
}

void ClusterSharing::take_census(Census& census) const {
  std::uint64_t reads = 0;
  for (const Member& m : member_) reads += m.reads.size();
  const std::uint64_t leaving = leaving_.size() - free_leaving_.size();
  census.packets(c_.chip, PacketUse::load, Wait::cluster, reads - leaving);
  census.packets(c_.chip, PacketUse::load, Wait::request, leaving);
}

// ---- Crossbars ----

Wait RequestNetwork::wait_of(const OutPort& port, std::uint32_t lane) const {
  if (!port.waits(lane)) return Wait::request;
  const Packet& p = port.front(lane);
  return to_local_slice(p) ? slices_[p.slice].wait_of(LlcSlice::kFromSms) : links_->wait_of(links_->channel_for(p));
}

Wait RequestNetwork::wait_behind(const Gate& gate, std::uint32_t sm) const {
  const std::uint32_t first = sm / c_.machine.config.noc.sms_per_cluster * c_.machine.config.noc.memory_routers;
  for (std::uint32_t i = 0; i < c_.machine.config.noc.memory_routers; ++i)
    for (std::uint32_t lane = 0; lane < lanes_; ++lane)
      if (&port_[first + i].lanes[lane].gate == &gate) return wait_of(port_[first + i], lane);
  return Wait::request;
}

void RequestNetwork::take_census(Census& census) const {
  for (std::uint32_t port = 0; port < port_.size(); ++port) {
    const OutPort& p = port_[port];
    p.for_each_used([&](std::uint32_t lane) {
      const Wait wait = wait_of(p, lane);
      census.queued(Counter::queue_request, p.size(lane));
      p.for_each_packet(lane, [&](const Packet& packet) { census.packet(packet, wait); });
    });
    for (std::uint32_t lane = 0; resuming_ != 0 && lane < lanes_; ++lane) {
      const Fifo<Packet>& behind = resumed_[port * lanes_ + lane];
      if (behind.empty()) continue;
      const Wait wait = wait_of(p, lane);
      census.queued(Counter::queue_request, behind.size());
      behind.for_each([&](const Packet& packet) { census.packet(packet, wait); });
    }
  }
  mmu_.for_each_parked([&](const Packet& p) { census.packet(p, Wait::page_home); });
}

void ResponseNetwork::take_census(Census& census) const {
  for (const Port& port : port_) {
    census.queued(Counter::queue_response, port.fifo.size());
    for (std::size_t i = 0; i < port.fifo.size(); ++i) census.packet(port.fifo.at(i), Wait::response);
  }
  if (!routers_) return;
  for (const VcRouter* stage : {&routers_->memory, &routers_->cluster}) {
    for (std::uint32_t input = 0; input < stage->inputs(); ++input) {
      const Fifo<Packet>& queue = stage->queue(input);
      census.queued(Counter::queue_response, queue.size());
      for (std::size_t i = 0; i < queue.size(); ++i) census.packet(queue.at(i), Wait::response);
    }
  }
}

// ---- LLC ----

Wait LlcSlice::wait_of(std::uint32_t queue) const {
  const Input& in = in_[queue];
  if (in.fifo.empty() || (in.lined_up == nullptr && !in.stalled)) return l2_ ? Wait::l2 : Wait::slice;
  const Packet& p = in.fifo.front();
  if (in.lined_up != nullptr) return wait_below(p);
  if (!response_room(p)) return wait_to_answer(lane_of(response(p, 0)));
  const std::uint32_t room = level_.write_buffer;
  const bool behind_atomic = l2_ && writes_through(p) && p.kind == PacketKind::write && write_.size(0) != 0;
  if (write_.size(0) >= room || behind_atomic) return wait_to_write_back(0);
  const bool writes = p.kind == PacketKind::write && p.home == c_.chip && p.source == c_.chip;
  if (writes && uses_home_directory() && !home_->invalidation_room(*this)) return Wait::coherence;
  return Wait::llc_mshr;
}

/// What the queue waits for that takes what this slice sends on.
Wait LlcSlice::wait_below(const Packet& p) const {
  if (p.home != c_.chip) return links_->wait_of(links_->channel_for(p));
  return l2_ ? other_[c_.machine.map.slice(p.line)].wait_of(kFromSms) : Wait::dram;
}

Wait LlcSlice::wait_to_answer(std::uint32_t lane) const {
  if (!out_.waits(lane)) return Wait::response;
  const Packet& p = out_.front(lane);
  return p.source == c_.chip ? Wait::response : links_->wait_of(links_->channel_for(p));
}

Wait LlcSlice::wait_to_write_back(std::uint32_t lane) const {
  if (!write_.waits(lane)) return l2_ ? Wait::l2 : Wait::slice;
  return wait_below(write_.front(lane));
}

void LlcSlice::take_census(Census& census) const {
  for (std::uint32_t q = 0; q < in_.size(); ++q) {
    if (in_[q].fifo.empty()) continue;
    const Wait wait = wait_of(q);
    census.queued(Counter::queue_slice, in_[q].fifo.size());
    for (std::size_t i = 0; i < in_[q].fifo.size(); ++i) census.packet(in_[q].fifo.at(i), wait);
  }
  std::uint64_t fetches = 0, reads = bypassing_reads_;
  mshr_.for_each([&](const auto& entry, auto&& for_each_waiter) {
    bool remote = false, owned = false, first = true;
    for_each_waiter([&](const Packet& p) {
      if (std::exchange(first, false)) {
        remote = l2_ || p.home != c_.chip;
        owned = !remote && uses_full_map() && full_map_->elsewhere(entry.line);
      }
      census.packet(p, remote ? Wait::fetch : owned ? Wait::coherence : Wait::dram);
    });
    (remote ? fetches : reads) += 1;
  });
  census.under_way(PacketUse::fetch, fetches);
  census.queued(Counter::queue_llc_mshrs, mshr_.in_use());
  census.to.memory_owes += reads * census.weight;
  out_.for_each_used([&](std::uint32_t lane) {
    const Wait wait = wait_to_answer(lane);
    census.queued(Counter::queue_response, out_.size(lane));
    out_.for_each_packet(lane, [&](const Packet& p) { census.packet(p, wait); });
  });
  write_.for_each_used([&](std::uint32_t lane) {
    const Wait wait = wait_to_write_back(lane);
    write_.for_each_packet(lane, [&](const Packet& p) { census.packet(p, wait); });
  });
}

void DramChannel::take_census(Census& census) const {
  const std::size_t queued = pool_.size() - free_.size();
  census.queued(Counter::queue_dram, queued);
  if (queued == 0) return;
  for (const Bank& b : bank_) {
    for (std::uint32_t r = b.first; r != kNone; r = pool_[r].next) {
      const Packet& p = pool_[r].packet;
      // Of own slices' reads those are counted that wait for them in MSHRs.
      if (!pool_[r].write && p.source != c_.chip) census.packet(p, Wait::dram);
    }
  }
}

// ---- Links ----

Wait Links::wait_of(std::uint32_t channel) const {
  if (state_[channel].credits != 0) return Wait::link;
  return topology_.channels()[channel].message_class == 0 ? Wait::request_credit : Wait::response_credit;
}

void Links::take_census(Census& census) const {
  for (std::uint32_t i = 0; i < state_.size(); ++i) {
    const ChannelState& s = state_[i];
    Waits& arrived = census.to.arrived[topology_.channels()[i].message_class];
    const Wait onward = wait_of(i);
    census.queued(Counter::queue_link_out, s.out.size + s.through.size);
    census.queued(Counter::queue_link_in, s.in.size);
    packets_.for_each(s.out, [&](const Packet& p) { census.packet(p, onward); });
    packets_.for_each(s.through, [&](const Packet& p) { census.packet(p, onward); });
    arrived[Census::index(onward)] += s.through.size * census.weight;
    if (s.in.empty()) continue;
    const Packet& head = packets_.front(s.in);
    const Wait inward = !s.waiting               ? Wait::link
                        : is_response(head.kind) ? Wait::response
                                                 : slices_[slice_for(head)].wait_of(LlcSlice::kFromLinks);
    packets_.for_each(s.in, [&](const Packet& p) { census.packet(p, inward); });
    arrived[Census::index(inward)] += s.in.size * census.weight;
  }
}

// ---- Chip ----

/// The chip begins to spend its time on something else.
void Chip::enter_span(Span next) {
  if (!census_.empty())
    census_.back().span[static_cast<std::size_t>(span_)] += c_.now() - std::exchange(span_since_, c_.now());
  span_ = next;
}

void Chip::begin_census() {
  end_census();
  census_.emplace_back(c_.machine.config.chips);
  span_ = Span::running, span_since_ = c_.now();
}

void Chip::end_census() {
  if (!census_.empty()) complete_census(census_.back());
}

/// What the counters know.
void Chip::complete_census(WaitCensus& kernel) const {
  const Counters d = c_.count - at_kernel_start_;
  kernel.issued = d[Counter::sm_issue_busy], kernel.l1_hits = d[Counter::l1_hits];
  kernel.memory_reads = d[Counter::dram_reads];
  kernel.local = d[Counter::requests_local], kernel.remote = d[Counter::requests_remote];
}

/// Kernel, what the chip does, CTAs done and to do, and the kernel's census as if it ended now.
std::vector<std::uint64_t> Chip::look() const {
  if (!shows_looks_ || census_.empty()) return {};
  WaitCensus kernel = census_.back();
  kernel.span[static_cast<std::size_t>(span_)] += c_.now() - span_since_;
  complete_census(kernel);
  std::vector<std::uint64_t> out{kernel_, static_cast<std::uint64_t>(span_), finished_, ctas_ ? ctas_->count() : 0};
  kernel.each([&](std::uint64_t& x) { out.push_back(x); });
  return out;
}

/// At `census_schedule_.next()`, and at all looks after it before `until` at which nothing will have changed: while no warp
/// runs, only events change anything.
void Chip::take_census(Cycle until) {
  const Cycle now = census_schedule_.next();
  const std::uint64_t first = census_schedule_.taken();
  const std::uint64_t weight = census_schedule_.take(span_ == Span::running ? now : std::min(until, next_event()));
  if (census_.empty() || phase_ == Phase::stopped) return;
  WaitCensus& kernel = census_.back();
  c_.count[Counter::queue_looked] += weight;
  Census census{kernel, c_.count, now, weight};
  const std::uint64_t before = kernel.outstanding[0];
  for (const Sm& s : sms_) s.count_requests(census);
  if (c_.role == LlcRole::memory_side && !c_.machine.has_l2) kernel.outstanding_at_home += kernel.outstanding[0] - before;
  // Warps fill more than the host's caches: where there are many SMs, each look sees some of them.
  const std::size_t step = sms_.size() >= 2 * kLookStep ? kLookStep : 1;
  if (span_ == Span::running)
    for (std::size_t i = first % step; i < sms_.size(); i += step) sms_[i].count_slots(census);
  cluster_.take_census(census);
  requests_.take_census(census);
  responses_.take_census(census);
  for (const LlcSlice& s : slices_) s.take_census(census);
  for (const DramChannel& d : channels_) d.take_census(census);
  links_.take_census(census);
}

}  // namespace atl
