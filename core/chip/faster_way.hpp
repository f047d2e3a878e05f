#pragma once
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

namespace atl {

/// Which of two ways of doing the same work takes less time on this host, as it is now: other jobs may have a processor.
/// They take turns for a while, since work is not the same all the time, and then the better one is used for many times as
/// long, and each time that it proves the better one again for twice as long, to a limit. Of each way's turns the median
/// counts: a moment in which the host does something else decides nothing. The result of a run does not depend on it.
class FasterWay {
 public:
  /// Whether the second way is to be taken; `done`: amount of work so far.
  bool second(std::uint64_t done) {
    if (done - since_ < (turn_ == kTurns ? use_ : kTurn)) return second_;
    const Clock::time_point now = Clock::now();
    if (turn_ < kTurns) {
      cost_[second_][turn_ / 2] = std::chrono::duration<double>(now - started_).count() / static_cast<double>(done - since_);
      ++turn_, second_ = !second_;
      if (turn_ == kTurns) {
        second_ = median(cost_[1]) < median(cost_[0]);
        use_ = second_ == was_ ? std::min(2 * use_, kMostUse) : kUse;
        was_ = second_;
      }
    } else {
      turn_ = 0, second_ = false;
    }
    since_ = done, started_ = now;
    return second_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  // Events: a few milliseconds, a tenth of a second, and a second or two, in which other jobs may come and go.
  static constexpr std::uint64_t kTurn = 20'000, kUse = 60 * kTurn, kMostUse = 16 * kUse;
  static constexpr std::uint32_t kTurns = 6;
  using Costs = std::array<double, kTurns / 2>;  ///< seconds by amount of work
  static double median(Costs costs) {
    std::sort(costs.begin(), costs.end());
    return costs[costs.size() / 2];
  }
  std::uint32_t turn_ = 0;
  bool second_ = false, was_ = false;
  std::uint64_t use_ = kUse;
  std::array<Costs, 2> cost_{};
  std::uint64_t since_ = 0;
  Clock::time_point started_ = Clock::now();
};

}  // namespace atl
