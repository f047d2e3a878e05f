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

/// What replies lose to each other (`selrep.limit` = replies, a variant of ours). Of a degree's replicas each serves its own
/// clusters, so that k = slices / degree slices send to the same cluster, and one finds the way taken by another of them.
/// With destinations at random that happens in proportion to 1 - 1/k. Here is the factor, from what was seen under one
/// degree: the part of their time that slices with replies could not send them, as it would be with as many slices as one
/// likes.
double reply_conflict(const DegreeCounts& counts, std::uint32_t level, std::uint32_t levels);
/// The part of that time under another degree.
double reply_loss(double conflict, std::uint32_t level, std::uint32_t levels);

/// `shared`, `degree_2`, .., `private`.
std::string degree_name(std::uint32_t level, std::uint32_t levels);

}  // namespace atl
