#include "tests/bench/replay.hpp"

#include <algorithm>

#include "comm/batch_plan.hpp"
#include "comm/synchroniser.hpp"

namespace atl::bench {
namespace {

/// Of one group with another: when this one's last batch was sent, and whether it is still to be received.
struct Side {
  std::size_t pair;
  int here;  ///< 0 or 1: whose side of the pair
};

struct Batch {
  Cycle period = 1;
  double sent[2] = {0, 0};
  bool under_way[2] = {false, false};  ///< to be received by this side
};

struct Group {
  std::vector<LpId> members;
  std::vector<Side> sides;
  std::size_t first = 0;  ///< of its pairs: groups take their turn in this order
};

/// [rank]: its groups in the order of running.
std::vector<std::vector<Group>> groups_of(const BatchPlan& plan, const std::vector<int>& rank_of, int ranks) {
  std::vector<std::vector<Group>> out(static_cast<std::size_t>(ranks));
  for (LpId lp = 0; lp < rank_of.size(); ++lp) {
    if (plan.group[lp] != lp) continue;
    Group g;
    g.first = plan.pairs.size();
    for (LpId member = 0; member < rank_of.size(); ++member)
      if (plan.group[member] == lp) g.members.push_back(member);
    for (std::size_t i = plan.pairs.size(); i-- > 0;) {
      if (plan.pairs[i].a != lp && plan.pairs[i].b != lp) continue;
      g.sides.insert(g.sides.begin(), {i, plan.pairs[i].a == lp ? 0 : 1});
      g.first = i;
    }
    out[static_cast<std::size_t>(rank_of[lp])].push_back(std::move(g));
  }
  for (auto& groups : out)
    std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.first < b.first; });
  return out;
}

}  // namespace

Replayed replay(const WorkLog& log, const std::vector<int>& rank_of, const std::vector<std::vector<Edge>>& edges,
                const Costs& costs) {
  const int ranks = *std::max_element(rank_of.begin(), rank_of.end()) + 1;
  const BatchPlan plan = plan_batches(rank_of, edges);
  const auto groups = groups_of(plan, rank_of, ranks);
  std::vector<Batch> batches;
  for (const BatchPlan::Pair& p : plan.pairs) batches.push_back({p.latency / log.length});
  std::vector<double> clock(static_cast<std::size_t>(ranks));
  Replayed out;
  double busy = 0;
  const auto receive = [&](const Group& g, double& now) {
    for (const Side& s : g.sides) {
      Batch& b = batches[s.pair];
      if (!b.under_way[s.here]) continue;
      b.under_way[s.here] = false;
      now = std::max(now, b.sent[1 - s.here] + costs.wire) + costs.batch / 2;
      busy += costs.batch / 2;
    }
  };
  Cycle index = log.windows.empty() ? 0 : log.windows.front().index;
  for (std::size_t next = 0; next < log.windows.size(); ++index) {
    const bool logged = log.windows[next].index == index, meet = ranks > 1 && (index + 1) % Synchroniser::kSkipWindows == 0;
    // What was sent before this window, by the ranks that are looked at first, too, is not what they send in it.
    std::vector<std::pair<const Side*, double>> sent;
    for (std::size_t r = 0; r < groups.size(); ++r) {
      for (const Group& g : groups[r]) {
        receive(g, clock[r]);
        double work = 0;
        if (logged)
          for (const LpId member : g.members) work += costs.event * log.windows[next].events[member];
        clock[r] += work, busy += work;
        for (const Side& s : g.sides) {
          if (!meet && (index + 1) % batches[s.pair].period != 0) continue;
          clock[r] += costs.batch / 2, busy += costs.batch / 2;
          sent.emplace_back(&s, clock[r]);
        }
      }
    }
    for (const auto& [side, when] : sent) {
      batches[side->pair].sent[side->here] = when;
      batches[side->pair].under_way[1 - side->here] = true;
    }
    ++out.windows;
    next += logged ? 1 : 0;
    if (meet) {
      for (std::size_t r = 0; r < groups.size(); ++r)
        for (const Group& g : groups[r]) receive(g, clock[r]);
      std::fill(clock.begin(), clock.end(), *std::max_element(clock.begin(), clock.end()) + costs.meeting);
    }
    const bool jump = meet || ranks == 1;
    if (jump && next < log.windows.size()) index = std::max(index, log.windows[next].index - 1);
  }
  out.seconds = *std::max_element(clock.begin(), clock.end());
  out.waited = out.seconds > 0 ? 1 - busy / (out.seconds * ranks) : 0;
  return out;
}

}  // namespace atl::bench
