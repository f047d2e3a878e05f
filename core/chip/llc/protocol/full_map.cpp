#include "core/chip/llc/protocol/full_map.hpp"

#include <bit>

#include "core/chip/llc/llc_slice.hpp"

namespace atl {

void FullMap::send(LlcSlice& s, const Packet& p) {
  s.write_.push(0, p);
  s.pump_write();
}

// ---- At the home ----

bool FullMap::read(LlcSlice& s, const Packet& p, std::uint32_t queue) {
  return p.has(kFromOwner) ? read_at_owner(s, p, queue) : read_at_home(s, p, queue);
}

/// Another chip's read. The home's own dirty copy answers; else memory, unless another chip has written the line.
bool FullMap::read_at_home(LlcSlice& s, const Packet& p, std::uint32_t queue) {
  const std::uint32_t i = s.tags_.find(s.set(p.line), p.line);
  if (i != TagArray::kMiss && s.tags_.dirty(i) != 0 && (p.sectors & ~s.tags_.valid(i)) == 0) {
    if (!s.response_room(p)) return s.stall(queue);
    directory_.read(p.line, p.source);
    return s.answer_chip(p, i);
  }
  if (i != TagArray::kMiss && (s.tags_.dirty(i) & p.sectors) != 0) s.drop_copy(p.line);  // part of what is asked for
  const std::uint8_t owner = directory_.owner(p.line);
  if (owner != FullMapDirectory::kNobody && owner != p.source) {
    if (!s.response_room(p)) return s.stall(queue);
    directory_.read(p.line, p.source);
    refer(s, p, owner);
    return true;
  }
  if (!s.bypass(p, queue)) return false;
  directory_.read(p.line, p.source);
  return true;
}

/// Answers a slice's read without data: `chip` is to be asked instead.
void FullMap::refer(LlcSlice& s, const Packet& p, std::uint8_t chip) {
  Packet r = LlcSlice::response(p, 0);
  r.sectors = 0;
  r.token = chip | std::uint32_t{p.sectors} << 8;
  ++s.c_.count[Counter::coherence_referrals];
  if (s.c_.observer != nullptr) [[unlikely]]
    s.c_.observer->on_llc_refer(s.c_, s.id_, p, chip);
  s.out_.push(s.lane_of(r), r);
  s.pump_out();
}

bool FullMap::take_notice(LlcSlice& s, const Packet& p, std::uint32_t queue) {
  if (!s.response_room(p)) return s.stall(queue);
  invalidate_sharers(s, p.line, directory_.write(p.line, p.source));
  s.end_copy(p.line);
  s.respond(p, 0);
  s.pump_out();
  return true;
}

void FullMap::invalidate_sharers(LlcSlice& s, LineAddr line, std::uint64_t chips) {
  if (s.c_.observer != nullptr && chips != 0) [[unlikely]]
    s.c_.observer->on_llc_invalidate(s.c_, s.id_, line, chips);
  for (; chips != 0; chips &= chips - 1) {
    ++s.invalidations_;
    ++s.c_.count[Counter::coherence_invalidations];
    send(s, s.to_chip(static_cast<std::uint8_t>(std::countr_zero(chips)), PacketKind::invalidate, line));
  }
}

// ---- At a sharer or owner ----

bool FullMap::invalidate(LlcSlice& s, const Packet& p, std::uint32_t queue) {
  if (!s.response_room(p)) return s.stall(queue);
  s.c_.count[Counter::coherence_invalidation_hits] += s.end_copy(p.line);
  if (s.c_.observer != nullptr) [[unlikely]]
    s.c_.observer->on_llc_obey(s.c_, s.id_, p);
  s.respond(p, 0);
  s.pump_out();
  return true;
}

/// A read that the home referred to this chip. The copy stays, clean: memory is right again.
bool FullMap::read_at_owner(LlcSlice& s, const Packet& p, std::uint32_t queue) {
  if (!s.response_room(p)) return s.stall(queue);
  const std::uint32_t i = s.tags_.find(s.set(p.line), p.line);
  if (i == TagArray::kMiss || (p.sectors & ~s.tags_.valid(i)) != 0) {  // written back meanwhile, or not all of it is here
    if (i != TagArray::kMiss) s.drop_copy(p.line);
    refer(s, p, static_cast<std::uint8_t>(p.token));
    return true;
  }
  s.make_room(i);
  s.tags_.dirty(i) = 0;
  return s.answer_chip(p, i);
}

// ---- At the requester ----

/// A remote owner whose data another chip reads becomes clean, and so tells again. The home's copy stays dirty: it tells for
/// as long as it has readers.
bool FullMap::announces(LlcSlice& s, const Packet& p, std::uint32_t entry, bool hit) const {
  return !hit || s.tags_.dirty(entry) == 0 || (p.home == s.c_.chip && directory_.has_sharers(p.line));
}

void FullMap::announce_write(LlcSlice& s, const Packet& p) {
  if (p.home == s.c_.chip) return invalidate_sharers(s, p.line, directory_.write_through(p.line, p.home));
  ++s.writebacks_;
  ++s.c_.count[Counter::coherence_notices];
  send(s, s.to_chip(p.home, PacketKind::own, p.line));
}

void FullMap::ask(LlcSlice& s, std::uint32_t entry, std::uint8_t sectors, std::uint8_t home, std::uint8_t chip) {
  Packet p = s.to_chip(chip, PacketKind::read, s.mshr_[entry].line);
  p.sectors = sectors;
  p.entry = entry;
  if (chip == s.c_.chip) {  // this chip is the home: its directory may name an owner by now
    const std::uint8_t owner = directory_.owner(p.line);
    if (owner != FullMapDirectory::kNobody) p.home = owner;
  }
  if (p.home != home) {
    p.flags |= kFromOwner;
    p.token = home;
  }
  send(s, p);
}

}  // namespace atl
