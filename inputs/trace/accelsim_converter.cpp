#include "inputs/trace/accelsim_converter.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "inputs/trace/coalesce.hpp"

namespace atl::accelsim {
namespace {

/// `count` registers from `first` on.
WarpTimeline::Registers group(std::uint16_t first, unsigned count) {
  static constexpr auto kNumbers = [] {
    std::array<std::uint32_t, kRegisters> all{};
    std::iota(all.begin(), all.end(), 0u);
    return all;
  }();
  if (first == kNoRegister) return {};
  return WarpTimeline::Registers(kNumbers).subspan(first, std::min<unsigned>(count, kRegisters - first));
}

/// What a memory instruction delivers: its first destination and those behind it.
WarpTimeline::Registers result_of(const SassInstruction& instruction) {
  if (instruction.destinations == 0) return {};
  return group(instruction.destination[0], instruction.opcode->result_registers);
}

}  // namespace

WarpOps WarpConverter::end_warp(CtaProgram& out) {
  std::vector<Op>& ops = timeline_.ops;
  if (ops.empty() || ops.back().kind != OpKind::exit) timeline_.end();
  const auto first_access = static_cast<std::uint32_t>(out.accesses.size());
  for (Op& op : ops) op.first_access += first_access;
  const WarpOps range{static_cast<std::uint32_t>(out.ops.size()), static_cast<std::uint32_t>(ops.size())};
  out.ops.insert(out.ops.end(), ops.begin(), ops.end());
  out.accesses.insert(out.accesses.end(), timeline_.accesses.begin(), timeline_.accesses.end());
  return range;
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
    timeline_.require(group(instruction.source[i], count), need);
  }
  for (unsigned i = 0; i < instruction.destinations; ++i)
    timeline_.require(group(instruction.destination[i], opcode.result_registers), need);
  return need;
}

void WarpConverter::compute(const SassInstruction& instruction, const Need& need) {
  results_.clear();
  for (unsigned i = 0; i < instruction.destinations; ++i)
    for (const std::uint32_t r : group(instruction.destination[i], instruction.opcode->result_registers))
      results_.push_back(r);
  timeline_.compute(need, 1, instruction.opcode->latency, results_, instruction.opcode->interval);
}

void WarpConverter::global(const SassInstruction& instruction, Action action, const Need& need) {
  const OpcodeInfo& opcode = *instruction.opcode;
  const WarpTimeline::Registers results = result_of(instruction);
  const OpKind kind = action == Action::store ? OpKind::store : action == Action::atomic ? OpKind::atomic : OpKind::load;
  const bool answers = kind == OpKind::load || (kind == OpKind::atomic && !results.empty());
  Op& op = action == Action::async_copy ? timeline_.copy(need) : timeline_.memory(kind, need, answers, results);
  op.flags = opcode.flags;
  Access found[64];
  op.accesses = static_cast<std::uint8_t>(coalesce(instruction.address, instruction.lanes, opcode.width, found));
  timeline_.accesses.insert(timeline_.accesses.end(), found, found + op.accesses);
  if (kind == OpKind::store && touches_partly(instruction.address, instruction.lanes, opcode.width, found, op.accesses))
    op.flags |= kPartial;
}

void WarpConverter::local(const SassInstruction& instruction, OpKind kind, const Need& need) {
  rows_.clear();
  const bool partly = coalesce_local(instruction.address, instruction.mask, instruction.opcode->width, rows_);
  timeline_.local(kind, instruction.opcode->flags & kBypassL1, need, rows_, partly, result_of(instruction));
}

/// Loads are copies that a barrier, or the wait at an mbarrier, finds.
void WarpConverter::bulk(const SassInstruction& instruction, const Need& need) {
  rows_.clear();
  bool partly = false;
  for (const std::uint64_t at : instruction.pieces) partly |= coalesce_range(at, instruction.piece_bytes, rows_);
  const Action action = instruction.opcode->action;
  const OpKind kind = action == Action::bulk_store    ? OpKind::store
                      : action == Action::bulk_reduce ? OpKind::atomic
                                                      : OpKind::load;
  timeline_.bulk(kind, action == Action::bulk_load, need, rows_, partly);
}

void WarpConverter::shared(const SassInstruction& instruction, const Need& need) {
  const OpcodeInfo& opcode = *instruction.opcode;
  const WarpTimeline::Registers results = result_of(instruction);
  Op& op = timeline_.memory(OpKind::shared, need, !results.empty(), results);
  const unsigned lanes = std::min<unsigned>(instruction.lanes, opcode.lanes);
  op.issue = static_cast<std::uint16_t>(shared_passes(instruction.address, lanes, opcode.width));
}

void WarpConverter::add(const SassInstruction& instruction, bool last) {
  const Action action = instruction.opcode->action;
  if (action == Action::exit && last) {
    timeline_.end();
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
    case Action::async_copy:
      if (instruction.space == Space::local)
        local(instruction, action == Action::store ? OpKind::store : OpKind::load, need);
      else if (instruction.space == Space::shared)
        shared(instruction, need);
      else
        global(instruction, action, need);
      break;
    case Action::shared_load:
    case Action::shared_store:
      shared(instruction, need);
      break;
    case Action::barrier:
      timeline_.memory(OpKind::barrier, need, false);
      break;
    case Action::async_commit:
      compute(instruction, need);
      timeline_.commit_copies();
      break;
    case Action::async_wait:
      timeline_.require_copies(static_cast<std::size_t>(std::max<std::int64_t>(instruction.immediate.value_or(0), 0)), false,
                               need);
      compute(instruction, need);
      break;
    case Action::bulk_load:
    case Action::bulk_store:
    case Action::bulk_reduce:
    case Action::bulk_prefetch:
      if (instruction.mask == 0 || instruction.pieces.empty())
        compute(instruction, need);
      else
        bulk(instruction, need);
      break;
    case Action::bulk_wait:
      timeline_.require_copies(~std::size_t{0}, true, need);
      compute(instruction, need);
      break;
    default:
      compute(instruction, need);
  }
}

}  // namespace atl::accelsim
