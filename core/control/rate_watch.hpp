#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/control/cta_profile.hpp"
#include "core/engine/types.hpp"
#include "core/stats/counters.hpp"

namespace atl {

/// A stretch of a launch, over all chips.
struct RatePeriod {
  double cycles = 0;
  Counters counters;
  double work() const { return static_cast<double>(counters[Counter::warp_instructions]); }
};

/// How a launch was ended early: what the CTAs that did not begin had to do, and the stretch of the launch that stands for
/// them.
struct LaunchCut {
  CtaSum left{};
  std::vector<RatePeriod> window{};
};

/// Whether a launch has come to a stable rate of progress, from where on its CTAs may be extrapolated: in the line of
/// Principal Kernel Analysis (MICRO 2021), which stops when the IPC's deviation over a window is small and a
/// whole wave of CTAs has ended, and of Photon (MICRO 2023), which asks that the trend has ended as well. Stable means that
///
/// 1. every chip has ended as many CTAs as it holds at a time: caches and queues are filled;
/// 2. since then the window has seen kPeriods periods or more, and as many CTAs as the machine holds have ended in it, so
///    that all parts of a CTA's life are in it;
/// 3. the confidence interval of the rate, instructions per cycle, is within half of the error that was asked for;
/// 4. the mean rates of the window's halves differ by no more than that: there is no trend;
/// 5. chips will be done at about the same time: by the rates of the window, the last one later than all together would be
///    if they shared what is left, by no more than that part of the launch. Once a chip is done, the rate is another;
/// 6. the CTAs that have not ended are known from those that were looked at: the confidence interval of their instructions
///    is no more than that part of the launch's, they have as many sectors to an instruction as those that ended, but for
///    that part, and a CTA has about as many instructions (kAlikeFactor, as launches of a cluster). So the rate stands for
///    them;
/// 7. what was looked at agrees with what chips counted so far: no fewer instructions than those of the CTAs that ended, no
///    more than those of all that began, but for what is that part of the launch's if the rest is off alike.
///
/// Periods that are more than two such waves ago leave the window, with which a slow beginning is forgotten.
class RateWatch {
 public:
  static constexpr std::size_t kPeriods = 6;
  static constexpr std::uint64_t kLeastWaves = 4;  ///< a first one, one in the window and two that are left

  RateWatch(double error, double confidence) : allowed_(error / 2), confidence_(confidence) {}
  /// A launch begins on chips that hold `resident` of its CTAs each. An empty profile: it will not be stable.
  void begin(CtaProfile ctas, std::uint64_t resident);
  /// Modes have changed: what was seen before does not count.
  void restart() { window_.clear(); }
  /// `chips`: their counters of the period that has just ended; `counts`: it was one under the same modes. True: stable, and
  /// enough is left of the launch for an end to be worth while.
  bool add(Cycle cycles, std::span<const Counters> chips, bool counts);
  /// Of the launch, ended early, when each chip has ended `ctas[chip]`, all that began, and all have counted `instructions`.
  LaunchCut cut(std::span<const std::uint64_t> ctas, double instructions) const;

 private:
  struct Period {
    RatePeriod all;
    std::vector<double> work;  ///< [chip]
  };
  bool first_wave_over() const;
  bool done_together() const;
  bool others_known() const;
  bool counted_agrees() const;
  std::uint64_t ended_in_window() const;

  double allowed_, confidence_;
  std::uint64_t resident_ = 0;
  CtaProfile ctas_;
  std::vector<std::uint64_t> ended_;  ///< [chip] CTAs so far
  std::vector<double> work_;          ///< [chip] so far
  double cycles_ = 0;                 ///< so far
  std::vector<Period> window_;
};

}  // namespace atl
