#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <tuple>

#include "inputs/ptx/access_check.hpp"

namespace atl::cudart {

/// `atoll record --check`: what is said of it.
class Checking {
 public:
  ptx::AccessCheck check;  ///< of every recorded launch
  /// Warns of the shared-memory races and misused member masks of the last launch; of each place once.
  void report_races();
  /// What held, in one line.
  std::string summary() const;

 private:
  std::set<std::tuple<std::string, std::uint32_t, std::uint32_t>> races_;  // kernel and lines
  std::set<std::tuple<std::string, std::uint32_t, int>> misuses_;          // kernel, line and kind
};

}  // namespace atl::cudart
