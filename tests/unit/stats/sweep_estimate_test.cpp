#include "core/stats/sweep_estimate.hpp"

#include <doctest/doctest.h>

using namespace atl;

TEST_CASE("nothing is known before a point has run to its end") {
  SweepEstimate estimate({"a", "a", "b"}, 1);
  CHECK_FALSE(estimate.seconds_left(1).has_value());
  estimate.ended(0, {});  // failed at once: says nothing about the others
  CHECK_FALSE(estimate.seconds_left(1).has_value());
  estimate.ended(1, 6.0);
  CHECK(estimate.seconds_left(0) == 6.0);
  estimate.ended(2, 2.0);
  CHECK(estimate.seconds_left(0) == 0.0);
}

TEST_CASE("an open point costs what its workload did, or else the mean of all") {
  SweepEstimate estimate({"short", "short", "long", "long", "other"}, 1);
  estimate.ended(0, 1.0);
  estimate.ended(2, 99.0);
  CHECK(estimate.seconds_left(0) == 1.0 + 99.0 + 50.0);
  estimate.ended(3, 101.0);
  estimate.ended(4, {});
  CHECK(estimate.seconds_left(0) == 1.0);
}

TEST_CASE("points that run at a time share the work, as many as there are, and have half of theirs behind them") {
  SweepEstimate estimate({"w", "w", "w", "w", "w"}, 2);
  estimate.ended(0, 10.0);
  CHECK(estimate.seconds_left(0) == 20.0);
  CHECK(estimate.seconds_left(2) == 15.0);
  estimate.ended(1, 10.0);
  estimate.ended(2, 10.0);
  estimate.ended(3, 10.0);
  CHECK(estimate.seconds_left(0) == 10.0);  // one point has no use for two hands
  CHECK(estimate.seconds_left(3) == 5.0);   // no more can run than are open
}
