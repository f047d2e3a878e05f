#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/stats/progress.hpp"
#include "core/stats/run_result.hpp"
#include "core/stats/wait_census.hpp"
#include "policies/policy.hpp"

namespace atl {

/// What a chip's warps and packets waited for in one kernel so far, and what the chip does now.
struct ChipLook {
  std::uint64_t kernel = 0;
  Span now = Span::idle;
  std::uint64_t ctas_done = 0, ctas = 0;  ///< of this kernel and chip
  WaitCensus census;
};

/// A run at the end of a sampling period, as the controller sees it. Everything belongs to the controller, and is valid for
/// as long as the call that hands it over takes.
struct LiveSample {
  ProgressState progress;
  std::span<const Counters> chips;  ///< [chip] increments of this period
  std::span<const ChipLook> looks;  ///< [chip]
  std::span<const KernelResult> kernels;
  std::span<const Decision> decisions;
  std::span<const Modes> modes;  ///< [chip] sent last
};

}  // namespace atl
