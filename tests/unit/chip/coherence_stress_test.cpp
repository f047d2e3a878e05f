#include "coherence_stress.hpp"

namespace atl {
namespace {

using namespace test;

// A small part of tests/validation/coherence/stress.cpp.

TEST_CASE("random programs on random machines read nothing stale, whatever the protocol, organisation and replication" *
          doctest::test_suite("stress")) {
  ConsistencyChecker::Counts sum;
  for (std::uint32_t seed = 1; seed <= 120; ++seed) {
    StressCase s = stress_case(seed);
    s.shape.ops = 30;
    CAPTURE(seed);
    CAPTURE(s.name);
    ScriptedWorkload w = stress_workload(s.system, s.shape, seed);
    ConsistencyChecker checker;
    validate(s.system);
    SerialTransport transport;
    SimulationOptions options;
    options.prepare_chip = [&](Chip& chip) { checker.watch(chip); };
    REQUIRE_NOTHROW(simulate(transport, s.system, w, RankMap::spread(s.system.chips, 1), options));
    CHECK_NOTHROW(checker.check_final_image());
    const ConsistencyChecker::Counts& n = checker.counts();
    sum.checked += n.checked, sum.slices += n.slices, sum.endings += n.endings, sum.copies += n.copies,
        sum.sharers_compared += n.sharers_compared;
  }
  CHECK(sum.checked > 500000);
  CHECK(sum.slices > 500000);
  CHECK(sum.endings > 10000);
  CHECK(sum.copies > 1000);
  CHECK(sum.sharers_compared > 10000);
}

}  // namespace
}  // namespace atl
