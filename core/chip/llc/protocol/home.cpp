#include <bit>

#include "core/chip/llc/llc_slice.hpp"
#include "core/chip/llc/protocol/home_agent.hpp"
#include "core/chip/noc/links.hpp"

// Slices under a home directory (REC and its baseline, HMG): the requester's slice keeps remote lines, which are never
// dirty, since its writes go through to the home. The home's slice always has the data: other chips' reads are looked up and
// placed in it, as MGPUSim does. Invalidations are not waited for, but at the end of a kernel.
//
// Requests of other chips never wait for a link here: invalidations leave by lanes of their own at the write port. Those
// lanes need no limit: each invalidation ends the tracking of a copy that a chip was given before. HMG and REC send them in
// the background and name no queue; `coherence.invalidation_queue` has the own SMs' writes wait for one.
namespace atl {

bool LlcSlice::process_coherent(const Packet& p, std::uint32_t queue) {
  switch (p.kind) {
    case PacketKind::read:
      if (!read(p, queue)) return false;
      if (p.source != c_.chip) agent_->read(p.line, p.source);
      return true;
    case PacketKind::write:
      if (p.home != c_.chip) return write_both(p, queue);
      if (p.source == c_.chip && !invalidation_room()) return stall(queue);
      if (!write(p, queue)) return false;
      agent_->write(p.line, p.source);
      return true;
    case PacketKind::atomic:
      return atomic(p, queue);
    default:
      return take_invalidation(p);
  }
}

/// Acknowledgements of one home travel together: only the end of a kernel waits for them, and one by one they would take as
/// much of the links as the invalidations.
bool LlcSlice::take_invalidation(const Packet& p) {
  constexpr Cycle kGather = 256;
  const bool hit = end_copy(p.line), evicted = p.token == static_cast<std::uint32_t>(InvalidationCause::evict);
  c_.count[Counter::coherence_invalidation_hits] += hit;
  c_.count[Counter::coherence_evict_invalidation_hits] += hit && evicted;
  if (c_.observer != nullptr) [[unlikely]]
    c_.observer->on_llc_obey(c_, id_, p);
  ++owed_[p.source];
  if (!std::exchange(acks_timed_, true)) c_.schedule((c_.now() / kGather + 1) * kGather, EventKind::slice_acks, id_);
  return true;
}

/// These answers always enter the response queue, like those of a fill: there is one for each chip at most.
void LlcSlice::on_acknowledge() {
  acks_timed_ = false;
  for (std::uint32_t chip = 0; chip < owed_.size(); ++chip) {
    const std::uint32_t number = std::exchange(owed_[chip], 0);
    if (number == 0) continue;
    const Packet p{.line = {id_},  // of no line; splits equal ways round a ring
                   .entry = number - 1,
                   .source = static_cast<std::uint8_t>(chip),
                   .home = c_.chip,
                   .kind = PacketKind::invalidate_ack,
                   .flags = kToSlice,
                   .slice = static_cast<std::uint8_t>(id_)};
    out_.push(lane_of(p), p);
  }
  pump_out();
}

/// A write to another chip's line changes the copy here, or makes one, and goes on to the home, which acknowledges it.
bool LlcSlice::write_both(const Packet& p, std::uint32_t queue) {
  const std::uint32_t s = set(p.line);
  std::uint32_t i = tags_.find(s, p.line);
  const bool hit = i != TagArray::kMiss;
  if (!hit && !write_room(i = victim(s, p.home))) return stall(queue);
  if (!take(links_->out_gate(links_->channel_for(p)), queue)) return false;
  if (!hit) {
    make_room(i);
    tags_.install(i, p.line);
    home_[i] = p.home;
  }
  put_written(i, p);
  pass_to_home(p, hit);
  return true;
}

bool LlcSlice::invalidation_room() const {
  const std::uint32_t room = c_.machine.config.coherence.invalidation_queue;
  if (room == 0) return true;
  for (std::size_t k = 1; k < write_.lanes.size(); ++k)
    if (write_.lanes[k].fifo.size() >= room) return false;
  return true;
}

void LlcSlice::send_invalidations(LineAddr line, std::uint64_t chips, std::uint64_t told, InvalidationCause cause) {
  if (c_.observer != nullptr) [[unlikely]]
    c_.observer->on_llc_invalidate(c_, id_, line, chips);
  for (; chips != 0; chips &= chips - 1) {
    ++invalidations_;
    ++c_.count[Counter::coherence_invalidations];
    c_.count[Counter::coherence_evict_invalidations] += cause == InvalidationCause::evict;
    const int chip = std::countr_zero(chips);
    Packet p = to_chip(static_cast<std::uint8_t>(chip), PacketKind::invalidate, line);
    p.sectors = 1;  // what the look-up costs in a sectored slice
    p.token = static_cast<std::uint32_t>(cause);
    p.slice = static_cast<std::uint8_t>(id_);
    if ((told >> chip & 1) != 0) p.flags |= kRides;
    write_.push(links_->lane_for(p), p);
  }
  pump_write();
}

}  // namespace atl
