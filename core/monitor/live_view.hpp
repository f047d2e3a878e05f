#pragma once
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/control/live_sample.hpp"
#include "core/control/stack.hpp"
#include "core/stats/utilisation.hpp"

namespace atl {

/// What a run is, for whoever watches it.
struct LiveRun {
  std::string system{}, workload{}, output{}, command{}, started_at{}, version{};
  int ranks = 1;
};

/// How a run came to its end.
struct LiveEnd {
  std::string how;  ///< complete, incomplete, interrupted, checkpointed, ended, failed
  std::string message;
  int exit_code = 0;
  const RunResult* result = nullptr;  ///< of runs that have one
};

/// States of a run, as JSON (docs/monitor.md). Gathers samples, and makes a state of what happened since the one before when
/// that is some time ago. Host time decides when; nothing is told back to the simulation.
class LiveView {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kInterval{500};

  /// `resumed`: what the first sample tells of was done before.
  LiveView(const SystemConfig& config, LiveRun run, bool resumed, Clock::time_point start = Clock::now());

  /// Cheap enough for every sample.
  std::optional<std::string> update(const LiveSample& sample, Clock::time_point now = Clock::now());
  /// Before the first sample, or when there is nothing new to say.
  std::string state() const;
  std::string ended(const LiveEnd& end, Clock::time_point now = Clock::now());

 private:
  using Json = nlohmann::ordered_json;
  Json progress(ProgressState p, std::span<const KernelResult> kernels, Clock::time_point now);
  Json rates(const ProgressState& p, double seconds);
  Json chips(const LiveSample& sample, Cycle cycles);
  std::vector<Stack> stacks(const LiveSample& sample, std::vector<WaitCensus>& since) const;

  const SystemConfig config_;
  const StackMachine machine_;
  const Capacities capacities_;
  bool resumed_;
  Clock::time_point start_, due_, last_;
  std::optional<Cycle> first_cycle_;  ///< when watching began
  Cycle last_cycle_ = 0;
  ProgressState before_;          ///< in earlier parts of the run
  std::vector<Counters> recent_;  ///< [chip] since the last state
  std::vector<Counters> all_;     ///< [chip] since watching began
  std::vector<ChipLook> looks_;   ///< [chip] at the last state
  Json state_;
};

}  // namespace atl
