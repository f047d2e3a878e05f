#pragma once
#include <chrono>

#include "core/app/checkpoint_plan.hpp"
#include "core/control/checkpoint_file.hpp"

namespace atl {

/// Leaves a run's checkpoints beside its output, the last two of them, when the plan or a signal says so.
class FileCheckpointer final : public Checkpointer {
 public:
  /// `header`: of the run; `header.boundary` is where it begins. `keeps`: the controller lives in this rank. `from`: the
  /// checkpoint that the run went on from, if any.
  FileCheckpointer(std::string output, CheckpointHeader header, CheckpointPlan plan, bool keeps, std::string from);

  Request request() override;
  bool due(Cycle boundary, Cycle next) override;
  bool keep(SystemState state) override;
  void not_kept(Cycle boundary, const std::string& why) override;

  /// Host time since the beginning of the run, in all its parts.
  double host_seconds() const;
  /// What to tell the user of a run that was ended early.
  std::string farewell() const;

 private:
  using Clock = std::chrono::steady_clock;
  double minutes_since(Clock::time_point t) const { return std::chrono::duration<double>(Clock::now() - t).count() / 60; }

  const std::string output_;
  CheckpointHeader header_;
  const CheckpointPlan plan_;
  const bool keeps_;
  const Clock::time_point start_ = Clock::now();
  const double seconds_before_;
  Clock::time_point last_at_ = start_, limit_from_ = start_;
  Cycle last_met_ = 0;     ///< boundary of the last meeting
  Cycle last_ = 0;         ///< where the last one was due
  bool at_limit_ = false;  ///< the one before max_cycles was due
  std::string told_;       ///< why there was no checkpoint last, until there is one: a line for each would be many
  std::string newest_;     ///< or where the run went on from
};

}  // namespace atl
