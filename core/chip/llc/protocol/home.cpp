#include "core/chip/llc/protocol/home.hpp"

#include <bit>
#include <utility>

#include "core/chip/llc/llc_slice.hpp"
#include "core/chip/noc/links.hpp"

namespace atl {

bool Home::process(LlcSlice& s, const Packet& p, std::uint32_t queue) {
  switch (p.kind) {
    case PacketKind::read:
      if (!s.read(p, queue)) return false;
      if (p.source != s.c_.chip) agent_->read(p.line, p.source);
      return true;
    case PacketKind::write:
      if (p.home != s.c_.chip) return write_both(s, p, queue);
      if (p.source == s.c_.chip && !invalidation_room(s)) return s.stall(queue);
      if (!s.write(p, queue)) return false;
      agent_->write(p.line, p.source);
      return true;
    case PacketKind::atomic:
      return s.atomic(p, queue);
    default:
      return take_invalidation(s, p);
  }
}

/// Acknowledgements of one home travel together, and take nothing of the links: REC (section 4.1) and HMG (HPCA 2020) have
/// none, and HMG's release one marker. Only the end of a kernel waits for them here.
bool Home::take_invalidation(LlcSlice& s, const Packet& p) {
  constexpr Cycle kGather = 256;
  Context& c = s.c_;
  const bool hit = s.end_copy(p.line), evicted = p.token == static_cast<std::uint32_t>(InvalidationCause::evict);
  c.count[Counter::coherence_invalidation_hits] += hit;
  c.count[Counter::coherence_evict_invalidation_hits] += hit && evicted;
  if (c.observer != nullptr) [[unlikely]]
    c.observer->on_llc_obey(c, s.id_, p);
  ++owed_[p.source * slices_ + (own_number_ ? 0 : p.slice)];
  if (!std::exchange(acks_timed_, true)) c.schedule((c.now() / kGather + 1) * kGather, EventKind::slice_acks, s.id_);
  return true;
}

/// These answers always enter the response queue, like those of a fill: there is one for each slice that is owed at most.
void Home::acknowledge(LlcSlice& s) {
  acks_timed_ = false;
  for (std::uint32_t i = 0; i < owed_.size(); ++i) {
    const std::uint32_t number = std::exchange(owed_[i], 0);
    if (number == 0) continue;
    const Packet p{.line = {s.id_},  // of no line; splits equal ways round a ring
                   .entry = number - 1,
                   .source = static_cast<std::uint8_t>(i / slices_),
                   .home = s.c_.chip,
                   .kind = PacketKind::invalidate_ack,
                   .flags = kToSlice | kRides,
                   .slice = static_cast<std::uint8_t>(own_number_ ? s.id_ : i % slices_)};
    s.out_.push(s.lane_of(p), p);
  }
  s.pump_out();
}

/// A write to another chip's line changes the copy here, or makes one, and goes on to the home, which acknowledges it.
bool Home::write_both(LlcSlice& s, const Packet& p, std::uint32_t queue) {
  const std::uint32_t set = s.set(p.line);
  std::uint32_t i = s.tags_.find(set, p.line);
  const bool hit = i != TagArray::kMiss;
  if (!hit && !s.write_room(i = s.victim(set, p.home))) return s.stall(queue);
  if (!s.take(s.links_->out_gate(s.links_->channel_for(p)), queue)) return false;
  if (!hit) s.install(i, p.line, p.home);
  s.put_written(i, p);
  s.pass_to_home(p, hit);
  return true;
}

bool Home::invalidation_room(const LlcSlice& s) const {
  const std::uint32_t room = s.c_.machine.config.coherence.invalidation_queue;
  if (room == 0) return true;
  for (std::uint32_t k = 1; k < s.write_.lanes.size(); ++k)
    if (s.write_.size(k) >= room) return false;
  return true;
}

void Home::send_invalidations(LlcSlice& s, LineAddr line, std::uint64_t chips, std::uint64_t told, InvalidationCause cause) {
  Context& c = s.c_;
  if (c.observer != nullptr) [[unlikely]]
    c.observer->on_llc_invalidate(c, s.id_, line, chips);
  for (; chips != 0; chips &= chips - 1) {
    ++s.invalidations_;
    ++c.count[Counter::coherence_invalidations];
    c.count[Counter::coherence_evict_invalidations] += cause == InvalidationCause::evict;
    const int chip = std::countr_zero(chips);
    Packet p = s.to_chip(static_cast<std::uint8_t>(chip), PacketKind::invalidate, line);
    p.sectors = 1;  // what the look-up costs in a sectored slice
    p.token = static_cast<std::uint32_t>(cause);
    if ((told >> chip & 1) != 0) p.flags |= kRides;
    s.write_.push(s.links_->lane_for(p), p);
  }
  s.pump_write();
}

}  // namespace atl
