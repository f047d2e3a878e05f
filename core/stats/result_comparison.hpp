#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/stats/run_conditions.hpp"
#include "core/stats/run_result.hpp"

/// What differs between two runs.
namespace atl {

/// A setting or a fact about the inputs; nothing where one of them has none of it.
struct Setting {
  std::string name;
  std::optional<std::string> a, b;
  bool operator==(const Setting&) const = default;
};

/// A figure of both runs.
struct Effect {
  std::string name, unit, doc;
  double a = 0, b = 0;                       ///< NaN: the run has none, as a sampled one of what cannot be extrapolated
  bool whole = false;                        ///< a count
  std::optional<double> half_a{}, half_b{};  ///< of their intervals, where they are extrapolated
  /// |ln(b / a)|; infinite if one of them is zero.
  double size() const;
};

struct ResultComparison {
  bool same_simulation = false;        ///< equal digests
  std::vector<Setting> configuration;  ///< by key, in the order of the configuration
  std::vector<Setting> inputs;         ///< workload and provenance
  /// Cycles of the run by what they were spent on, mean of the chips: what separates the run times most first. Their
  /// differences add up to that of the runs. Empty if a run does not know. These and the kernels' are of A's clock.
  std::vector<Effect> cycles;
  std::vector<Effect> results;           ///< largest relative difference first, those between something and nothing last
  std::vector<Effect> kernels;           ///< cycles of kernels that both have under the same name, largest difference first
  std::size_t kernels_alike = 0;         ///< how many such kernels there are
  std::vector<std::string> unlike_work;  ///< what makes it so (core/stats/unlike_work.hpp)
  std::optional<double> speedup;         ///< A's time over B's; nothing of unlike work
  double mhz_a = 0, mhz_b = 0;           ///< core clocks
  std::vector<RunCondition> conditions_a, conditions_b;
};

/// Below which a difference counts as none.
struct LeastDifference {
  double relative = 0.01;
  double count = 100;   ///< counts of less in both runs say nothing
  double cycles = 0.5;  ///< of parts of the run
};

ResultComparison compare(const RunResult& a, const RunResult& b, const LeastDifference& least = {});

/// `top`: rows of each list.
std::string comparison_text(const ResultComparison& c, const RunResult& a, const RunResult& b, std::size_t top);
std::string comparison_json(const ResultComparison& c);

}  // namespace atl
