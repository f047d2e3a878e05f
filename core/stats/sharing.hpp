#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "core/engine/types.hpp"

/// How much of the data that a run accesses is shared between chips, as SAC reports it (ISCA 2023, table 4 and
/// figure 11).
namespace atl {

/// A line that several chips access is truly shared. A line of one chip is falsely shared if other chips access other lines
/// of its page, else not shared.
struct SharedBytes {
  std::uint64_t truly = 0;
  std::uint64_t truly_copies = 0;  ///< each truly shared line once per chip, as LLCs hold it under SM-side caching
  std::uint64_t falsely = 0;
  std::uint64_t unshared = 0;

  std::uint64_t distinct() const { return truly + falsely + unshared; }
  std::uint64_t with_copies() const { return truly_copies + falsely + unshared; }
  bool operator==(const SharedBytes&) const = default;
};

struct SharedBytesColumn {
  const char* name;
  const char* doc;
  std::uint64_t SharedBytes::*field;
};
inline constexpr SharedBytesColumn kSharedBytesColumns[] = {
    {"true_shared", "lines that several chips accessed", &SharedBytes::truly},
    {"true_shared_copies", "such a line once for each chip that accessed it", &SharedBytes::truly_copies},
    {"false_shared", "lines of one chip in pages of which other chips accessed other lines", &SharedBytes::falsely},
    {"not_shared", "lines of one chip in pages that no other chip accessed", &SharedBytes::unshared},
};

/// Windows of several lengths that begin together, in percent of an epoch: SAC's figure 11 has 1 K to 100 K cycles.
inline constexpr std::array<std::uint32_t, 5> kWindowPercent{1, 5, 10, 50, 100};
inline constexpr std::size_t kSharingWindows = kWindowPercent.size();
/// Length of window `w` of an epoch.
inline Cycle sharing_window(Cycle epoch, std::size_t w) { return epoch * kWindowPercent[w] / 100; }

using WindowedBytes = std::array<SharedBytes, kSharingWindows>;

struct SharingResult {
  Cycle epoch_cycles = 0;
  SharedBytes footprint;              ///< of the whole run
  std::vector<WindowedBytes> epochs;  ///< epoch e begins at e * epoch_cycles
  bool operator==(const SharingResult&) const = default;
};

/// Over the epochs in which anything was accessed; a window of these that is empty counts.
struct SharingMean {
  WindowedBytes bytes;
  std::uint64_t epochs = 0;
};
SharingMean mean_of_epochs(const SharingResult& result);

}  // namespace atl
