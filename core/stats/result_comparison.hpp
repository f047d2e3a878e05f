#pragma once
#include <optional>
#include <string>
#include <vector>

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
  std::string name, doc;
  double a = 0, b = 0;  ///< NaN: the run has none, as a sampled one of what cannot be extrapolated
  bool whole = false;   ///< a count
  /// |ln(b / a)|; infinite if one of them is zero.
  double size() const;
};

struct ResultComparison {
  bool same_simulation = false;        ///< equal digests
  std::vector<Setting> configuration;  ///< by key, in the order of the configuration
  std::vector<Setting> inputs;         ///< workload and provenance
  /// Cycles of the run by what they were spent on, mean of the chips: what separates the run times most first. Their
  /// differences add up to that of the runs. Empty if a run does not know.
  std::vector<Effect> cycles;
  std::vector<Effect> results;  ///< largest relative difference first, those between something and nothing last
  std::vector<Effect> kernels;  ///< cycles of kernels that both have under the same name, largest difference first
  bool kernels_alike = false;   ///< there are such kernels
};

/// `least`: relative difference below which a figure counts as equal. Counts below `few` in both runs say nothing.
ResultComparison compare(const RunResult& a, const RunResult& b, double least = 0.01, double few = 100);

/// `top`: rows of each list.
std::string comparison_text(const ResultComparison& c, const RunResult& a, const RunResult& b, std::size_t top);
std::string comparison_json(const ResultComparison& c);

}  // namespace atl
