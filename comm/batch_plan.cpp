#include "comm/batch_plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace atl {

BatchPlan plan_batches(const std::vector<int>& rank_of, const std::vector<std::vector<Edge>>& edges) {
  std::vector<std::set<LpId>> remote_peers(rank_of.size());  // whom a process has edges to or from in other ranks
  for (LpId from = 0; from < edges.size(); ++from) {
    for (const Edge& e : edges[from]) {
      if (rank_of[from] != rank_of[e.to]) remote_peers[from].insert(e.to), remote_peers[e.to].insert(from);
    }
  }
  BatchPlan plan;
  std::map<std::pair<int, std::set<LpId>>, LpId> least;
  for (LpId lp = 0; lp < rank_of.size(); ++lp)
    plan.group.push_back(least.try_emplace({rank_of[lp], remote_peers[lp]}, lp).first->second);
  std::map<std::pair<LpId, LpId>, Cycle> latency;
  for (LpId from = 0; from < edges.size(); ++from) {
    for (const Edge& e : edges[from]) {
      if (rank_of[from] == rank_of[e.to]) continue;
      const auto [a, b] = std::minmax({plan.group[from], plan.group[e.to]});
      Cycle& smallest = latency.try_emplace({a, b}, e.latency).first->second;
      smallest = std::min(smallest, e.latency);
    }
  }
  for (const auto& [groups, cycles] : latency) plan.pairs.push_back({groups.first, groups.second, cycles});
  return plan;
}

}  // namespace atl
