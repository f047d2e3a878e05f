#pragma once
#include <cstdint>
#include <memory>

#include "inputs/config/system_config.hpp"
#include "policies/policy.hpp"

/// REC with a range for each kernel; ours, not of the paper, which fixes 1 KB (section 4.1) for all programs.
namespace atl {

/// What the home directories of all chips did in one kernel.
struct RangeUse {
  std::uint64_t lookups = 0, evictions = 0, evicted_lines = 0;
  /// That an entry tracked when it was given up: how well requests coalesced in it.
  double lines_per_entry() const {
    return evictions == 0 ? 0 : static_cast<double>(evicted_lines) / static_cast<double>(evictions);
  }
};

/// The range for the next kernel: twice `range_bytes`, half of it, or the same. A directory of wider entries has fewer of
/// them, and must have a whole set still.
std::uint32_t next_range(const SystemConfig& config, std::uint32_t range_bytes, const RangeUse& use);

/// Adds the ranges to all that `rest` decides.
std::unique_ptr<Policy> make_rec_adaptive(const SystemConfig& config, std::unique_ptr<Policy> rest);

}  // namespace atl
