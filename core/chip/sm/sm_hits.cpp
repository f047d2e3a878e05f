#include <bit>
#include <utility>

#include "core/chip/sm/sm.hpp"

// Hits of an op that touches several lines, without an event for each.
//
// The load-store unit presents a line a cycle. While the lines to come are in the L1, nothing happens in these cycles but
// that they are used, and nobody sees it but who replaces a line, reads counters or stops the SM. So the unit looks ahead,
// has its next event at the first line that is no hit, or the last of the op, with which the warp goes on; what was due
// before is done when somebody is about to see it. Only a line that comes in can take one away that was counted on: then
// the unit looks again. Times are those of one event per line: each is presented in its own cycle, in the state that the L1
// has then.
//
// The warp waits for all lines of an op that hit as for one, the last: it looks at its scoreboard when the whole op is
// presented, and not before.
//
// For an observer that has to see each hit before anything of the next cycle happens, events are added that do that alone
// (kHitsOnly); they are neither counted nor part of the digest.
namespace atl {

/// Not if others use this L1.
bool Sm::looks_ahead(const Op& op) const {
  return op.kind == OpKind::load && l1_.enabled() && (op.flags & kBypassL1) == 0 && cluster_ == nullptr && !c_.paused;
}

/// Lines of the head's op from lsu_at_ on that hit, without its last one. Calls visit(entry in the L1) for these and for
/// the one behind them.
template <class Visit> std::uint32_t Sm::find_hits(Visit&& visit) const {
  const std::uint32_t warp = lsu_.front();
  const Op& op = op_of(warp_[warp]);
  if (!looks_ahead(op)) return 0;
  std::uint32_t hits = 0;
  for (Place at = lsu_at_; at.access < op.accesses; ++hits) {
    const Access a = access_of(warp, op, at.access);
    const auto [line, sectors] = part_of(a, at.part);
    if (sectors == 0) break;
    const std::uint32_t entry = l1_.find(line);
    visit(entry);
    at = behind(a, at);
    if (at.access >= op.accesses || hits == kHitsAhead - 1 || !l1_.has(entry, sectors)) break;
  }
  return hits;
}

std::uint32_t Sm::hits_ahead() const {
  return find_hits([](std::uint32_t) {});
}

/// Not before the op has begun: only then the host has it in its cache, and most ops have one line.
void Sm::look_ahead() {
  hits_ahead_ = 0;
  found_.next_known = false;
  if (lsu_at_.access == 0 && lsu_at_.part == 0) return;
  std::uint32_t to = found_.first;
  hits_ahead_ = find_hits([&](std::uint32_t entry) {
    found_.hit[to++ % kHitsAhead] = found_.next = entry;
    found_.next_known = true;
  });
  if (c_.observer != nullptr && c_.observer->sees_each_hit()) [[unlikely]]
    for (std::uint32_t i = 1; i <= hits_ahead_; ++i)
      c_.queue.push_first(lsu_free_ + i, {{}, id_, EventKind::lsu, kHitsOnly});
}

void Sm::look_ahead_again() {
  const std::uint32_t hits = hits_ahead_;
  look_ahead();
  if (hits_ahead_ >= hits) {
    hits_ahead_ = hits, found_.next_known = false;  // the event comes when it was to come
  } else {
    lsu_due_ = lsu_free_ + hits_ahead_;
    c_.schedule(lsu_due_, EventKind::lsu, id_);
  }
}

/// The line at `entry` of the L1 has made way for another.
void Sm::on_replaced(std::uint32_t entry) {
  for (std::uint32_t i = found_.first; i != found_.first + hits_ahead_; ++i) {
    const std::uint32_t hit = found_.hit[i % kHitsAhead];
    if (hit == entry || hit == kUnknown) return look_ahead_again();
  }
}

void Sm::present_hits() {
  const std::uint32_t warp = lsu_.front();
  const Op& op = op_of(warp_[warp]);
  std::uint32_t hits = 0, all_sectors = 0;
  for (; hits_ahead_ != 0 && lsu_free_ < c_.now(); --hits_ahead_, ++lsu_free_, ++hits) {
    const Access a = access_of(warp, op, lsu_at_.access);
    const auto [line, sectors] = part_of(a, lsu_at_.part);
    l1_.use(line, found_.hit[found_.first++ % kHitsAhead]);
    lsu_at_ = behind(a, lsu_at_);
    if (c_.observer != nullptr) [[unlikely]]
      c_.observer->on_l1_load(c_, id_, line, sectors, L1Outcome::hit);
    all_sectors += static_cast<unsigned>(std::popcount(sectors));
  }
  if (hits == 0) return;
  c_.count[Counter::l1_accesses] += hits;
  c_.count[Counter::l1_sector_accesses] += all_sectors;
  take_hits(warp, op, hits, lsu_free_ - 1);
}

void Sm::pause() {
  catch_up();
  if (hits_ahead_ != 0) look_ahead_again();
}

/// `at`: the last of them was presented then.
void Sm::take_hits(std::uint32_t warp, const Op& op, std::uint32_t hits, Cycle at) {
  c_.count[Counter::l1_hits] += hits;
  c_.count[Counter::loads_completed] += hits;
  c_.count[Counter::load_latency_cycles] += std::uint64_t{hits} * c_.machine.config.l1.latency_cycles;
  last_hit_ = at;
  if (!std::exchange(op_hits_, true)) part_begins(warp, op.slot);
}

/// The op is presented: its hits are there when the last of them is.
void Sm::end_hits(std::uint32_t warp, const Op& op) {
  op_hits_ = false;
  if (op.slot == kNoSlot) return;
  const Cycle at = last_hit_ + c_.machine.config.l1.latency_cycles;
  if (at < c_.now()) return part_done(warp, op.slot);
  part_done_at(at, static_cast<std::uint8_t>(warp), op.slot);
}

}  // namespace atl
