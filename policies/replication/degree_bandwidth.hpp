#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "inputs/config/system_config.hpp"
#include "policies/replication/degree_counts.hpp"

/// SelRep's model: the bandwidth that each replication degree would give (SelRep section III-C).
namespace atl {

/// LLC-slice parallelism, equation 1: requests of all slices over those of the busiest. 1 (all to one slice) .. slices
/// (spread evenly); 1 without requests.
double slice_parallelism(std::span<const std::uint64_t> requests);

/// Peak bandwidth of one LLC slice and its share of the chip's memory bandwidth, GB/s.
struct SliceBandwidth {
  double llc, memory;
};
SliceBandwidth slice_bandwidth(const SystemConfig& config);

/// Equation 2 for one degree, with its terms. GB/s.
struct DegreeBandwidth {
  double parallelism = 1;  ///< LSP
  double hit = 0;          ///< H, predicted hit rate
  double hits = 0;         ///< H x B_LLC
  double misses = 0;       ///< min((1 - H) x B_LLC, B_mem)
  double total() const { return parallelism * (hits + misses); }
};
DegreeBandwidth degree_bandwidth(double parallelism, double hit, const SliceBandwidth& b);

/// The same from counts; `level` is the logarithm of the degree.
DegreeBandwidth degree_bandwidth(const DegreeCounts& counts, std::uint32_t level, const SliceBandwidth& b);

/// `shared`, `degree_2`, .., `private`.
std::string degree_name(std::uint32_t level, std::uint32_t levels);

}  // namespace atl
