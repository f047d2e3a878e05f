#include <bit>

#include "core/chip/dram/dram_channel.hpp"
#include "core/chip/llc/llc_slice.hpp"
#include "core/chip/llc/protocol/home_agent.hpp"
#include "core/chip/noc/links.hpp"

// SAC's hardware coherence of SM-side slices (SAC section 2.1, footnote 3): a write changes the writer's copy only, and the
// home's directory notes the owner and invalidates all other copies, the home's included. A read that finds memory stale is
// sent on to the owner, which answers it and writes its data back. Nothing is flushed between kernels.
//
// Requests of other chips never wait for a link here: what they cause leaves through the background port (write_), in the
// order in which it came up, so that a line's write-back and the next notice of its owner keep their order.
namespace atl {

Packet LlcSlice::to_chip(std::uint8_t chip, PacketKind kind, LineAddr line) const {
  return {.line = line,
          .source = c_.chip,
          .home = chip,
          .kind = kind,
          .flags = kToSlice,
          .slice = static_cast<std::uint8_t>(id_)};
}

void LlcSlice::send_background(const Packet& p) {
  write_.push(0, p);
  pump_write();
}

// ---- At the home ----

/// Another chip's read. The home's own dirty copy answers; else memory, unless another chip has written the line.
bool LlcSlice::read_at_home(const Packet& p, std::uint32_t queue) {
  const std::uint32_t i = tags_.find(set(p.line), p.line);
  if (i != TagArray::kMiss && tags_.dirty(i) != 0 && (p.sectors & ~tags_.valid(i)) == 0) {
    if (!response_room(p)) return stall(queue);
    directory_.read(p.line, p.source);
    return answer_chip(p, i);
  }
  if (i != TagArray::kMiss && (tags_.dirty(i) & p.sectors) != 0) drop_copy(p.line);  // part of what is asked for
  const std::uint8_t owner = directory_.owner(p.line);
  if (owner != FullMapDirectory::kNobody && owner != p.source) {
    if (!response_room(p)) return stall(queue);
    directory_.read(p.line, p.source);
    refer(p, owner);
    return true;
  }
  if (!bypass(p, queue)) return false;
  directory_.read(p.line, p.source);
  return true;
}

/// Answers another chip's read out of entry `i`.
bool LlcSlice::answer_chip(const Packet& p, std::uint32_t i) {
  tags_.touch(i);
  ++hits_, ++c_.count[Counter::llc_hits];
  count_access(p, LlcOutcome::hit);
  ++c_.count[Counter::llc_reads];
  respond(p, kLlcRemote);
  pump_out();
  return true;
}

/// Answers a slice's read without data: `chip` is to be asked instead.
void LlcSlice::refer(const Packet& p, std::uint8_t chip) {
  Packet r = response(p, 0);
  r.sectors = 0;
  r.token = chip | std::uint32_t{p.sectors} << 8;
  ++c_.count[Counter::coherence_referrals];
  if (c_.observer != nullptr) [[unlikely]]
    c_.observer->on_llc_refer(c_, id_, p, chip);
  out_.push(lane_of(r), r);
  pump_out();
}

/// Chip `p.source` has written its copy.
bool LlcSlice::take_notice(const Packet& p, std::uint32_t queue) {
  if (!response_room(p)) return stall(queue);
  invalidate_sharers(p.line, directory_.write(p.line, p.source));
  end_copy(p.line);
  respond(p, 0);
  pump_out();
  return true;
}

void LlcSlice::invalidate_sharers(LineAddr line, std::uint64_t chips) {
  if (c_.observer != nullptr && chips != 0) [[unlikely]]
    c_.observer->on_llc_invalidate(c_, id_, line, chips);
  for (; chips != 0; chips &= chips - 1) {
    ++invalidations_;
    ++c_.count[Counter::coherence_invalidations];
    send_background(to_chip(static_cast<std::uint8_t>(std::countr_zero(chips)), PacketKind::invalidate, line));
  }
}

/// An atomic has executed at the home: all copies end, that of the chip that asked for it too.
void LlcSlice::end_copies(const Packet& atomic) {
  if (uses_full_map()) announce_write(atomic);
  if (uses_home_directory()) agent_->atomic(atomic.line);
}

// ---- At a sharer or owner ----

bool LlcSlice::invalidate(const Packet& p, std::uint32_t queue) {
  if (!response_room(p)) return stall(queue);
  c_.count[Counter::coherence_invalidation_hits] += end_copy(p.line);
  if (c_.observer != nullptr) [[unlikely]]
    c_.observer->on_llc_obey(c_, id_, p);
  respond(p, 0);
  pump_out();
  return true;
}

/// Another chip has written the line. Data on the way here may be older than that.
bool LlcSlice::end_copy(LineAddr line) {
  const std::uint32_t e = mshr_.find(line);
  if (e != mshr_.kNone) mshr_[e].void_on_arrival = true;
  return drop_copy(line);
}

/// Forgets the line, if it is here. Sectors that only this slice has go home first.
bool LlcSlice::drop_copy(LineAddr line) {
  const std::uint32_t i = tags_.find(set(line), line);
  if (i == TagArray::kMiss) return false;
  if (c_.observer != nullptr) [[unlikely]]
    c_.observer->on_llc_flush(c_, id_, line);
  make_room(i);
  tags_.invalidate(i);
  return true;
}

/// A read that the home referred to this chip. The copy stays, clean: memory is right again.
bool LlcSlice::read_at_owner(const Packet& p, std::uint32_t queue) {
  if (!response_room(p)) return stall(queue);
  const std::uint32_t i = tags_.find(set(p.line), p.line);
  if (i == TagArray::kMiss || (p.sectors & ~tags_.valid(i)) != 0) {  // written back meanwhile, or not all of it is here
    if (i != TagArray::kMiss) drop_copy(p.line);
    refer(p, static_cast<std::uint8_t>(p.token));
    return true;
  }
  make_room(i);
  tags_.dirty(i) = 0;
  return answer_chip(p, i);
}

// ---- At the requester ----

/// The home must hear of a write to a line that this slice has not been the last to write. Room for the notice is the
/// caller's business.
void LlcSlice::announce_write(const Packet& p) {
  if (p.home == c_.chip) return invalidate_sharers(p.line, directory_.write_at_home(p.line));
  ++writebacks_;
  ++c_.count[Counter::coherence_notices];
  send_background(to_chip(p.home, PacketKind::own, p.line));
}

/// Asks `chip`, the line's home or its owner, for sectors that MSHR `entry` waits for.
void LlcSlice::ask(std::uint32_t entry, std::uint8_t sectors, std::uint8_t home, std::uint8_t chip) {
  Packet p = to_chip(chip, PacketKind::read, mshr_[entry].line);
  p.sectors = sectors;
  p.entry = entry;
  if (chip == c_.chip) {  // this chip is the home: its directory may name an owner by now
    const std::uint8_t owner = directory_.owner(p.line);
    if (owner != FullMapDirectory::kNobody) p.home = owner;
  }
  if (p.home != home) {
    p.flags |= kFromOwner;
    p.token = home;
  }
  send_background(p);
}

}  // namespace atl
