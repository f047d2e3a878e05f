#pragma once
#include "inputs/ptx/ir.hpp"

namespace atl::ptx {

/// How many 32-bit registers a thread of a kernel takes. PTX has any number of virtual registers, ptxas allocates; this
/// counts what is alive at the same time, at the point where it is most, in the order of the PTX: 64-bit values as two,
/// predicates as none, and nothing for what SASS reads from the constant bank (kernel parameters, literals). At a call,
/// what the callee needs comes on top. The sum is kept within `.maxnreg` and what `.maxntid`, `.minnctapersm` and 64 Ki
/// registers per SM leave, and rounded as hardware allocates: to a multiple of 8, at least 16. ptxas reorders
/// and recomputes, so its figure differs (docs/recording.md).
std::uint32_t estimate_registers(const Module& m, std::uint32_t kernel);

/// The same for a launch, which would not have started with more registers than its CTAs may have.
std::uint32_t registers_at_launch(std::uint32_t estimate, std::uint32_t threads_per_cta);

}  // namespace atl::ptx
