#pragma once
#include "inputs/workload/workload.hpp"
#include "tests/fuzz/harness.hpp"

namespace atl::fuzz {

/// What the SMs rely on, whatever the source of a CTA.
inline void check_program(const KernelInfo& kernel, const CtaProgram& cta) {
  require(cta.warps.size() <= kernel.warps(), "a CTA has no more warps than its kernel's block");
  for (const WarpOps& warp : cta.warps) {
    require(std::uint64_t{warp.first} + warp.count <= cta.ops.size(), "a warp's ops are its CTA's");
    if (warp.count == 0) continue;
    require(cta.ops[warp.first + warp.count - 1].kind == OpKind::exit, "a warp ends with an exit");
    for (std::uint32_t i = 0; i < warp.count; ++i) {
      const Op& op = cta.ops[warp.first + i];
      require(op.kind <= OpKind::exit && op.issue > 0, "an op has a kind and an issue slot");
      require(op.issue == 1 || has_issue_slots(op.kind), "only compute and shared accesses have several issue slots");
      require(op.slot < kScoreboardSlots || op.slot == kNoSlot, "a scoreboard slot exists");
      require(op.slot == kNoSlot || has_result(op.kind), "what has a scoreboard slot has a result");
      require(std::uint64_t{op.first_access} + op.accesses <= cta.accesses.size(), "an op's accesses are its CTA's");
    }
  }
  for (const Access& access : cta.accesses) require(access.sectors() != 0, "an access touches a sector");
}

}  // namespace atl::fuzz
