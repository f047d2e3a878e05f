#pragma once
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/stats/result_versions.hpp"
#include "core/stats/run_result.hpp"
#include "inputs/experiment/experiment.hpp"
#include "inputs/experiment/idle_points.hpp"

namespace atl {

/// The results of a sweep, as far as they are there and complete.
struct SweepResults {
  Experiment experiment;
  std::map<std::pair<std::string, std::string>, RunResult> runs;  ///< by workload and variant
  std::vector<std::string> missing;                               ///< points, with the reason
  IdlePoints idle;                ///< nothing if they were not held against the configuration
  std::set<std::string> changed;  ///< files of workloads and policies that are others now than when they were run
  std::string unchecked;          ///< why runs were not held against the experiment's configuration; "": they were
};

/// Reads the folder of a sweep.
SweepResults read_sweep(const std::string& folder);

/// Null: there is none.
const RunResult* run_of(const SweepResults& sweep, const std::string& workload, const std::string& variant);

/// What makes runs and their baselines unlike work (core/stats/unlike_work.hpp): there is no speed-up of such.
std::set<std::string> unlike_work(const SweepResults& sweep);

/// Points that have a result and whose baseline has none: in their cells no ratio can stand. With the baseline's variant.
std::vector<std::string> without_baseline(const SweepResults& sweep);

/// Which variants refer to which baselines, for a line below a table; "": all to one, or each to itself.
std::string different_baselines(const Experiment& experiment);

/// Workloads whose traces were not whole when they were run, and what they lack (Provenance::incomplete), in short.
std::map<std::string, std::string> incomplete_workloads(const SweepResults& sweep);

/// What runs warned of, and of which points, but for keys without effect (SweepResults::idle).
std::map<std::string, std::vector<std::string>> warnings_of(const SweepResults& sweep);

/// Which versions of Atoll wrote the runs.
ResultVersions versions_of(const SweepResults& sweep);

/// Variants that are one simulation in all workloads: what they set changes nothing.
std::vector<std::vector<std::string>> same_simulations(const SweepResults& sweep);

}  // namespace atl
