#pragma once
#include <cstddef>
#include <vector>

#include "core/control/rate_watch.hpp"
#include "core/engine/types.hpp"
#include "core/stats/counters.hpp"
#include "core/stats/ratio_estimate.hpp"
#include "core/stats/run_result.hpp"
#include "inputs/config/system_config.hpp"
#include "inputs/sampling/sampling_plan.hpp"

namespace atl {

/// Chooses, launch by launch, what a sampled run simulates, and works out what the others would have taken. It knows the
/// plan and what was simulated before, never the host's time: the same launches are simulated on any number of ranks.
///
/// Of a cluster the first launch is simulated, which finds cold caches and pages without homes and stands for itself alone,
/// and the next two, which show how much its launches differ. From then on the least sample that brings the cluster's
/// interval within its allowance is spread evenly over the launches that are left, and is reckoned anew after each
/// (sequential sampling; SMARTS, ISCA 2003, does so in two passes). A cluster is cut into stretches of time where that makes
/// the latter part more certain, so that launches that still fill the caches do not stand for those behind them. The
/// allowance of a cluster with the part w of all work is error / sqrt(w): the clusters' intervals then add up, in squares,
/// to the error that was asked for. Between two simulated launches of a cluster there are never more than kGap times as many
/// as have been simulated, at uneven distances, and its last is one of them, so that a cluster that drifts, or changes for
/// good, is noticed.
class KernelSampler {
 public:
  static constexpr std::size_t kGap = 8;
  static constexpr double kMostAllowed = 0.5;  ///< of a cluster with next to no work
  /// Significance of the test that parts of a cluster differ. At 1 % launches that fill caches, or change once, are cut too
  /// late: of as few as are simulated in 100, no test has that power (docs/sampling.md has what was measured).
  static constexpr double kCutAt = 0.05;

  /// `overhead`: cycles of a launch that do not grow with its work.
  KernelSampler(SamplingPlan plan, Cycle overhead);

  const SamplingOptions& options() const { return plan_.options; }

  /// The launch is to be simulated. Asked once for each, in their order, when all before that are to be have ended.
  bool wanted(std::size_t launch);
  /// A simulated launch has ended: `cycles` since the end of the one before, and the counters of all chips.
  void ended(std::size_t launch, Cycle cycles, const Counters& counters, LaunchCut cut = {});

  /// What chips counted for the launch that ended last after their own parts of it had ended: requests of others.
  void add_late(const Counters& counters) {
    if (!samples_.empty()) samples_.back().simulated.counters += counters;
  }

  /// When the run has ended: what it says of the whole workload. `config`: as asked for, not scaled; the chips in `run` have
  /// their energy.
  SamplingResult extrapolate(const SystemConfig& config, const RunResult& run) const;

 private:
  struct Cluster {
    std::size_t seen = 0, next = 0;    ///< `next`: to be simulated, an index among the launches of the cluster
    std::vector<double> work{0};       ///< [n] of its first n launches
    std::vector<double> error{0};      ///< [n] of their works, added up
    std::vector<std::size_t> samples;  ///< into samples_
    std::size_t launches() const { return work.size() - 1; }
  };
  struct LaunchSample {
    std::size_t launch, index;       ///< in the workload; among the launches of its cluster
    RatePeriod simulated;            ///< without the overhead
    std::vector<RatePeriod> window;  ///< stands for the CTAs that did not begin
    CtaSum left;                     ///< what these had to do
    double cycles;                   ///< of the whole launch, without the overhead
  };
  /// Simulated launches of a cluster that stand for a stretch of time, in which launches of `left` work were not simulated.
  struct Stretch {
    std::size_t from, to;      ///< into the cluster's samples
    std::size_t first_launch;  ///< index among the launches of the cluster, as `last_launch`, one behind
    std::size_t last_launch;
    double left, left_error;  ///< the latter: of what is known of `left`
  };
  std::size_t next_of(const Cluster& c) const;
  double squares(const Cluster& c, std::size_t from, std::size_t to) const;
  std::size_t settled(const Cluster& c, std::size_t from, std::size_t to) const;
  bool differ(const Cluster& c, std::size_t from, std::size_t cut, std::size_t to) const;
  std::vector<Stretch> stretches(const Cluster& c) const;
  template <class Linear>
  Prediction predict(const Cluster& c, const Stretch& part, double left, double left_error, Linear&& of) const;
  template <class Linear> Prediction predict(const Cluster& c, Linear&& of) const;
  template <class Linear> Prediction predict(Linear&& of) const;

  SamplingPlan plan_;
  double overhead_, work_ = 0;
  std::vector<Cluster> clusters_;
  std::vector<LaunchSample> samples_;
};

}  // namespace atl
