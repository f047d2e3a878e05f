#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/stats/counters.hpp"
#include "core/stats/run_result.hpp"

namespace atl {

enum class Mean { none, arithmetic, harmonic };

/// A figure of one run that tables can show: a counter or joules summed over the chips, or a ratio of sums.
struct Metric {
  std::string_view name, unit, doc;  ///< shares have no unit
  Mean mean;                         ///< over workloads; amounts of different workloads have none
  bool whole = false;                ///< a count
  bool summed = false;               ///< over the chips
  std::string with_unit() const;     ///< `energy.link (J, all chips)`
};

/// Those that are no counter.
std::vector<Metric> derived_metrics();

/// All names, derived ones first.
std::vector<std::string> metric_names();

/// Derived or counter; nothing for another name.
std::optional<Metric> find_metric(std::string_view name);

inline constexpr std::string_view kTotalEnergy = "energy.total";

/// A figure with how it changes with each counter, summed over chips, and with the cycles.
struct LinearFigure {
  std::string name;
  double value = 0, of_cycles = 0;
  std::vector<std::pair<Counter, double>> of_counters;  ///< none are 0
};

/// Those that follow from counters and cycles alone, but for the counters themselves. Without ratios that have no
/// denominator.
std::vector<LinearFigure> linear_figures(const Counters& sum, double cycles);

/// Megahertz of the core clock, by which cycles of different machines compare. Files without a configuration: 1000.
double core_clock_mhz(const RunResult& result);

/// Cycles of a sampling period as chips keep it; results of long runs have joined several. Files without a configuration: 1.
Cycle sample_cycles(const RunResult& result);

/// Nothing where a ratio has no denominator. Of a sampled run: the extrapolated figure, nothing if it has none.
std::optional<double> value_of(const Metric& metric, const RunResult& result);

}  // namespace atl
