#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <tuple>

#include "inputs/ptx/access_check.hpp"
#include "inputs/ptx/global_races.hpp"

namespace atl::cudart {

/// `atoll record --check`: what is said of it.
class Checking {
 public:
  ptx::AccessCheck check;  ///< of every recorded launch, but those beside another one
  /// Warns of the races and misused member masks of the launch that these watched last; of each place once. `global`: may
  /// be null.
  void report_races(const ptx::AccessCheck& watched, const ptx::GlobalRaces* global);
  /// What held, in one line.
  std::string summary() const;

 private:
  static constexpr std::size_t kMostGlobal = 8;
  std::set<std::tuple<std::string, std::uint32_t, std::uint32_t>> races_, global_;  // kernel and lines
  std::set<std::tuple<std::string, std::uint32_t, int>> misuses_;                   // kernel, line and kind
};

/// How many locations of global memory raced, in one line. `named`: where has been said.
std::string races_line(const ptx::GlobalRaces::Counts& counts, bool named);

}  // namespace atl::cudart
