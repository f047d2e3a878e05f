#pragma once
#include <cstdint>
#include <span>
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
  std::uint32_t clusters = 0;
};

/// Two launches may be in one cluster. Amounts may differ by kAlikeFactor, parts by this much. Sieve takes launches of a
/// kernel together up to a coefficient of variation of 0.4 of their instructions, which is a factor of about 1.7 either way
/// if they are spread evenly; a launch that the LLC bounds follows its instructions less closely, hence half of that.
inline constexpr double kAlikePart = 0.15;
bool alike(const LaunchSignature& a, const LaunchSignature& b);

/// [launch] its cluster: the first one whose first launch is like it, or a new one. One pass in the order of the launches,
/// so that the first launch of a cluster, which is always simulated, is what its others are held against.
std::vector<std::uint32_t> cluster_launches(std::span<const LaunchSignature> launches);

/// Reads the workload. `last_alone`: the last launch does more than its like, and is a cluster of its own.
SamplingPlan make_sampling_plan(Workload& workload, const SamplingOptions& options, bool last_alone);

}  // namespace atl
