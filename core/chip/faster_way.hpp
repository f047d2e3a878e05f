#pragma once
#include <chrono>
#include <cstdint>

namespace atl {

/// Which of two ways of doing the same work takes less time on this host, as it is now: other jobs may have a processor.
/// Each is tried for a while, and the better one used for many times as long. The result of a run does not depend on it.
class FasterWay {
 public:
  /// Whether the second way is to be taken; `done`: amount of work so far.
  bool second(std::uint64_t done) {
    if (done - since_ < (trial_ == 2 ? kUse : kTrial)) return second_;
    const Clock::time_point now = Clock::now();
    if (trial_ < 2)
      per_unit_[trial_] = std::chrono::duration<double>(now - started_).count() / static_cast<double>(done - since_);
    trial_ = (trial_ + 1) % 3;
    second_ = trial_ == 1 || (trial_ == 2 && per_unit_[1] < per_unit_[0]);
    since_ = done, started_ = now;
    return second_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint64_t kTrial = 20'000, kUse = 20 * kTrial;  ///< events: a few milliseconds, and many
  int trial_ = 0;                                                      ///< 2: none
  bool second_ = false;
  double per_unit_[2] = {};
  std::uint64_t since_ = 0;
  Clock::time_point started_ = Clock::now();
};

}  // namespace atl
