#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/stats/metric.hpp"
#include "core/stats/text_table.hpp"
#include "inputs/experiment/experiment.hpp"

namespace atl {

/// The results of a sweep, as far as they are there and complete.
struct SweepResults {
  Experiment experiment;
  std::map<std::pair<std::string, std::string>, RunResult> runs;  ///< by workload and variant
  std::vector<std::string> missing;                               ///< points, with the reason
};

/// Reads the folder of a sweep.
SweepResults read_sweep(const std::string& folder);

/// Speed-ups over each variant's baseline, beside the paper's where there are some, and their means.
TextTable speedup_table(const SweepResults& sweep);

/// One figure of every run; `relative`: over the same figure of the variant's baseline.
TextTable metric_table(const SweepResults& sweep, const Metric& metric, bool relative = false);

}  // namespace atl
