#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "core/chip/base/machine.hpp"
#include "core/engine/types.hpp"
#include "inputs/workload/workload.hpp"

namespace atl {

/// Functional warming of the LLC: which lines skipped launches would have left in it, without simulating them. Under LRU a
/// slice holds what was touched last; so the launches are read backwards, latest first, until the chips' slices are full.
///
/// Only where a line has one place and stays there from kernel to kernel: memory-side slices, one slice for a line of a
/// chip, no directory. Lines come as if they were clean, and from loads that an L1 would have served as well.
class LlcWarming {
 public:
  /// A launch is read no further than this many times the lines that all slices hold: small data are met again and again.
  static constexpr std::uint64_t kPatience = 4;

  LlcWarming(const Machine& machine, Workload& workload) : machine_(machine), workload_(workload) {}
  static bool possible(const SystemConfig& config);

  /// [chip] lines that its slices would hold behind the launches `first` to before `end`, latest last. A line is packed as
  /// Access is: number << 8 | sectors. `home`: chip of a page, or kUnknownHome, whose lines are left out.
  std::vector<std::vector<std::uint64_t>> lines(std::size_t first, std::size_t end,
                                                const std::function<std::uint8_t(PageAddr)>& home);

 private:
  const Machine& machine_;
  Workload& workload_;
  CtaProgram program_;
};

}  // namespace atl
