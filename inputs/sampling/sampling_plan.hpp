#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "inputs/sampling/cta_places.hpp"
#include "inputs/sampling/launch_signature.hpp"
#include "inputs/sampling/sampling_options.hpp"

namespace atl {

/// Which launches are alike, and how much work each is: made before the run, from the workload alone.
struct SamplingPlan {
  SamplingOptions options;
  std::vector<std::uint32_t> cluster;  ///< [launch]
  std::vector<double> work;            ///< [launch] warp instructions, about; above 0
  std::vector<double> work_error;      ///< [launch] of that, relative to its cluster's first: work_error_of()
  std::uint32_t clusters = 0;
};

/// Two launches may be in one cluster. Amounts may differ by kAlikeFactor, parts by this much. Sieve takes launches of a
/// kernel together up to a coefficient of variation of 0.4 of their instructions, which is a factor of about 1.7 either way
/// if they are spread evenly; a launch that the LLC bounds follows its instructions less closely, hence half of that.
inline constexpr double kAlikePart = 0.15;
bool alike(const LaunchSignature& a, const LaunchSignature& b);

/// A launch goes to the first cluster whose first launch is like it, or begins one. One pass in the order of the launches,
/// so that the first launch of a cluster, which is always simulated, is what its others are held against.
class LaunchClusters {
 public:
  /// The cluster of the next launch.
  std::uint32_t add(const LaunchSignature& launch);
  const LaunchSignature& first(std::uint32_t cluster) const { return firsts_[cluster]; }
  std::uint32_t count() const { return static_cast<std::uint32_t>(firsts_.size()); }

 private:
  std::vector<LaunchSignature> firsts_;
  std::unordered_map<std::string, std::vector<std::uint32_t>> of_kind_;
};

/// Standard error of a launch's work, of which CTAs were not read. Launches of a cluster stand for each other by the ratio
/// of their works: an error that both have in common, because CTAs of the same places were read that stand in the same
/// ratio, cancels, and what is left is the error of the differences. Launches of other grids were read at other places.
double work_error_of(const LaunchSignature& launch, const LaunchSignature& first);

/// Reads the workload. `last_alone`: the last launch does more than its like, and is a cluster of its own.
SamplingPlan make_sampling_plan(Workload& workload, const SamplingOptions& options, bool last_alone);

}  // namespace atl
