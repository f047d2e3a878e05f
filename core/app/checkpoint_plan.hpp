#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "core/engine/types.hpp"

namespace atl {

/// When a run leaves checkpoints by itself.
struct CheckpointPlan {
  Cycle every_cycles = 0;         ///< 0: not
  double every_minutes = 0;       ///< of host time; 0: not
  double time_limit_minutes = 0;  ///< after which it leaves one and ends; 0: none
  bool asked() const { return every_cycles != 0 || every_minutes != 0 || time_limit_minutes != 0; }
};

/// The same on the command line.
struct CheckpointOptions {
  std::string every, time_limit;
  void add_to(CLI::App& command);
  /// Options that were not given leave what `plan` has. InputError if one makes no sense.
  CheckpointPlan plan(CheckpointPlan plan = {}) const;
};

}  // namespace atl
