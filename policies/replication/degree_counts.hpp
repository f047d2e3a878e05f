#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/engine/archive.hpp"

namespace atl {

/// What the Replication Degree Directory of one chip counted (SelRep section III-D): every read-only request of one
/// memory-side router, as each degree would route it, and those of the sampled sets, as each degree would serve them.
struct DegreeCounts {
  std::vector<std::uint64_t> sampled, hits;  ///< [level] level = log2 of the degree
  std::vector<std::uint64_t> routed;         ///< [level][slice of the router]
  /// Cycles that the router's slices sent replies, and that they could not because another slice sent to the same cluster.
  /// 0 unless `selrep.limit` = replies.
  std::uint64_t sending = 0, conflicts = 0;
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, sampled, hits, routed, sending, conflicts); }

  DegreeCounts& operator+=(const DegreeCounts& other) {
    const auto add = [](std::vector<std::uint64_t>& to, const std::vector<std::uint64_t>& from) {
      to.resize(std::max(to.size(), from.size()));
      for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
    };
    add(sampled, other.sampled), add(hits, other.hits), add(routed, other.routed);
    sending += other.sending, conflicts += other.conflicts;
    return *this;
  }
};

}  // namespace atl
