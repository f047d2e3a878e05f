#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/engine/archive.hpp"
#include "core/engine/assert.hpp"
#include "core/engine/types.hpp"

namespace atl {

/// A shared resource with a bandwidth. Serves in the order of asking; several small packets may pass in one cycle.
/// Time inside is kept in 2^-24 cycles, so that rates like 96/136 packets per cycle hold
/// over time, to a few parts in a million.
class Server {
 public:
  Server() = default;
  explicit Server(double bytes_per_cycle)
      : ticks_per_byte_(static_cast<std::uint64_t>(std::llround(kTick / bytes_per_cycle))) {}

  /// Can a packet start in this cycle?
  bool idle(Cycle now) const { return free_ + kSlack < (now + 1) << kBits; }
  /// First cycle in which idle() holds, if nobody else is served before.
  Cycle idle_from() const { return (free_ + kSlack) >> kBits; }
  /// Serves `bytes` now and returns the cycle at which the last of them has passed.
  Cycle serve(Cycle now, std::uint32_t bytes) {
    ATOLL_ASSERT(now < 2 * kCycleLimit);
    free_ = std::max(free_, now << kBits) + bytes * ticks_per_byte_;
    return std::max(now, (free_ + kRoundUp) >> kBits);
  }

  template <class Archive> void serialize(Archive& a, unsigned) { state(a, free_); }

 private:
  static constexpr unsigned kBits = 24;
  static_assert(~std::uint64_t{0} >> kBits >= 2 * kCycleLimit - 1, "times of the longest run fit");
  static constexpr double kTick = 1 << kBits;
  static constexpr std::uint64_t kSlack = 1024;  ///< absorbs the rounding of ticks_per_byte over a packet
  static constexpr std::uint64_t kRoundUp = (1 << kBits) - 1 - kSlack;
  std::uint64_t ticks_per_byte_ = 0, free_ = 0;
};

}  // namespace atl
