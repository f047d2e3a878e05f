#pragma once
#include <algorithm>
#include <chrono>

#include "core/engine/second_thread.hpp"

namespace atl {

/// Whether to poll for what another rank is about to do, before one sleeps: for as long as going to sleep and being woken
/// would take. Polling is left out while it has not helped of late, because the other rank takes longer or needs this very
/// processor; now and then it is tried again. Nothing is concluded from the number of ranks: other jobs count as much.
class Patience {
 public:
  /// True: done() is; false: it is time to sleep.
  template <class Done> bool poll(Done done) {
    if (done()) return true;
    if (helped_ < kHelps && ++left_out_ % kTryEvery != 0) return false;
    for (const auto start = Clock::now(); Clock::now() - start < kPoll; pause_processor()) {
      if (!done()) continue;
      helped_ = std::min(helped_ + 1, 2 * kHelps - 1);
      return true;
    }
    helped_ = std::max(helped_ - 1, 0);
    return false;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::duration kPoll = std::chrono::microseconds(100);
  static constexpr int kHelps = 4;
  static constexpr unsigned kTryEvery = 32;
  int helped_ = kHelps;  // polls that were in time, less those that were not, between 0 and 7
  unsigned left_out_ = 0;
};

}  // namespace atl
