#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/stats/run_result.hpp"

namespace atl {

enum class Mean { none, arithmetic, harmonic };

/// A figure of one run that tables can show: a counter or joules summed over the chips, or a ratio of sums.
struct Metric {
  std::string_view name, doc;
  Mean mean;           ///< over workloads; amounts of different workloads have none
  bool whole = false;  ///< a count
};

/// Those that are no counter.
std::vector<Metric> derived_metrics();

/// All names, derived ones first.
std::vector<std::string> metric_names();

/// Derived or counter; nothing for another name.
std::optional<Metric> find_metric(std::string_view name);

/// Nothing where a ratio has no denominator.
std::optional<double> value_of(const Metric& metric, const RunResult& result);

}  // namespace atl
