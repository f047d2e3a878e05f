#pragma once
#include <cstdint>

#include "inputs/workload/workload.hpp"

namespace atl {

/// Warp instructions a CTA executes: a compute op stands for `issue` of them, every other op for one.
/// The passes of a shared-memory op are bank conflicts, not instructions.
inline std::uint64_t count_instructions(const CtaProgram& cta) {
  std::uint64_t total = 0;
  for (const WarpOps& warp : cta.warps)
    for (std::uint32_t i = 0; i < warp.count; ++i) {
      const Op& op = cta.ops[warp.first + i];
      total += op.kind == OpKind::compute ? op.issue : 1u;
    }
  return total;
}

}  // namespace atl
