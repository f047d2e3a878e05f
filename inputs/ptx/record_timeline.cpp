#include "inputs/ptx/record_timeline.hpp"

#include <algorithm>
#include <bit>

namespace atl::ptx {
namespace {

constexpr std::uint64_t kLongestRun = 60000;  // cycles; with the longest latency behind it still fits Op::latency

}  // namespace

void WarpTimeline::begin(std::size_t registers) {
  ops.clear(), accesses.clear();
  registers_.assign(registers, {});
  op_start_ = last_issue_ = last_ready_ = over_ = 0;
  pending_ = open_group_ = 0, next_slot_ = 0;
  groups_.clear();
}

WarpTimeline::Need WarpTimeline::need_of(const RecordInfo& info, const std::uint32_t* registers) const {
  Need need;
  const unsigned count = info.sources + info.results;
  for (unsigned n = 0; n < count; ++n) {
    const Register& r = registers_[registers[n]];
    if (r.slot != kNoSlot) need.wait |= 1u << r.slot;
    need.ready = std::max(need.ready, r.ready);
  }
  // After a wait for a load, what was due before it is there (see start()).
  if (need.ready <= over_) need.ready = 0;
  return need;
}

void WarpTimeline::release(std::uint32_t slots) {
  open_group_ &= ~slots;
  for (std::uint32_t& group : groups_) group &= ~slots;
  for (slots &= pending_; slots != 0; slots &= slots - 1) {
    const auto slot = static_cast<unsigned>(std::countr_zero(slots));
    pending_ &= ~(1u << slot);
    for (unsigned n = 0; n < slots_[slot].count; ++n) {
      Register& r = registers_[slots_[slot].first[n]];
      if (r.slot == slot) r.slot = kNoSlot;
    }
  }
}

atl::Op& WarpTimeline::start(OpKind kind, const Need& need) {
  std::uint64_t now = 0;
  if (!ops.empty()) {
    now = std::max(last_issue_ + 1, need.ready);
    ops.back().latency = static_cast<std::uint16_t>(std::min<std::uint64_t>(now - op_start_, 0xFFFF));
  }
  op_start_ = last_issue_ = now;
  if (need.wait != 0) {
    release(need.wait);
    // A load takes longer than what is left of the fixed latencies, so these are over when it is back.
    over_ = std::max(over_, last_ready_);
  }
  atl::Op op;
  op.kind = kind;
  op.wait = need.wait;
  op.first_access = static_cast<std::uint32_t>(accesses.size());
  return ops.emplace_back(op);
}

void WarpTimeline::compute(const RecordInfo& info, const std::uint32_t* registers, bool writes) {
  compute(info, registers, writes, need_of(info, registers));
}

void WarpTimeline::compute(const RecordInfo& info, const std::uint32_t* registers, bool writes, const Need& need) {
  const std::uint64_t now = std::max(last_issue_ + 1, need.ready);
  const bool joins = need.wait == 0 && !ops.empty() && ops.back().kind == OpKind::compute &&
                     ops.back().issue + info.issue < 0xFFFF && now - op_start_ < kLongestRun;
  if (joins)
    last_issue_ = now;
  else
    start(OpKind::compute, need).issue = 0;
  ops.back().issue = static_cast<std::uint16_t>(ops.back().issue + info.issue);
  last_issue_ += info.issue - 1u;
  if (!writes || info.results == 0) return;
  const std::uint64_t done = last_issue_ + info.latency;
  for (unsigned n = info.sources; n < info.sources + info.results; ++n) registers_[registers[n]].ready = done;
  last_ready_ = std::max(last_ready_, done);
}

atl::Op& WarpTimeline::memory(OpKind kind, const RecordInfo& info, const std::uint32_t* registers, bool answers) {
  Need need = need_of(info, registers);
  if (kind == OpKind::barrier) need.wait |= open_group_;  // copies that nothing else will wait for
  const unsigned slot = next_slot_;
  if (answers) {
    next_slot_ = (next_slot_ + 1) % kScoreboardSlots;
    need.wait |= pending_ & (1u << slot);
  }
  atl::Op& op = start(kind, need);
  op.flags = info.flags;
  if (!answers) return op;
  op.slot = static_cast<std::uint8_t>(slot);
  pending_ |= 1u << slot;
  slots_[slot] = {registers + info.sources, info.results};
  for (unsigned n = info.sources; n < info.sources + info.results; ++n)
    registers_[registers[n]].slot = static_cast<std::uint8_t>(slot);
  return op;
}

bool WarpTimeline::rename(const RecordInfo& info, const std::uint32_t* registers) {
  const Need need = need_of(info, registers);
  if (need.wait != 0) return false;
  for (unsigned n = info.sources; n < info.sources + info.results; ++n) registers_[registers[n]].ready = need.ready;
  return true;
}

atl::Op& WarpTimeline::copy(const RecordInfo& info, const std::uint32_t* registers) {
  atl::Op& op = memory(OpKind::load, info, registers, true);
  open_group_ |= 1u << op.slot;
  return op;
}

void WarpTimeline::commit_copies() {
  groups_.push_back(open_group_);
  open_group_ = 0;
}

void WarpTimeline::wait_for_copies(const RecordInfo& info, const std::uint32_t* registers) {
  Need need = need_of(info, registers);
  if (info.width == 0) need.wait |= open_group_;  // wait_all means these as well
  while (groups_.size() > info.width) {
    need.wait |= groups_.front();
    groups_.erase(groups_.begin());
  }
  compute(info, registers, false, need);
}

void WarpTimeline::end() { start(OpKind::exit, {}); }

}  // namespace atl::ptx
