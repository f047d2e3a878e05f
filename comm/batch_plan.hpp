#pragma once
#include <vector>

#include "core/engine/logical_process.hpp"

namespace atl {

/// Which processes swap batches with which of other ranks.
///
/// Processes of one rank that have edges to the same processes of other ranks are a group, and two groups of different
/// ranks that share an edge are a pair. A group sends when its own window is over, while the rest of its rank still runs,
/// and waits for its own pairs alone: on a ring the ends of a rank's part wait for different neighbours, and its middle
/// for the controller alone.
struct BatchPlan {
  struct Pair {
    LpId a, b;      ///< least process of each group; a < b
    Cycle latency;  ///< smallest of the edges between them
  };
  std::vector<LpId> group;  ///< [process] least process of its group
  std::vector<Pair> pairs;  ///< ascending (a, b); the same on every rank
};

/// `rank_of[process]`: where it lives. `edges`: of all processes.
BatchPlan plan_batches(const std::vector<int>& rank_of, const std::vector<std::vector<Edge>>& edges);

}  // namespace atl
