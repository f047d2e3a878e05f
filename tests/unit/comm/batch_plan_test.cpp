#include "comm/batch_plan.hpp"

#include <doctest/doctest.h>

namespace atl::test {
namespace {

using Edges = std::vector<std::vector<Edge>>;

Edges ring(LpId n, Cycle latency) {
  Edges edges(n);
  for (LpId a = 0; a < n; ++a) edges[a] = {{(a + 1) % n, latency}, {(a + n - 1) % n, latency}};
  return edges;
}

std::vector<std::pair<LpId, LpId>> pairs_of(const BatchPlan& plan) {
  std::vector<std::pair<LpId, LpId>> pairs;
  for (const auto& p : plan.pairs) pairs.emplace_back(p.a, p.b);
  return pairs;
}

using Pairs = std::vector<std::pair<LpId, LpId>>;

TEST_CASE("a ring of four on two ranks: each chip has one neighbour remote_peers and waits for that one only") {
  const BatchPlan plan = plan_batches({0, 0, 1, 1}, ring(4, 32));
  CHECK(plan.group == std::vector<LpId>{0, 1, 2, 3});
  CHECK(pairs_of(plan) == Pairs{{0, 3}, {1, 2}});
}

TEST_CASE("a ring of eight on two ranks: the middle of a rank's part waits for nobody") {
  const BatchPlan plan = plan_batches({0, 0, 0, 0, 1, 1, 1, 1}, ring(8, 32));
  CHECK(plan.group == std::vector<LpId>{0, 1, 1, 3, 4, 5, 5, 7});
  CHECK(pairs_of(plan) == Pairs{{0, 7}, {3, 4}});
}

TEST_CASE("with edges between all, a rank's processes are one group and two ranks swap one batch") {
  Edges edges(6);
  for (LpId a = 0; a < 6; ++a)
    for (LpId b = 0; b < 6; ++b)
      if (a != b) edges[a].push_back({b, 10 + a});
  const BatchPlan plan = plan_batches({0, 1, 2, 0, 1, 2}, edges);
  CHECK(plan.group == std::vector<LpId>{0, 1, 2, 0, 1, 2});
  CHECK(pairs_of(plan) == Pairs{{0, 1}, {0, 2}, {1, 2}});
  CHECK(plan.pairs[0].latency == 10);
  CHECK(plan.pairs[2].latency == 11);
}

TEST_CASE("one rank has no pairs; a slow edge in one direction is a pair of its own") {
  CHECK(plan_batches({0, 0, 0, 0}, ring(4, 32)).pairs.empty());
  Edges edges(3);
  edges[2] = {{0, 500}};
  const BatchPlan plan = plan_batches({0, 0, 1}, edges);
  CHECK(plan.group == std::vector<LpId>{0, 1, 2});
  REQUIRE(pairs_of(plan) == Pairs{{0, 2}});
  CHECK(plan.pairs[0].latency == 500);
}

}  // namespace
}  // namespace atl::test
