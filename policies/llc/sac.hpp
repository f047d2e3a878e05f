#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "inputs/config/system_config.hpp"
#include "policies/llc/eab.hpp"
#include "policies/policy.hpp"

namespace atl {

/// Sharing-Aware Caching (SAC section 3): a kernel starts memory-side; after the profiling window the organisation with
/// the higher Effective Access Bandwidth rules, memory-side unless SM-side is better by the threshold.
std::unique_ptr<Policy> make_sac(const SystemConfig&);

/// The model's inputs from a window's profile; the bandwidths are the system's, in GB/s.
EabInputs eab_inputs(const SystemConfig& config, std::span<const ChipEpoch> chips);

/// SM-side EAB if the directory's hit rate, of `sampled` requests, were `errors` standard errors lower, and higher. Sampled
/// requests count as independent; those of one line are not, so that the true error is somewhat larger.
std::pair<double, double> eab_within(const EabInputs& in, std::uint64_t sampled, double errors);

/// LLC slice uniformity over all slices of the system: 1/N sum R / max R; 1 without requests.
double slice_uniformity(std::span<const ChipEpoch> chips, std::vector<std::uint64_t> LlcProfile::*requests);

/// Bytes of the profilers in one chip (SAC section 3.6).
struct SacStorage {
  std::uint64_t crd, slice_counters, counters;
  std::uint64_t total() const { return crd + slice_counters + counters; }
};
SacStorage sac_storage(const SystemConfig& config);

}  // namespace atl
