#pragma once
#include "inputs/ptx/exec_warp.hpp"

namespace atl::ptx::exec {

/// Bytes have come that are counted at the mbarrier at this generic address, of the own CTA or of another of its cluster.
void complete_transaction(Warp& w, unsigned lane, std::uint64_t address, std::uint64_t bytes);

}  // namespace atl::ptx::exec
