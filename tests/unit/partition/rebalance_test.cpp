#include "partition/rebalance.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace atl {
namespace {

using Ranks = std::vector<std::uint32_t>;
using Work = std::vector<std::uint64_t>;

RankMap map_of(const Ranks& rank_of) { return RankMap::of(rank_of, *std::ranges::max_element(rank_of) + 1); }

Ranks ranks_of(const std::optional<RankMap>& map) {
  Ranks out;
  for (LpId lp = 0; map && lp < map->lps(); ++lp) out.push_back(map->rank_of(lp));
  return out;
}

/// Threads of one process; empty: nothing moves.
Ranks moved(const Ranks& rank_of, const Work& work) {
  const RankMap now = map_of(rank_of);
  return ranks_of(rebalanced(now, work, std::vector<int>(now.ranks())));
}

std::uint64_t greatest(const Ranks& rank_of, const Work& work) {
  std::vector<std::uint64_t> load(*std::ranges::max_element(rank_of) + 1);
  for (std::size_t lp = 0; lp < work.size(); ++lp) load[rank_of[lp]] += work[lp];
  return *std::ranges::max_element(load);
}

TEST_CASE("a chip with more than half of the work gets a thread of its own") {
  CHECK(moved({0, 0, 1, 1, 1}, {560, 150, 150, 140, 5}) == Ranks{0, 1, 1, 1, 1});
  CHECK(moved({0, 0, 1, 1, 1}, {150, 560, 150, 140, 5}) == Ranks{1, 0, 1, 1, 1});
}

TEST_CASE("chips change places where no single one may go") {
  const Ranks now = moved({0, 0, 1, 1, 1}, {40, 40, 10, 10, 0});
  CHECK(greatest(now, {40, 40, 10, 10, 0}) == 50);
}

TEST_CASE("nothing moves where work is even, where less than 15 % is to be gained, and where nobody works") {
  CHECK(moved({0, 0, 1, 1, 1}, {100, 100, 100, 100, 3}).empty());
  CHECK(moved({0, 0, 1, 1, 1}, {108, 100, 92, 100, 3}).empty());
  CHECK(moved({0, 0, 1, 1, 1}, {130, 100, 70, 100, 0}).empty());
  CHECK_FALSE(moved({0, 0, 1, 1, 1}, {136, 100, 64, 100, 0}).empty());
  CHECK(moved({0, 0, 1, 1, 1}, {0, 0, 0, 0, 0}).empty());
  CHECK(moved({0, 1, 2, 3, 4}, {500, 1, 1, 1, 1}).empty());
}

TEST_CASE("of equal places a chip takes the one beside its neighbours") {
  CHECK(moved({0, 0, 1, 2, 2}, {50, 50, 10, 10, 0}) == Ranks{2, 0, 1, 1, 2});  // 0 and 3 are neighbours on a ring
  CHECK(moved({0, 0, 0, 1, 2, 3, 3}, {50, 50, 50, 10, 10, 10, 0})[2] == 1);
}

TEST_CASE("the controller stays, though it may have most to do") {
  CHECK(moved({0, 0, 1, 1, 1}, {10, 10, 10, 10, 500}) == Ranks{});
  CHECK(moved({0, 0, 1, 1, 1}, {10, 10, 250, 10, 250}) == Ranks{0, 0, 0, 1, 1});
}

TEST_CASE("chips stay in their address space, and each is balanced for itself") {
  const RankMap now = map_of({0, 0, 1, 1, 2, 2, 3, 3, 3});
  const std::vector<int> spaces{0, 0, 1, 1};
  CHECK(ranks_of(rebalanced(now, Work{900, 900, 1, 1, 10, 10, 10, 10, 0}, spaces)) == Ranks{0, 1, 1, 1, 2, 2, 3, 3, 3});
  CHECK(ranks_of(rebalanced(now, Work{10, 10, 10, 10, 90, 60, 10, 10, 0}, spaces)) == Ranks{0, 0, 1, 1, 2, 3, 3, 3, 3});
  CHECK_FALSE(rebalanced(now, Work{900, 10, 10, 10, 10, 10, 10, 10, 0}, std::vector<int>{0, 1, 2, 3}));
}

TEST_CASE("moves are possible where an address space has several ranks and more chips than these") {
  const std::vector<int> one{0, 0}, two{0, 1};
  CHECK(can_rebalance(map_of({0, 0, 1, 1, 1}), one));
  CHECK_FALSE(can_rebalance(map_of({0, 1, 1}), one));
  CHECK_FALSE(can_rebalance(map_of({0, 0, 1, 1, 1}), two));
  CHECK_FALSE(can_rebalance(map_of({0, 0, 0}), std::vector<int>{0}));
}

/// By trying all.
std::uint64_t least_possible(std::uint32_t ranks, const Work& work, std::uint32_t controller) {
  Ranks rank_of(work.size());
  rank_of.back() = controller;
  std::uint64_t best = ~std::uint64_t{0};
  for (;;) {
    best = std::min(best, greatest(rank_of, work));
    std::size_t i = 0;
    while (i + 1 < work.size() && ++rank_of[i] == ranks) rank_of[i++] = 0;
    if (i + 1 == work.size()) return best;
  }
}

TEST_CASE(
    "a map that is found is better by what was asked, leaves no rank empty, and what stays is hardly improved by any") {
  std::mt19937 random(7);
  std::uint64_t found = 0, best = 0;
  for (int round = 0; round < 300; ++round) {
    const std::uint32_t chips = 3 + random() % 5, ranks = 2 + random() % 2;
    const RankMap now = RankMap::spread(chips, ranks);
    Work work;
    for (LpId lp = 0; lp < chips; ++lp) work.push_back(1000 + random() % 1000 * (random() % 4));
    work.push_back(random() % 50);
    const Ranks before = ranks_of(now), after = moved(before, work);
    if (!after.empty()) {
      CHECK(static_cast<double>(greatest(after, work)) <= 0.85 * static_cast<double>(greatest(before, work)));
      for (std::uint32_t r = 0; r < ranks; ++r) CHECK(std::ranges::count(after, r) > 0);
      CHECK(after.back() == before.back());
    }
    const std::uint64_t here = greatest(after.empty() ? before : after, work);
    const std::uint64_t possible = least_possible(ranks, work, before.back());
    CHECK(static_cast<double>(here) <= 1.2 * static_cast<double>(possible));
    found += here, best += possible;
  }
  CHECK(static_cast<double>(found) < 1.05 * static_cast<double>(best));
}

TEST_CASE("64 chips on 7 threads come to within a tenth of the mean, and the same map stays") {
  std::mt19937 random(3);
  const RankMap now = RankMap::spread(64, 7);
  Work work;
  for (LpId lp = 0; lp <= 64; ++lp) work.push_back(lp < 9 ? 5000 + random() % 3000 : random() % 1000);
  const std::vector<int> spaces(7);
  const auto better = rebalanced(now, work, spaces);
  REQUIRE(better);
  const double mean = std::accumulate(work.begin(), work.end(), 0.0) / 7;
  CHECK(static_cast<double>(greatest(ranks_of(better), work)) < 1.1 * mean);
  CHECK_FALSE(rebalanced(*better, work, spaces));
}

}  // namespace
}  // namespace atl
