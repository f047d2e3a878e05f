#include "inputs/trace/cta_columns.hpp"

#include <algorithm>

#include "inputs/trace/address_codec.hpp"
#include "inputs/trace/trace_format.hpp"

namespace atl {
namespace {

using namespace trace_format;

constexpr std::uint8_t kFlags = kReadOnly | kBypassL1 | kPartial | kLocal;

const char* fault_of(const Op& op, std::span<const Access> accesses) {
  if (op.kind > OpKind::exit) return "an unknown kind";
  if (op.issue == 0) return "no issue slot";
  if (op.slot != kNoSlot && op.slot >= kScoreboardSlots) return "a scoreboard slot above 31";
  if (op.flags & ~kFlags) return "an unknown flag";
  if (op.accesses > kMaxAccesses) return "more than 64 accesses";
  if (op.accesses > 0 && std::uint64_t{op.first_access} + op.accesses > accesses.size()) return "accesses outside its CTA's";
  if ((op.flags & kLocal) != 0) {
    const Access* first = accesses.data() + op.first_access;
    if ((op.kind != OpKind::load && op.kind != OpKind::store) ||
        std::any_of(first, first + op.accesses, [](const Access& a) { return a.block() >= kLocalRows; }))
      return "an access of local memory that is no load or store of a thread's 16 MiB";
  }
  return nullptr;
}

/// Quicker than fault_of(), and true only if there is none.
bool is_plain(const Op& op, std::size_t accesses) {
  const bool slot = (op.slot < kScoreboardSlots) | (op.slot == kNoSlot);
  const bool within = std::uint64_t{op.first_access} + op.accesses <= accesses;
  return slot & within & (op.kind <= OpKind::exit) & (op.issue != 0) & ((op.flags & ~(kFlags & ~kLocal)) == 0) &
         (op.accesses <= kMaxAccesses);
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
  if (!encode_ops(warps)) fault_ = fault_of_ops(warps);
  if (fault_.empty()) encode_accesses(warps);
}

/// False: something may be wrong.
bool CtaColumns::encode_ops(std::span<const WarpView> warps) {
  std::size_t count = 0;
  std::uint32_t* ops_of = warp_ops.prepare(warps.size());
  for (const WarpView& warp : warps) count += * ops_of++ = static_cast<std::uint32_t>(warp.ops.size());
  std::uint8_t *kind = op_kind.prepare(count), *slot = op_slot.prepare(count), *flags = op_flags.prepare(count),
               *accesses = op_accesses.prepare(count);
  std::uint16_t *issue = op_issue.prepare(count), *latency = op_latency.prepare(count);
  std::uint32_t* wait = op_wait.prepare(count);
  std::size_t at = 0;
  bool plain = true;
  for (const WarpView& warp : warps) {
    plain &= warp.ops.empty() || warp.ops.back().kind == OpKind::exit;
    for (const Op& op : warp.ops) {
      plain &= is_plain(op, warp.accesses.size());
      kind[at] = static_cast<std::uint8_t>(op.kind);
      slot[at] = op.slot;
      flags[at] = op.flags;
      accesses[at] = op.accesses;
      issue[at] = op.issue;
      latency[at] = op.latency;
      wait[at] = op.wait;
      ++at;
    }
  }
  return plain;
}

void CtaColumns::encode_accesses(std::span<const WarpView> warps) {
  std::size_t most = 0;
  for (std::size_t i = 0; i < op_accesses.size; ++i) most += op_accesses.values[i];
  std::uint8_t *sectors = access_sectors.prepare(most), *delta = access_delta.prepare(most * kMostDeltaBytes);
  bool any = false;
  unsigned unknown = 0;
  first_start = last_start = 0;
  for (const WarpView& warp : warps) {
    // The first access of a warp is a difference to the first one of the warp before: neighbours do the same elsewhere.
    std::uint64_t previous = last_start;
    bool first = true;
    for (const Op& op : warp.ops) {
      const Access* access = warp.accesses.data() + op.first_access;
      for (const Access* last = access + op.accesses; access != last; ++access) {
        const std::uint64_t block = access->block();
        unknown |= access->packed & 0xF0;
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
}

}  // namespace atl
