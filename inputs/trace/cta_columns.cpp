#include "inputs/trace/cta_columns.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "inputs/trace/address_codec.hpp"
#include "inputs/trace/trace_format.hpp"

namespace atl {
namespace {

using namespace trace_format;

constexpr std::uint8_t kFlags = kReadOnly | kBypassL1 | kPartial | kLocal;

const char* fault_of(const Op& op, std::span<const Access> accesses) {
  if (op.kind > OpKind::exit) return "an unknown kind";
  if (op.issue == 0) return "no issue slot";
  if (op.issue != 1 && !has_issue_slots(op.kind)) return "several issue slots, and is neither compute nor a shared access";
  if (op.slot != kNoSlot && op.slot >= kScoreboardSlots) return "a scoreboard slot above 31";
  if (op.slot != kNoSlot && !has_result(op.kind)) return "a scoreboard slot, and is no load, atomic or shared access";
  if (op.flags & ~kFlags) return "an unknown flag";
  if (op.accesses > kMaxAccesses) return "more than 64 accesses";
  if (op.accesses > 0 && std::uint64_t{op.first_access} + op.accesses > accesses.size()) return "accesses outside its CTA's";
  if (op.accesses > 0 && !has_accesses(op.kind)) return "accesses, and is no load, store or atomic";
  if ((op.flags & kLocal) != 0) {
    const Access* first = accesses.data() + op.first_access;
    if ((op.kind != OpKind::load && op.kind != OpKind::store) ||
        std::any_of(first, first + op.accesses, [](const Access& a) { return a.block() >= kLocalRows; }))
      return "an access of local memory that is no load or store of a thread's 16 MiB";
  }
  return nullptr;
}

/// Quicker than fault_of(), and true only if there is none but in the accesses.
bool is_plain(const Op& op) {
  const bool slot = (op.slot == kNoSlot) | ((op.slot < kScoreboardSlots) & has_result(op.kind));
  const bool issue = (op.issue == 1) | ((op.issue != 0) & has_issue_slots(op.kind));
  return slot & issue & (op.kind <= OpKind::exit) & ((op.flags & ~(kFlags & ~kLocal)) == 0) & (op.accesses <= kMaxAccesses) &
         ((op.accesses == 0) | has_accesses(op.kind));
}

/// Where its accesses lie does not matter.
bool same_ops(std::span<const Op> a, std::span<const Op> b) {
  constexpr std::size_t kPiece = 64;
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size();) {
    const std::size_t end = std::min(i + kPiece, a.size());
    std::uint64_t differs = 0;  // no early exit: the loop becomes vector code
    for (; i < end; ++i) {
      std::uint64_t x = 0, y = 0;
      static_assert(sizeof(Op) - offsetof(Op, issue) == sizeof x);
      std::memcpy(&x, &a[i].issue, sizeof x), std::memcpy(&y, &b[i].issue, sizeof y);
      differs |= (x ^ y) | (a[i].wait ^ b[i].wait);
    }
    if (differs != 0) return false;
  }
  return true;
}

/// What is wrong, if encode_ops() was not sure that nothing is.
std::string fault_of_ops(std::span<const WarpView> warps) {
  std::size_t number = 0;  // in the CTA
  for (const WarpView& warp : warps) {
    for (const Op& op : warp.ops) {
      if (const char* fault = fault_of(op, warp.accesses)) return ", op " + std::to_string(number) + " has " + fault;
      ++number;
    }
    if (!warp.ops.empty() && warp.ops.back().kind != OpKind::exit) return " has a warp that does not end with an exit";
    if (std::ranges::count(warp.ops, OpKind::exit, &Op::kind) > 1) return " has ops behind the exit of a warp";
  }
  return {};
}

}  // namespace

void CtaColumns::encode(const CtaProgram& cta, std::uint32_t most_warps) {
  views_.clear();
  for (const WarpOps& warp : cta.warps) {
    if (std::uint64_t{warp.first} + warp.count > cta.ops.size()) {
      fault_ = " has a warp with ops outside its CTA's";
      return;
    }
    views_.push_back({std::span(cta.ops).subspan(warp.first, warp.count), cta.accesses});
  }
  encode(views_, most_warps);
}

void CtaColumns::encode(std::span<const WarpView> warps, std::uint32_t most_warps) {
  fault_.clear();
  if (warps.size() > most_warps) {
    fault_ = " has more warps than its kernel's blocks";
    return;
  }
  const bool plain = encode_ops(warps);
  if (!encode_accesses(warps) || !plain) {
    if (std::string fault = fault_of_ops(warps); !fault.empty()) fault_ = std::move(fault);
  }
}

/// False: something may be wrong.
bool CtaColumns::encode_ops(std::span<const WarpView> warps) {
  ops = 0;
  for (const WarpView& warp : warps) ops += warp.ops.size();
  op_kind.prepare(ops), op_slot.prepare(ops), op_flags.prepare(ops), op_accesses.prepare(ops);
  op_issue.prepare(ops), op_latency.prepare(ops), op_wait.prepare(ops);
  std::uint32_t* program_of = warp_program.prepare(warps.size());
  program_ops.prepare(warps.size());
  program_ops.size = 0;
  keys.clear(), program_accesses_.clear();
  std::size_t at = 0;  // of the programs' ops
  bool plain = true;
  for (std::size_t n = 0; n < warps.size(); ++n) {
    const std::span<const Op> program = warps[n].ops;
    if (n > 0 && same_ops(program, warps[n - 1].ops)) {
      program_of[n] = program_of[n - 1];
      continue;
    }
    plain &= program.empty() || program.back().kind == OpKind::exit;
    plain &= encode_program(program, at);
    ContentKey key;
    const auto add = [&](const auto& column) { key.add(column.values.data() + at, program.size()); };
    add(op_kind), add(op_slot), add(op_flags), add(op_accesses), add(op_issue), add(op_latency), add(op_wait);
    program_of[n] = number_of(key.value());
    if (program_of[n] != program_ops.size) continue;  // what was encoded is overwritten
    program_ops.values[program_ops.size++] = static_cast<std::uint32_t>(program.size());
    std::uint32_t accesses = 0;
    for (std::size_t i = 0; i < program.size(); ++i) accesses += op_accesses.values[at + i];
    program_accesses_.push_back(accesses);
    at += program.size();
  }
  for (auto* column : {&op_kind, &op_slot, &op_flags, &op_accesses}) column->size = at;
  op_issue.size = op_latency.size = op_wait.size = at;
  return plain;
}

/// Into the columns of ops from `at` on. False: something may be wrong.
bool CtaColumns::encode_program(std::span<const Op> program, std::size_t at) {
  std::uint8_t *kind = op_kind.values.data() + at, *slot = op_slot.values.data() + at, *flags = op_flags.values.data() + at,
               *accesses = op_accesses.values.data() + at;
  std::uint16_t *issue = op_issue.values.data() + at, *latency = op_latency.values.data() + at;
  std::uint32_t* wait = op_wait.values.data() + at;
  bool plain = true;
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Op& op = program[i];
    plain &= is_plain(op) & ((op.kind != OpKind::exit) | (i + 1 == program.size()));
    kind[i] = static_cast<std::uint8_t>(op.kind);
    slot[i] = op.slot;
    flags[i] = op.flags;
    accesses[i] = op.accesses;
    issue[i] = op.issue;
    latency[i] = op.latency;
    wait[i] = op.wait;
  }
  return plain;
}

/// The program of this CTA that has the key; a new one gets the next number.
std::uint32_t CtaColumns::number_of(const ContentKey::Value& key) {
  const auto known = std::find(keys.begin(), keys.end(), key);
  const auto number = static_cast<std::uint32_t>(known - keys.begin());
  if (known == keys.end()) keys.push_back(key);
  return number;
}

/// False: something may be wrong.
bool CtaColumns::encode_accesses(std::span<const WarpView> warps) {
  std::size_t most = 0;
  for (std::size_t i = 0; i < warp_program.size; ++i) most += program_accesses_[warp_program.values[i]];
  std::uint8_t *sectors = access_sectors.prepare(most), *delta = access_delta.prepare(most * kMostDeltaBytes);
  bool any = false;
  unsigned unknown = 0, none = 0;
  first_start = last_start = 0;
  for (const WarpView& warp : warps) {
    // The first access of a warp is a difference to the first one of the warp before: neighbours do the same elsewhere.
    std::uint64_t previous = last_start;
    bool first = true;
    for (const Op& op : warp.ops) {
      if (op.accesses == 0) continue;
      if (std::uint64_t{op.first_access} + op.accesses > warp.accesses.size()) return false;
      const Access* access = warp.accesses.data() + op.first_access;
      for (const Access* last = access + op.accesses; access != last; ++access) {
        const std::uint64_t block = access->block();
        unknown |= access->packed & 0xF0, none |= access->sectors() == 0;
        *sectors++ = static_cast<std::uint8_t>(access->sectors());
        if (any) delta = put_delta(delta, previous, block);
        previous = block;
        if (!first) continue;
        if (!any) first_start = block;
        last_start = block;
        first = false, any = true;
      }
    }
  }
  access_delta.size = static_cast<std::size_t>(delta - access_delta.values.data());
  if (unknown != 0) fault_ = " has an access to sectors that do not exist";
  if (none != 0) fault_ = " has an access to no sector";
  return true;
}

}  // namespace atl
