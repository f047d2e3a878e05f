#include "inputs/ptx/exec_meeting.hpp"

#include <algorithm>

#include "inputs/ptx/access_check.hpp"

namespace atl::ptx::exec {
namespace {

bool same_kind(const Inst& a, const Inst& b) { return a.run == b.run && a.option == b.option; }

/// Everybody who is at such an instruction with this mask.
Meeting gather_members(Warp& w, const Inst& i, std::uint32_t named, std::uint32_t here) {
  Meeting m;
  m.add({&w, &i, here});
  for (std::uint32_t p = w.frame().first_path; p < w.paths.size(); ++p) {
    const Path& path = w.paths[p];
    if (path.members == named && same_kind(w.code[path.pc], i)) m.add({&w, &w.code[path.pc], path.mask, p});
  }
  if (w.whole) return m;
  for (const auto& other : w.cta->warps)
    if (other.get() != &w && other->number == w.number && other->state == WarpState::at_meeting && other->members == named &&
        same_kind(other->code[other->pc], i))
      m.add({other.get(), &other->code[other->pc], other->mask});
  return m;
}

void record(Warp& w, const Inst& i, std::uint32_t lanes) {
  ++w.executed;
  w.thread_executed += static_cast<std::uint64_t>(std::popcount(lanes));
  if (w.recorder != nullptr) w.events.emplace_back(w.frame().code->first_id + i.index, lanes);
}

/// Those that had waited go on behind the instruction.
void let_go(Warp& w, const Inst& i, const Meeting& m) {
  const bool all_of_path = w.active == w.mask;  // before others join
  for (unsigned n = 1; n < m.count; ++n) {
    const Meeting::Arrival& a = m.arrivals[n];
    if (a.path != kNone) {
      record(w, *a.inst, a.lanes);
      w.paths[a.path].members = 0;
      ++w.paths[a.path].pc;
      continue;
    }
    a.warp->state = WarpState::ready;
    a.warp->members = 0;
    ++a.warp->pc;
    flush_events(*a.warp);
    if (a.inst == &i && all_of_path && merge(w, *a.warp)) continue;
    record(*a.warp, *a.inst, a.lanes);
  }
}

/// A branch put aside in this function on which some of the lanes are, and nothing that leads to where others wait.
std::size_t path_of(const Warp& w, std::uint32_t lanes) {
  std::uint32_t above = w.mask;
  for (std::size_t p = w.paths.size(); p-- > w.frames.back().first_path;) {
    const Path& path = w.paths[p];
    if (path.members == 0 && (path.mask & lanes) != 0 && (path.mask & above) == 0) return p;
    above |= path.mask;
  }
  return kNone;
}

std::uint32_t elsewhere(const Warp& w) {
  std::uint32_t lanes = 0;
  if (!w.whole)
    for (const auto& other : w.cta->warps)
      if (other.get() != &w && other->number == w.number) lanes |= other->alive;
  return lanes;
}

struct Group {
  std::uint32_t named = 0, lanes = 0;
};

/// The instruction has not been executed yet for these lanes.
void forget(Warp& w, std::uint32_t lanes) {
  w.thread_executed -= static_cast<std::uint64_t>(std::popcount(lanes));
  if (lanes != w.active) return;
  --w.executed;
  if (w.recorder != nullptr) w.events.pop_back();
}

/// Puts the lanes aside, until the branch at `path` has been run or comes here as well.
void wait_for_path(Warp& w, const Inst& i, const Group& g, std::size_t path) {
  const Path next = w.paths[path];
  w.paths.erase(w.paths.begin() + static_cast<std::ptrdiff_t>(path));
  std::uint32_t meet = w.reconverge;
  if (g.lanes != w.mask && w.pc != meet) {
    w.paths.push_back({w.pc, meet, w.mask});
    meet = w.pc;
  }
  w.paths.push_back({i.index, meet, g.lanes, g.named});
  w.pc = next.pc, w.reconverge = next.reconverge, w.mask = next.mask;
}

void wait_for_part(Warp& w, const Inst& i, const Group& g) {
  if (g.lanes != w.alive) split_off(w, g.lanes);
  w.pc = i.index;
  w.members = g.named;
  w.state = WarpState::at_meeting;
  w.budget = 0;
}

/// What registers and local memory hold of some lanes.
void copy_lanes(Warp& to, const Warp& from, std::uint32_t lanes) {
  if (to.registers.size() < from.registers.size()) to.registers.resize(from.registers.size());
  if (to.local.size() < from.local.size()) to.local.resize(from.local.size());
  for (const Frame& frame : from.frames) {
    for (std::size_t r = 0; r < frame.code->register_refs.size(); ++r) {
      const Ref ref = frame.code->register_refs[r];
      const Type type = frame.code->function->registers[r].type;
      const std::size_t at = frame.first_register + (ref & kOffsetMask);
      if (type == Type::pred) {
        std::uint32_t mine = 0, theirs = 0;
        std::memcpy(&mine, &to.registers[at], sizeof mine), std::memcpy(&theirs, &from.registers[at], sizeof theirs);
        mine = (mine & ~lanes) | (theirs & lanes);
        std::memcpy(&to.registers[at], &mine, sizeof mine);
      } else {
        const unsigned bytes = size_of(type);
        for_active(lanes,
                   [&](unsigned l) { std::memcpy(&to.registers[at + l * bytes], &from.registers[at + l * bytes], bytes); });
      }
    }
  }
  for (std::uint64_t offset = 0; Warp::local_index(offset, kLanes) <= from.local.size(); offset += 16)
    for_active(lanes, [&](unsigned l) {
      std::memcpy(&to.local[Warp::local_index(offset, l)], &from.local[Warp::local_index(offset, l)], 16);
    });
  to.carry = (to.carry & ~lanes) | (from.carry & lanes);
  to.bank[kRegisters] = to.registers.data() + to.frame().first_register;
}

/// Calls f(path of a, path of b) for the branches that both have put aside. A part keeps some that none of its lanes is on,
/// from before it came apart: in the frame where they stand these need no partner. False: a branch with lanes has none.
template <class Part, class F> bool pair_paths(Part& a, const Warp& b, F f) {
  const std::size_t first = a.frames.back().first_path;
  std::size_t i = 0, j = 0;
  while (i < a.paths.size() || j < b.paths.size()) {
    const bool both = i < a.paths.size() && j < b.paths.size();
    if (both && a.paths[i].pc == b.paths[j].pc && a.paths[i].reconverge == b.paths[j].reconverge &&
        a.paths[i].members == b.paths[j].members)
      f(a.paths[i++], b.paths[j++]);
    else if (i >= first && i < a.paths.size() && a.paths[i].mask == 0)
      ++i;
    else if (j >= first && j < b.paths.size() && b.paths[j].mask == 0)
      ++j;
    else
      return false;
  }
  return true;
}

bool stand_together(const Warp& a, const Warp& b) {
  const auto same_frame = [](const Frame& x, const Frame& y) {
    return x.code == y.code && x.site == y.site && x.first_path == y.first_path && x.first_register == y.first_register &&
           x.first_local == y.first_local;
  };
  return a.pc == b.pc && a.reconverge == b.reconverge &&
         std::equal(a.frames.begin(), a.frames.end(), b.frames.begin(), b.frames.end(), same_frame) &&
         pair_paths(a, b, [](const Path&, const Path&) {});
}

}  // namespace

std::uint32_t living(const Warp& w) { return w.alive | elsewhere(w); }

bool merge(Warp& w, Warp& other) {
  if (!stand_together(w, other)) return false;
  copy_lanes(w, other, other.alive);
  w.mask |= other.mask, w.alive |= other.alive;
  if (w.cluster_phase == other.cluster_phase)
    w.cluster_lanes |= other.cluster_lanes;
  else if (w.cluster_phase < other.cluster_phase)
    w.cluster_phase = other.cluster_phase, w.cluster_lanes = other.cluster_lanes;
  pair_paths(w, other, [](Path& mine, const Path& theirs) { mine.mask |= theirs.mask; });
  for (std::size_t f = 0; f < w.frames.size(); ++f) w.frames[f].mask |= other.frames[f].mask;
  other.mask = other.alive = 0;
  other.state = WarpState::done;
  w.whole = elsewhere(w) == 0;
  return true;
}

void wake_meetings(const Warp& w) {
  if (w.whole) return;
  for (const auto& other : w.cta->warps)
    if (other->number == w.number && other->state == WarpState::at_meeting) other->state = WarpState::ready;
}

void meet(Warp& w, const Inst& i, Exchange exchange) {
  std::array<std::uint32_t, kLanes> mask{};  // a merge may move the registers
  std::memcpy(mask.data(), w.at<std::uint32_t>(i.src[3]), sizeof mask);
  const std::uint32_t alive = living(w);
  std::array<Group, kLanes> waiting{};
  unsigned waits = 0;
  for (std::uint32_t left = w.active; left != 0;) {
    const std::uint32_t named = mask[std::countr_zero(left)];
    const std::uint32_t here = left & lanes_where([&](unsigned l) { return mask[l] == named; });
    left &= ~here;
    Meeting m;
    if ((named & alive & ~here) == 0)
      m.add({&w, &i, here});
    else
      m = gather_members(w, i, named, here);
    m.named = named;
    const std::uint32_t missing = named & alive & ~m.members;
    if (missing != 0 && !w.alone && (path_of(w, missing) != kNone || (missing & elsewhere(w)) != 0)) {
      waiting[waits++] = {named, here};
      continue;
    }
    w.missed += missing != 0 || (here & ~named) != 0;
    if (AccessCheck* const check = w.launch->spec->check; check != nullptr) {
      if ((here & ~named) != 0)
        check->not_members(w, here & ~named);  // then others miss them as well, which follows from it
      else if (missing != 0)
        check->missed(w, missing);
    }
    exchange(m);
    let_go(w, i, m);
  }
  w.alone = false;
  // Each group that waits is put aside in its turn; the others of this path meet it again behind the instruction.
  if (waits == 0) return;
  const Group& g = waiting[0];
  std::uint32_t all = 0;
  for (unsigned n = 0; n < waits; ++n) all |= waiting[n].lanes;
  forget(w, all);
  const std::uint32_t missing = g.named & alive & ~g.lanes;
  const std::size_t path = path_of(w, missing);
  if (waits > 1) {  // one at a time: the other groups come back here first
    const std::uint32_t behind = w.pc;
    if (behind != w.reconverge) w.paths.push_back({behind, w.reconverge, w.mask});
    for (unsigned n = 1; n < waits; ++n) w.paths.push_back({i.index, behind, waiting[n].lanes});
    w.pc = i.index, w.reconverge = behind, w.mask = g.lanes;
    return;
  }
  if (path != kNone)
    wait_for_path(w, i, g, path);
  else
    wait_for_part(w, i, g);
}

}  // namespace atl::ptx::exec
