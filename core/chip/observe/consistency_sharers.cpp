#include <fmt/format.h>

#include <algorithm>

#include "core/chip/chip.hpp"
#include "core/chip/observe/consistency_checker.hpp"

// Hardware coherence, as the consistency checker sees it: which chips the home has given a line to, and whether it tells
// them when the line is written. A chip of which the home has forgotten that keeps a copy that nobody will end.
namespace atl {

using namespace consistency;

namespace {
std::uint64_t bit(std::uint32_t chip) { return std::uint64_t{1} << chip; }
}  // namespace

void ConsistencyChecker::watch(Chip& chip) {
  chip.observe(this);
  chips_.push_back(&chip);
}

/// Homes keep track of the copies in other chips now.
bool ConsistencyChecker::tracks(const Context& c) const {
  return (c.machine.full_map && c.sm_side()) ||
         (c.machine.home_directory && (c.role != LlcRole::memory_side || c.machine.has_l2));
}

void ConsistencyChecker::on_llc_forget(const Context& c) {
  if (!homes_.empty()) ++homes_[c.chip].era;
}

std::uint64_t& ConsistencyChecker::sharers(Line& l) {
  if (std::exchange(l.era, homes_[l.home].era) != homes_[l.home].era) l.sharers = 0;
  return l.sharers;
}

void ConsistencyChecker::add_sharer(const Context& c, Line& l, std::uint8_t chip) {
  if (tracks(c)) sharers(l) |= bit(chip);
}

void ConsistencyChecker::on_llc_refer(const Context& c, std::uint32_t slice, const Packet& p, std::uint8_t chip) {
  check_awaited(c);
  Line& l = lines_[p.line.value];
  note(c, l, What::refer, slice, 0, {chip});
  if (!p.has(kFromOwner) && p.source != c.chip) add_sharer(c, l, p.source);
}

/// `writer` has written the line at its home, here. full_map's invalidations have been sent; those of a home directory
/// follow before anything else happens in this chip.
void ConsistencyChecker::written_at_home(const Context& c, LineAddr line, std::uint8_t writer) {
  if (writer != c.chip && !c.machine.has_l2) sharers(lines_[line.value]) |= bit(writer);  // an L2 makes no copy
  if (owners_keep_) return check_ended(c, line, writer);
  homes_[c.chip].awaited.push_back({line, writer});
}

void ConsistencyChecker::check_awaited(const Context& c) {
  auto& awaited = homes_[c.chip].awaited;
  for (const Awaited& a : awaited) check_ended(c, a.line, a.writer);
  awaited.clear();
}

/// Of other chips than the writer's none has a copy now that it may keep.
void ConsistencyChecker::check_ended(const Context& c, LineAddr line, std::uint8_t writer) {
  Line& l = lines_[line.value];
  const std::uint64_t chips = sharers(l);
  ++counts_.sharers_compared;
  for (std::uint32_t chip = 0; chip < kernel_.size(); ++chip) {
    if (chip == writer || (chips & bit(chip)) == 0) continue;
    fail(fmt::format("cycle {}: chip {} has written it and chip {} may have a copy, but its home, chip {}, does not tell it",
                     c.now(), writer, chip, c.chip),
         line);
  }
}

void ConsistencyChecker::on_llc_invalidate(const Context& c, std::uint32_t, LineAddr line, std::uint64_t chips) {
  Line& l = lines_[line.value];
  for (; chips != 0; chips &= chips - 1) {
    const auto chip = static_cast<std::uint8_t>(std::countr_zero(chips));
    note(c, l, What::end_copies, chip, 0, {});
    if (exact_sharers_ && (sharers(l) & bit(chip)) == 0)
      fail(fmt::format("cycle {}: chip {} tells chip {} that its copy ends, but has not given it one since the last time",
                       c.now(), c.chip, chip),
           line);
    sharers(l) &= ~bit(chip);
    l.ending.push_back(chip);
  }
}

/// An invalidation has been obeyed: from now on the slice hits nothing that is older than what its home knows of.
void ConsistencyChecker::on_llc_obey(const Context& c, std::uint32_t slice, const Packet& p) {
  Line& l = lines_[p.line.value];
  const auto i = std::ranges::find(l.ending, c.chip);
  if (i == l.ending.end()) fail(fmt::format("cycle {}: an invalidation that no home has sent", c.now()), p.line);
  l.ending.erase(i);
  ++counts_.endings;
  note(c, l, What::copy_ended, slice, 0, {});
  raise(l, l.llc[place(c.chip, slice)].floor, 0xFF, l.published);
}

/// full_map: `writer` is the line's owner now. What earlier ones have written is taken to come home at once; in the model it
/// follows when the invalidation has reached them, and nobody waits for it.
void ConsistencyChecker::recall(Line& l, std::uint32_t writer) {
  for (const auto& [where, copy] : l.llc) {
    if (chip_of(where) != writer) bring_home(l, copy);
  }
}

void ConsistencyChecker::bring_home(Line& l, const Copy& copy) {
  const auto home = [&](std::uint8_t sectors, const Versions& data) {
    each(sectors, [&](unsigned s) {
      if (!order_.older(l.memory[s], data[s])) return;  // of a race any may win, but nothing from before it
      l.memory[s] = data[s];
      ++counts_.recalled;
    });
  };
  home(copy.dirty, copy.data);
  for (const WriteBack& w : copy.leaving) home(w.sectors, w.data);
}

/// Between kernels the home of every line in another chip's slice must know, or have told that chip: a directory that takes
/// another range for the next kernel has just given up all it had.
void ConsistencyChecker::check_copies() {
  for (const Chip* chip : chips_) {
    const Context& c = chip->context();
    if (!c.machine.full_map && !c.machine.home_directory) return;
    chip->for_each_line([&](LineAddr line, std::uint8_t home) {
      if (home == c.chip) return;
      ++counts_.copies;
      const auto& ending = lines_[line.value].ending;
      if (std::ranges::find(ending, c.chip) != ending.end()) return;
      if ((chips_[home]->sharers(line) & bit(c.chip)) == 0)
        fail(fmt::format("cycle {}: chip {} has a copy, of which its home, chip {}, does not know", c.now(), c.chip, home),
             line);
    });
  }
}

/// full_map: the home has taken a notice of a write, and has sent what it sends because of it.
void ConsistencyChecker::take_notice(const Context& c, const Packet& p) {
  Line& l = lines_[p.line.value];
  const auto n = std::ranges::find(l.notices, p.source, &Notice::chip);
  if (n == l.notices.end()) fail(fmt::format("cycle {}: a notice that chip {} did not send", c.now(), p.source), p.line);
  note(c, l, What::notice, p.source, 0xFF, n->data);
  recall(l, p.source);
  publish(l, 0xFF, n->data);
  l.notices.erase(n);
  sharers(l) |= bit(p.source);
  check_ended(c, p.line, p.source);
}

}  // namespace atl
