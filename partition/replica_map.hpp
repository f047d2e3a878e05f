#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "inputs/config/system_config.hpp"

namespace atl {

/// Which slice serves a cluster's read-only requests at each replication degree (SelRep section III-B).
///
/// A line belongs to one memory-side router with S slices whatever the degree. At degree d the clusters form d contiguous
/// groups and the slices d contiguous blocks of S / d, one for each group; within its block a line keeps the low bits of its
/// shared slice. Degree 1 is the shared LLC, degree S the private one: a slice for each cluster if there are S of them.
class ReplicaMap {
 public:
  explicit ReplicaMap(const SystemConfig& c)
      : slices_(c.llc.slices / c.noc.memory_routers), clusters_(c.sm.count / c.noc.sms_per_cluster) {
    levels_ = std::has_single_bit(slices_) ? static_cast<std::uint32_t>(std::bit_width(slices_)) : 1;
    for (std::uint32_t level = 0; level < levels_; ++level) {
      for (std::uint32_t cluster = 0; cluster < clusters_; ++cluster)
        block_.push_back(static_cast<std::uint8_t>(group(cluster, level) * (slices_ >> level)));
    }
  }

  /// Slices of one router, and the degrees there are: 1, 2, 4 .. slices(). `level` is the logarithm of a degree.
  std::uint32_t slices() const { return slices_; }
  std::uint32_t levels() const { return levels_; }
  std::uint32_t clusters() const { return clusters_; }

  /// Group of clusters that share a replica, 0 .. degree - 1.
  std::uint32_t group(std::uint32_t cluster, std::uint32_t level) const { return (cluster << level) / clusters_; }
  /// `shared`: the slice at degree 1.
  std::uint32_t slice(std::uint32_t shared, std::uint32_t cluster, std::uint32_t level) const {
    if (level == 0) return shared;
    const std::uint32_t in_block = (slices_ >> level) - 1;
    return (shared & ~(slices_ - 1)) | block_[level * clusters_ + cluster] | (shared & in_block);
  }

 private:
  std::uint32_t slices_, clusters_, levels_ = 1;
  std::vector<std::uint8_t> block_;  ///< [level][cluster] first slice of the group's block
};

}  // namespace atl
