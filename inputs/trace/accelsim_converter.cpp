#include "inputs/trace/accelsim_converter.hpp"

#include <algorithm>

#include "inputs/trace/coalesce.hpp"

namespace atl::accelsim {
namespace {

constexpr std::uint64_t kSharedWindow = 1u << 24;
constexpr std::uint64_t kLongestRun = 60000;  // cycles; with the longest latency behind it still fits Op::latency
constexpr std::size_t kMostGroups = 32;

template <typename F> void each_bit(std::uint32_t mask, F f) {
  for (; mask; mask &= mask - 1) f(static_cast<unsigned>(std::countr_zero(mask)));
}

}  // namespace

void WarpConverter::begin_warp(CtaProgram& out) {
  out_ = &out;
  first_op_ = static_cast<std::uint32_t>(out.ops.size());
  op_start_ = last_issue_ = last_ready_ = 0;
  ready_.fill(0);
  slot_of_.fill(kNoSlot);
  pending_ = open_group_ = 0;
  next_slot_ = 0;
  groups_.clear();
}

WarpOps WarpConverter::end_warp() {
  std::vector<Op>& ops = out_->ops;
  if (ops.size() == first_op_ || ops.back().kind != OpKind::exit) start(OpKind::exit, {});
  return {first_op_, static_cast<std::uint32_t>(ops.size()) - first_op_};
}

bool WarpConverter::in_shared(std::uint64_t address) const {
  return shared_base_ != 0 && address >= shared_base_ && address - shared_base_ < kSharedWindow;
}

void WarpConverter::require(std::uint16_t first, unsigned count, Need& need) const {
  if (first == kNoRegister) return;
  const unsigned end = std::min<unsigned>(first + count, kRegisters);
  for (unsigned r = first; r < end; ++r) {
    if (slot_of_[r] != kNoSlot) need.wait |= 1u << slot_of_[r];
    need.ready = std::max(need.ready, ready_[r]);
  }
}

WarpConverter::Need WarpConverter::needs_of(const SassInstruction& instruction, bool memory) const {
  const OpcodeInfo& opcode = *instruction.opcode;
  Need need;
  for (unsigned i = 0; i < instruction.sources; ++i) {
    // Traces name only the first register of a group: of a 64-bit address, and of the data of a wide store.
    unsigned count = 1;
    if (memory && i == 0)
      count = opcode.wide_address ? 2 : 1;
    else if (memory)
      count = opcode.result_registers;
    if (instruction.source[i] >= 256) count = 1;
    require(instruction.source[i], count, need);
  }
  for (unsigned i = 0; i < instruction.destinations; ++i) require(instruction.destination[i], opcode.result_registers, need);
  return need;
}

void WarpConverter::release(std::uint32_t slots) {
  slots &= pending_;
  if (slots == 0) return;
  pending_ &= ~slots;
  each_bit(slots, [&](unsigned slot) {
    for (unsigned r = slots_[slot].first, end = r + slots_[slot].count; r < end; ++r)
      if (slot_of_[r] == slot) slot_of_[r] = kNoSlot;
  });
  open_group_ &= ~slots;
  for (std::uint32_t& group : groups_) group &= ~slots;
}

unsigned WarpConverter::take_slot(Need& need) {
  const unsigned slot = next_slot_;
  next_slot_ = (next_slot_ + 1) % kScoreboardSlots;
  if (pending_ & (1u << slot)) need.wait |= 1u << slot;
  return slot;
}

void WarpConverter::deliver(unsigned slot, std::uint16_t first, unsigned count) {
  pending_ |= 1u << slot;
  slots_[slot] = {};
  if (first == kNoRegister) return;
  const unsigned end = std::min<unsigned>(first + count, kRegisters);
  slots_[slot] = {first, static_cast<std::uint16_t>(end - first)};
  for (unsigned r = first; r < end; ++r) slot_of_[r] = static_cast<std::uint8_t>(slot);
}

/// The slots of all committed groups but the newest `outstanding`, which stay.
std::uint32_t WarpConverter::take_groups(std::uint64_t outstanding) {
  std::uint32_t slots = 0;
  const std::size_t taken = groups_.size() - std::min<std::uint64_t>(groups_.size(), outstanding);
  for (std::size_t i = 0; i < taken; ++i) slots |= groups_[i];
  groups_.erase(groups_.begin(), groups_.begin() + static_cast<std::ptrdiff_t>(taken));
  return slots;
}

/// Begins a new op at the first cycle that order and operands allow, which settles the latency of the op before.
Op& WarpConverter::start(OpKind kind, const Need& need) {
  std::vector<Op>& ops = out_->ops;
  std::uint64_t now = 0;
  if (ops.size() > first_op_) {
    now = std::max(last_issue_ + 1, need.ready);
    ops.back().latency = static_cast<std::uint16_t>(now - op_start_);
  }
  op_start_ = last_issue_ = now;
  if (need.wait) {
    release(need.wait);
    // A load takes longer than what is left of the fixed latencies, so these are over when it is back.
    if (last_ready_ > now) ready_.fill(0), last_ready_ = 0;
  }
  Op op;
  op.kind = kind;
  op.wait = need.wait;
  op.first_access = static_cast<std::uint32_t>(out_->accesses.size());
  return ops.emplace_back(op);
}

void WarpConverter::compute(const SassInstruction& instruction, Need need) {
  std::vector<Op>& ops = out_->ops;
  const std::uint64_t now = std::max(last_issue_ + 1, need.ready);
  const bool joins = need.wait == 0 && ops.size() > first_op_ && ops.back().kind == OpKind::compute &&
                     ops.back().issue < 0xFFFF && now - op_start_ < kLongestRun;
  if (joins) {
    ++ops.back().issue;
    last_issue_ = now;
  } else {
    start(OpKind::compute, need);
  }
  const std::uint64_t done = last_issue_ + instruction.opcode->latency;
  for (unsigned i = 0; i < instruction.destinations; ++i) {
    if (instruction.destination[i] == kNoRegister) continue;
    const unsigned first = instruction.destination[i];
    const unsigned end = std::min<unsigned>(first + instruction.opcode->result_registers, kRegisters);
    std::fill(ready_.begin() + first, ready_.begin() + end, done);
    last_ready_ = std::max(last_ready_, done);
  }
}

void WarpConverter::global(const SassInstruction& instruction, Action action, Need need) {
  const OpcodeInfo& opcode = *instruction.opcode;
  const std::uint16_t result = instruction.destinations > 0 ? instruction.destination[0] : kNoRegister;
  const bool answers =
      action == Action::load || action == Action::async_copy || (action == Action::atomic && result != kNoRegister);
  const unsigned slot = answers ? take_slot(need) : kNoSlot;
  const OpKind kind = action == Action::store ? OpKind::store : action == Action::atomic ? OpKind::atomic : OpKind::load;
  Op& op = start(kind, need);
  op.slot = static_cast<std::uint8_t>(slot);
  op.flags = opcode.flags;
  Access found[64];
  op.accesses = static_cast<std::uint8_t>(coalesce(instruction.address, instruction.lanes, opcode.width, found));
  out_->accesses.insert(out_->accesses.end(), found, found + op.accesses);
  if (kind == OpKind::store && touches_partly(instruction.address, instruction.lanes, opcode.width, found, op.accesses))
    op.flags |= kPartial;
  if (!answers) return;
  if (action == Action::async_copy) {
    deliver(slot, kNoRegister, 0);
    open_group_ |= 1u << slot;
  } else {
    deliver(slot, result, opcode.result_registers);
  }
}

void WarpConverter::shared(const SassInstruction& instruction, Need need) {
  const OpcodeInfo& opcode = *instruction.opcode;
  const std::uint16_t result = instruction.destinations > 0 ? instruction.destination[0] : kNoRegister;
  const unsigned slot = result != kNoRegister ? take_slot(need) : kNoSlot;
  Op& op = start(OpKind::shared, need);
  op.slot = static_cast<std::uint8_t>(slot);
  const unsigned lanes = std::min<unsigned>(instruction.lanes, opcode.lanes);
  op.issue = static_cast<std::uint16_t>(shared_passes(instruction.address, lanes, opcode.width));
  if (result != kNoRegister) deliver(slot, result, opcode.result_registers);
}

void WarpConverter::add(const SassInstruction& instruction, bool last) {
  const Action action = instruction.opcode->action;
  if (action == Action::exit && last) {
    start(OpKind::exit, {});
    return;
  }
  const bool memory = action >= Action::load && action <= Action::async_copy;
  Need need = needs_of(instruction, memory);
  if (instruction.mask == 0 && (memory || action == Action::barrier)) {
    // All lanes are predicated off: an issue slot and nothing else, and no register is written.
    SassInstruction off = instruction;
    off.destinations = 0;
    compute(off, need);
    return;
  }
  switch (action) {
    case Action::load:
    case Action::store:
    case Action::atomic:
      if (instruction.opcode->generic && in_shared(instruction.address[0]))
        shared(instruction, need);
      else
        global(instruction, action, need);
      break;
    case Action::async_copy:
      // A tracer that records both sides of the copy has a second line with the shared-memory side.
      if (instruction.address[0] < kSharedWindow || in_shared(instruction.address[0]))
        shared(instruction, need);
      else
        global(instruction, action, need);
      break;
    case Action::shared_load:
    case Action::shared_store:
      shared(instruction, need);
      break;
    case Action::barrier:
      need.wait |= open_group_;
      start(OpKind::barrier, need);
      break;
    case Action::async_commit:
      compute(instruction, need);
      if (groups_.size() == kMostGroups) groups_[1] |= groups_[0], groups_.erase(groups_.begin());
      groups_.push_back(open_group_);
      open_group_ = 0;
      break;
    case Action::async_wait: {
      const std::int64_t outstanding = instruction.immediate.value_or(0);
      need.wait |= take_groups(outstanding > 0 ? static_cast<std::uint64_t>(outstanding) : 0);
      compute(instruction, need);
      break;
    }
    default:
      compute(instruction, need);
  }
}

}  // namespace atl::accelsim
