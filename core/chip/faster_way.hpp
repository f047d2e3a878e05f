#pragma once
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

namespace atl {

/// Which of two ways of doing the same work takes less time on this host, as it is now: other jobs may have a processor.
/// They take turns for a while, since work is not the same all the time, and then the better one is used for many times as
/// long, and each time that it proves the better one again for twice as long, to a limit. The result of a run does not
/// depend on it.
class FasterWay {
 public:
  /// Whether the second way is to be taken; `done`: amount of work so far.
  bool second(std::uint64_t done) {
    if (done - since_ < (turn_ == kTurns ? use_ : kTurn)) return second_;
    const Clock::time_point now = Clock::now();
    if (turn_ < kTurns) {
      seconds_[second_] += std::chrono::duration<double>(now - started_).count();
      work_[second_] += static_cast<double>(done - since_);
      ++turn_, second_ = !second_;
      if (turn_ == kTurns) {
        second_ = seconds_[1] * work_[0] < seconds_[0] * work_[1];
        use_ = second_ == was_ ? std::min(2 * use_, kMostUse) : kUse;
        was_ = second_;
      }
    } else {
      turn_ = 0, second_ = false, seconds_ = {}, work_ = {};
    }
    since_ = done, started_ = now;
    return second_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  // Events: a few milliseconds, a tenth of a second, and a second or two, in which other jobs may come and go.
  static constexpr std::uint64_t kTurn = 20'000, kUse = 60 * kTurn, kMostUse = 16 * kUse;
  static constexpr int kTurns = 6;
  int turn_ = 0;
  bool second_ = false, was_ = false;
  std::uint64_t use_ = kUse;
  std::array<double, 2> seconds_{}, work_{};
  std::uint64_t since_ = 0;
  Clock::time_point started_ = Clock::now();
};

}  // namespace atl
