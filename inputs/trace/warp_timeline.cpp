#include "inputs/trace/warp_timeline.hpp"

#include <algorithm>
#include <bit>

namespace atl {
namespace {

constexpr std::uint64_t kLongestRun = 60000;  // cycles; with the longest latency behind it still fits Op::latency
constexpr std::size_t kMostGroups = 32;       // more than there are slots

}  // namespace

void WarpTimeline::begin(std::size_t registers) {
  ops.clear(), accesses.clear();
  s_.registers.assign(registers, {});
  s_.op_start = s_.last_issue = s_.last_ready = s_.unit_free = 0;
  s_.unit_epoch = 0;
  s_.epoch = s_.pending = s_.open_group = 0, s_.next_slot = 0;
  s_.groups.clear();
}

void WarpTimeline::require(Registers registers, Need& need) const {
  for (const std::uint32_t number : registers) {
    const Register& r = s_.registers[number];
    if (r.slot != kNoSlot) need.wait |= 1u << r.slot;
    if (r.epoch == s_.epoch) need.ready = std::max(need.ready, r.ready);
  }
}

void WarpTimeline::release(std::uint32_t slots) {
  s_.open_group &= ~slots;
  for (std::uint32_t& group : s_.groups) group &= ~slots;
  for (slots &= s_.pending; slots != 0; slots &= slots - 1) {
    const auto slot = static_cast<unsigned>(std::countr_zero(slots));
    s_.pending &= ~(1u << slot);
    for (const std::uint32_t number : s_.delivers[slot])
      if (s_.registers[number].slot == slot) s_.registers[number].slot = kNoSlot;
  }
}

/// Begins a new op at the first cycle that order and operands allow, which settles the latency of the op before.
Op& WarpTimeline::start(OpKind kind, const Need& need) {
  std::uint64_t now = 0;
  if (!ops.empty()) {
    now = std::max(s_.last_issue + 1, need.ready);
    ops.back().latency = static_cast<std::uint16_t>(std::min<std::uint64_t>(now - s_.op_start, 0xFFFF));
  }
  s_.op_start = s_.last_issue = now;
  if (need.wait != 0) {
    release(need.wait);
    // A load takes longer than what is left of the fixed latencies, so these are over when it is back.
    if (s_.last_ready > now) ++s_.epoch, s_.last_ready = 0;
  }
  Op op;
  op.kind = kind;
  op.wait = need.wait;
  op.first_access = static_cast<std::uint32_t>(accesses.size());
  return ops.emplace_back(op);
}

void WarpTimeline::compute(const Need& asked, unsigned issue, unsigned latency, Registers results, unsigned interval) {
  Need need = asked;
  if (interval != 0 && s_.unit_epoch == s_.epoch) need.ready = std::max(need.ready, s_.unit_free);
  const std::uint64_t now = std::max(s_.last_issue + 1, need.ready);
  const bool joins = need.wait == 0 && !ops.empty() && ops.back().kind == OpKind::compute &&
                     ops.back().issue + issue < 0xFFFF && now - s_.op_start < kLongestRun;
  if (joins)
    s_.last_issue = now;
  else
    start(OpKind::compute, need).issue = 0;
  ops.back().issue = static_cast<std::uint16_t>(ops.back().issue + issue);
  s_.last_issue += issue - 1u;
  if (interval != 0) {
    s_.unit_free = s_.last_issue + interval, s_.unit_epoch = s_.epoch;
    s_.last_ready = std::max(s_.last_ready, s_.unit_free);
  }
  if (results.empty()) return;
  const std::uint64_t done = s_.last_issue + latency;
  for (const std::uint32_t r : results) s_.registers[r].ready = done, s_.registers[r].epoch = s_.epoch;
  s_.last_ready = std::max(s_.last_ready, done);
}

Op& WarpTimeline::memory(OpKind kind, Need need, bool answers, Registers results) {
  if (kind == OpKind::barrier) need.wait |= s_.open_group;  // copies that nothing else will wait for
  const unsigned slot = s_.next_slot;
  if (answers) {
    s_.next_slot = (s_.next_slot + 1) % kScoreboardSlots;
    need.wait |= s_.pending & (1u << slot);
  }
  Op& op = start(kind, need);
  if (!answers) return op;
  op.slot = static_cast<std::uint8_t>(slot);
  s_.pending |= 1u << slot;
  s_.delivers[slot] = results;
  for (const std::uint32_t r : results) s_.registers[r].slot = static_cast<std::uint8_t>(slot);
  return op;
}

void WarpTimeline::local(OpKind kind, std::uint8_t flags, Need need, std::span<const Access> rows, bool partly,
                         Registers results) {
  constexpr std::size_t kMost = 64;
  flags = static_cast<std::uint8_t>(flags | kLocal | (partly && kind == OpKind::store ? kPartial : 0));
  for (;;) {
    const std::span<const Access> now = rows.first(std::min(rows.size(), kMost));
    rows = rows.subspan(now.size());
    Op& op = memory(kind, need, kind == OpKind::load, rows.empty() ? results : Registers{});
    op.flags = flags;
    op.accesses = static_cast<std::uint8_t>(now.size());
    accesses.insert(accesses.end(), now.begin(), now.end());
    if (rows.empty()) return;
    need = {};
  }
}

void WarpTimeline::bulk(OpKind kind, bool copies, Need need, std::span<const Access> rows, bool partly) {
  constexpr std::size_t kMost = 64;
  for (; !rows.empty(); need = {}) {
    const std::span<const Access> now = rows.first(std::min(rows.size(), kMost));
    rows = rows.subspan(now.size());
    Op& op = copies ? copy(need) : memory(kind, need, kind == OpKind::load);
    if (kind == OpKind::load) op.flags = kBypassL1;
    if (kind == OpKind::store && partly) op.flags = kPartial;
    op.accesses = static_cast<std::uint8_t>(now.size());
    accesses.insert(accesses.end(), now.begin(), now.end());
  }
}

bool WarpTimeline::rename(const Need& need, Registers results) {
  if (need.wait != 0) return false;
  for (const std::uint32_t r : results) s_.registers[r].ready = need.ready, s_.registers[r].epoch = s_.epoch;
  return true;
}

Op& WarpTimeline::copy(const Need& need) {
  Op& op = memory(OpKind::load, need, true);
  s_.open_group |= 1u << op.slot;
  return op;
}

void WarpTimeline::commit_copies() {
  if (s_.groups.size() == kMostGroups) s_.groups[1] |= s_.groups[0], s_.groups.erase(s_.groups.begin());
  s_.groups.push_back(s_.open_group);
  s_.open_group = 0;
}

void WarpTimeline::require_copies(std::size_t outstanding, bool all, Need& need) {
  if (all) need.wait |= s_.open_group;
  for (; s_.groups.size() > outstanding; s_.groups.erase(s_.groups.begin())) need.wait |= s_.groups.front();
}

void WarpTimeline::end() { start(OpKind::exit, {}); }

void WarpTimeline::end(const State& state) {
  s_.op_start = state.op_start, s_.last_issue = state.last_issue;  // an exit waits for nothing, so that no more matters
  end();
}

}  // namespace atl
