#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "comm/transport.hpp"
#include "core/app/checkpoint_plan.hpp"
#include "core/control/checkpoint_file.hpp"
#include "inputs/config/system_config.hpp"
#include "inputs/sampling/sampling_options.hpp"

namespace atl {

/// One simulation, new or gone on with, from its inputs to its result file.
struct RunJob {
  SystemConfig config;        ///< as asked for, not yet scaled
  std::string workload;       ///< as the user named it
  std::string workload_file;  ///< where it is
  std::string kernels, ctas;  ///< which part of it (inputs/workload/selection.hpp); empty: all
  std::string output, map;
  std::vector<std::string> inputs;    ///< other files that are read: the system's, a checkpoint
  std::string command, started_at;    ///< of the run's first part
  std::vector<std::string> warnings;  ///< of the command line: what it sets and may not mean
  Cycle max_cycles = kNever;
  unsigned chip_threads = 1;  ///< that may work on one chip
  bool force = false, quiet = false, check = false;
  std::optional<SamplingOptions> sample;  ///< not all launches are simulated
  bool strict = false;                    ///< an incomplete trace is an error
  std::optional<std::uint16_t> monitor;   ///< port of a RunMonitor; 0: any
  CheckpointPlan plan;
  std::optional<Checkpoint> from;  ///< goes on from here
};

/// Collective: every rank has the same job. Returns an ExitCode.
int run_job(Transport& transport, RunJob job, const std::string& host);

/// `2026-11-20T12:00:00Z`
std::string time_of_day();

}  // namespace atl
