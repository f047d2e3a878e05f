#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/engine/types.hpp"

/// How the SMs of a chip share data within a kernel, as SelRep reports it (MICRO 2020, table II and figures 4, 5 and 7).
namespace atl {

/// Summed over chips. A line is shared if several SMs of a chip load, store or update it in the kernel.
struct SmSharing {
  using PlainState = void;
  std::uint64_t lines = 0;                   ///< that SMs touched
  std::uint64_t shared_lines = 0;            ///< that several touched
  std::uint64_t shared_read_only_lines = 0;  ///< of these: never written in the kernel
  std::uint64_t shared_loads = 0;            ///< line accesses of loads to shared lines
  std::uint64_t shared_l1_hits = 0;          ///< of these: that hit in the L1
  std::uint64_t shared_l1_merges = 0;        ///< of these: that joined a pending miss of the same L1
  // Lines of marked read-only data that left an L1 in a window, summed over windows; and those that several SMs asked for.
  std::uint64_t window_lines = 0;
  std::uint64_t window_lines_2 = 0;   ///< 2 SMs or more
  std::uint64_t window_lines_3 = 0;   ///< 3 or more: SelRep's "more than 2"
  std::uint64_t window_lines_10 = 0;  ///< 10 or more: SelRep's "more than 9"

  SmSharing& operator+=(const SmSharing& other);
  bool operator==(const SmSharing&) const = default;
};

struct SmSharingColumn {
  std::string_view name, unit, doc;
  std::uint64_t SmSharing::*field;
};
inline constexpr std::array<SmSharingColumn, 10> kSmSharingColumns{{
    {"lines", "lines", "lines that the SMs of a chip touched", &SmSharing::lines},
    {"shared_lines", "lines", "of these: that several SMs touched", &SmSharing::shared_lines},
    {"shared_read_only_lines", "lines", "of these: that no SM wrote", &SmSharing::shared_read_only_lines},
    {"shared_loads", "lines", "line accesses of loads to shared lines", &SmSharing::shared_loads},
    {"shared_l1_hits", "lines", "of these: hits in the L1", &SmSharing::shared_l1_hits},
    {"shared_l1_merges", "lines", "of these: that joined a pending miss", &SmSharing::shared_l1_merges},
    {"window_lines", "lines", "read-only lines that SMs asked the LLC for, per window", &SmSharing::window_lines},
    {"window_lines_2", "lines", "of these: that 2 SMs or more asked for in the window", &SmSharing::window_lines_2},
    {"window_lines_3", "lines", "of these: that 3 SMs or more asked for in the window", &SmSharing::window_lines_3},
    {"window_lines_10", "lines", "of these: that 10 SMs or more asked for in the window", &SmSharing::window_lines_10},
}};

inline SmSharing& SmSharing::operator+=(const SmSharing& other) {
  for (const SmSharingColumn& column : kSmSharingColumns) this->*column.field += other.*column.field;
  return *this;
}

struct SmSharingResult {
  Cycle window_cycles = 0;
  std::uint32_t line_bytes = 0;
  std::vector<SmSharing> kernels;  ///< [kernel]

  SmSharing total() const {
    SmSharing sum;
    for (const SmSharing& kernel : kernels) sum += kernel;
    return sum;
  }
  bool operator==(const SmSharingResult&) const = default;
};

}  // namespace atl
