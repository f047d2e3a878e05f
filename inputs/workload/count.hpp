#pragma once
#include <bit>
#include <cstdint>

#include "inputs/workload/workload.hpp"

namespace atl {

/// Warp instructions of an op: those that a compute op stands for. The passes of a shared-memory op are bank conflicts, no
/// instructions.
inline std::uint32_t instructions_of(const Op& op) { return op.kind == OpKind::compute ? op.issue : 1u; }

/// Sectors of global and local memory that an op touches.
inline std::uint32_t sectors_of(const Op& op, const CtaProgram& program) {
  if (!has_accesses(op.kind)) return 0;
  std::uint32_t sectors = 0;
  for (std::uint32_t a = 0; a < op.accesses; ++a)
    sectors += static_cast<std::uint32_t>(std::popcount(program.accesses[op.first_access + a].sectors()));
  return sectors;
}

/// Of all warps of a CTA.
inline std::uint64_t count_instructions(const CtaProgram& cta) {
  std::uint64_t total = 0;
  for (const WarpOps& warp : cta.warps)
    for (std::uint32_t i = 0; i < warp.count; ++i) total += instructions_of(cta.ops[warp.first + i]);
  return total;
}

}  // namespace atl
