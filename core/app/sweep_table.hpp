#pragma once
#include <string>
#include <vector>

#include "core/app/sweep_results.hpp"
#include "core/stats/metric.hpp"
#include "core/stats/text_table.hpp"

namespace atl {

/// Speed-ups over each variant's baseline, beside the paper's where there are some, and their means.
TextTable speedup_table(const SweepResults& sweep);

/// Variants with a mean that is not of all workloads that others have a figure for, and does not compare with theirs. Of a
/// table of one of the two:
std::vector<std::string> of_fewer_workloads(const TextTable& table);

/// One figure of every run; `relative`: over the same figure of the variant's baseline.
TextTable metric_table(const SweepResults& sweep, const Metric& metric, bool relative = false);

}  // namespace atl
