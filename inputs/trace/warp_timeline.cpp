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
  registers_.assign(registers, {});
  op_start_ = last_issue_ = last_ready_ = unit_free_ = 0;
  unit_epoch_ = 0;
  epoch_ = pending_ = open_group_ = 0, next_slot_ = 0;
  groups_.clear();
}

void WarpTimeline::require(Registers registers, Need& need) const {
  for (const std::uint32_t number : registers) {
    const Register& r = registers_[number];
    if (r.slot != kNoSlot) need.wait |= 1u << r.slot;
    if (r.epoch == epoch_) need.ready = std::max(need.ready, r.ready);
  }
}

void WarpTimeline::release(std::uint32_t slots) {
  open_group_ &= ~slots;
  for (std::uint32_t& group : groups_) group &= ~slots;
  for (slots &= pending_; slots != 0; slots &= slots - 1) {
    const auto slot = static_cast<unsigned>(std::countr_zero(slots));
    pending_ &= ~(1u << slot);
    for (const std::uint32_t number : delivers_[slot])
      if (registers_[number].slot == slot) registers_[number].slot = kNoSlot;
  }
}

/// Begins a new op at the first cycle that order and operands allow, which settles the latency of the op before.
Op& WarpTimeline::start(OpKind kind, const Need& need) {
  std::uint64_t now = 0;
  if (!ops.empty()) {
    now = std::max(last_issue_ + 1, need.ready);
    ops.back().latency = static_cast<std::uint16_t>(std::min<std::uint64_t>(now - op_start_, 0xFFFF));
  }
  op_start_ = last_issue_ = now;
  if (need.wait != 0) {
    release(need.wait);
    // A load takes longer than what is left of the fixed latencies, so these are over when it is back.
    if (last_ready_ > now) ++epoch_, last_ready_ = 0;
  }
  Op op;
  op.kind = kind;
  op.wait = need.wait;
  op.first_access = static_cast<std::uint32_t>(accesses.size());
  return ops.emplace_back(op);
}

void WarpTimeline::compute(const Need& asked, unsigned issue, unsigned latency, Registers results, unsigned interval) {
  Need need = asked;
  if (interval != 0 && unit_epoch_ == epoch_) need.ready = std::max(need.ready, unit_free_);
  const std::uint64_t now = std::max(last_issue_ + 1, need.ready);
  const bool joins = need.wait == 0 && !ops.empty() && ops.back().kind == OpKind::compute &&
                     ops.back().issue + issue < 0xFFFF && now - op_start_ < kLongestRun;
  if (joins)
    last_issue_ = now;
  else
    start(OpKind::compute, need).issue = 0;
  ops.back().issue = static_cast<std::uint16_t>(ops.back().issue + issue);
  last_issue_ += issue - 1u;
  if (interval != 0) {
    unit_free_ = last_issue_ + interval, unit_epoch_ = epoch_;
    last_ready_ = std::max(last_ready_, unit_free_);
  }
  if (results.empty()) return;
  const std::uint64_t done = last_issue_ + latency;
  for (const std::uint32_t r : results) registers_[r].ready = done, registers_[r].epoch = epoch_;
  last_ready_ = std::max(last_ready_, done);
}

Op& WarpTimeline::memory(OpKind kind, Need need, bool answers, Registers results) {
  if (kind == OpKind::barrier) need.wait |= open_group_;  // copies that nothing else will wait for
  const unsigned slot = next_slot_;
  if (answers) {
    next_slot_ = (next_slot_ + 1) % kScoreboardSlots;
    need.wait |= pending_ & (1u << slot);
  }
  Op& op = start(kind, need);
  if (!answers) return op;
  op.slot = static_cast<std::uint8_t>(slot);
  pending_ |= 1u << slot;
  delivers_[slot] = results;
  for (const std::uint32_t r : results) registers_[r].slot = static_cast<std::uint8_t>(slot);
  return op;
}

Op& WarpTimeline::local(OpKind kind, Need need, std::span<const Access> rows, bool partly, Registers results) {
  constexpr std::size_t kMost = 64;
  for (;;) {
    const std::span<const Access> now = rows.first(std::min(rows.size(), kMost));
    rows = rows.subspan(now.size());
    Op& op = memory(kind, need, kind == OpKind::load, rows.empty() ? results : Registers{});
    op.flags = static_cast<std::uint8_t>(kLocal | (partly && kind == OpKind::store ? kPartial : 0));
    op.accesses = static_cast<std::uint8_t>(now.size());
    accesses.insert(accesses.end(), now.begin(), now.end());
    if (rows.empty()) return op;
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
  for (const std::uint32_t r : results) registers_[r].ready = need.ready, registers_[r].epoch = epoch_;
  return true;
}

Op& WarpTimeline::copy(const Need& need) {
  Op& op = memory(OpKind::load, need, true);
  open_group_ |= 1u << op.slot;
  return op;
}

void WarpTimeline::commit_copies() {
  if (groups_.size() == kMostGroups) groups_[1] |= groups_[0], groups_.erase(groups_.begin());
  groups_.push_back(open_group_);
  open_group_ = 0;
}

void WarpTimeline::require_copies(std::size_t outstanding, bool all, Need& need) {
  if (all) need.wait |= open_group_;
  for (; groups_.size() > outstanding; groups_.erase(groups_.begin())) need.wait |= groups_.front();
}

void WarpTimeline::end() { start(OpKind::exit, {}); }

}  // namespace atl
