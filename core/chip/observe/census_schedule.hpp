#pragma once
#include <cstdint>

#include "core/engine/types.hpp"

namespace atl {

/// When a chip is looked at: at multiples of a period that doubles after so many looks, a few times, so that short runs are
/// seen in detail and long ones cost little. The first period is a prime, since much in a machine repeats at powers of two.
class CensusSchedule {
 public:
  using PlainState = void;
  static constexpr Cycle kFirst = 509, kLongest = 8 * kFirst;
  static constexpr std::uint32_t kLooks = 128;  ///< with one period

  /// In a run that has come to `now`.
  bool possible(Cycle now) const {
    const Cycle times = period_ / kFirst;
    return period_ % kFirst == 0 && (times == 1 || times == 2 || times == 4 || times == 8) && next_ + kLongest >= now &&
           next_ <= now + kLooks * kLongest;
  }
  Cycle next() const { return next_; }
  std::uint64_t taken() const { return taken_; }
  /// Takes the next look and all others before `until`; returns the cycles that they stand for. However a stretch of time
  /// is divided into calls, the looks are the same.
  std::uint64_t take(Cycle until) {
    std::uint64_t n = until > next_ ? (until - next_ + period_ - 1) / period_ : 1;
    if (n > kLooks - taken_ % kLooks) n = kLooks - taken_ % kLooks;
    const std::uint64_t weight = n * period_;
    taken_ += n;
    next_ += weight;
    if (taken_ % kLooks == 0 && period_ < kLongest) period_ *= 2;
    return weight;
  }

 private:
  Cycle period_ = kFirst, next_ = kFirst;
  std::uint64_t taken_ = 0;
};

}  // namespace atl
