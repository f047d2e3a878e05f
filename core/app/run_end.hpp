#pragma once
#include <string>
#include <vector>

#include "core/app/run_job.hpp"
#include "core/chip/observe/consistency_checker.hpp"
#include "core/control/kernel_sampler.hpp"
#include "core/stats/run_result.hpp"
#include "inputs/workload/workload.hpp"

/// From what was simulated to the result that is kept and told, on the controller's rank.
namespace atl {

/// What is known of a run besides what is simulated.
struct RunFacts {
  std::string digest;      ///< of the workload
  std::string incomplete;  ///< what its trace lacks
  std::vector<std::string> warnings, hosts;
};

/// What the result says besides what was simulated, but for its warnings: provenance and energy.
void complete_result(RunResult& result, const RunJob& job, const Workload& workload, const RunFacts& facts);

/// Adds what `sampler` makes of the launches that were simulated; warns where that is less certain than asked for.
void extrapolate(RunResult& result, const RunJob& job, const KernelSampler& sampler);

/// Writes the result and prints what came out. Throws IoError if it is not where it was to be.
void hand_out(const RunResult& result, const RunJob& job, const ConsistencyChecker& checker);

}  // namespace atl
