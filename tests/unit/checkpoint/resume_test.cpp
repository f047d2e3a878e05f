#include "resumable.hpp"

namespace atl::test {
namespace {

/// As stress_case(), and every few seeds with L1s that serve each other, or with statistics on the side.
StressCase resume_case(std::uint32_t seed) {
  StressCase c = stress_case(seed);
  SystemConfig& s = c.system;
  if (seed % 3 == 0 && s.llc.replication == Replication::shared) share_l1s(s, seed);
  s.observe.sharing = seed % 5 == 0, s.observe.sm_sharing = seed % 5 == 1;
  s.observe.sharing_window_cycles = 700, s.observe.sm_window_cycles = 300;
  s.observe.neighbours = seed % 4 == 0;
  s.control.sample_cycles = 500;
  return c;
}

TEST_CASE("a run that goes on from any of its checkpoints, on 1, 2, 3 or 5 ranks, ends as if it had never stopped") {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    const StressCase c = resume_case(seed);
    CAPTURE(seed);
    CAPTURE(c.name);
    CAPTURE(c.system.chips);
    validate(c.system);
    ScriptedWorkload w = stress_workload(c.system, c.shape, seed);
    Resumable plain;
    const RunResult wanted = run_on(c.system, w, 1, plain);
    REQUIRE(wanted.complete);
    const auto most = static_cast<int>(c.system.chips + 1);
    Resumable first{.every = std::max<Cycle>(1, wanted.cycles / 9)};
    check_same(run_on(c.system, w, std::min(most, static_cast<int>(1 + seed % 4)), first), wanted);
    REQUIRE(first.states.size() >= 2);
    for (const int ranks : {1, 2, 3, 5}) {
      const SystemState& from = first.states[(seed * 7 + static_cast<unsigned>(ranks)) % first.states.size()];
      CAPTURE(ranks);
      CAPTURE(from.boundary);
      Resumable again{.from = &from};
      check_same(run_on(c.system, w, std::min(most, ranks), again), wanted);
    }
  }
}

}  // namespace
}  // namespace atl::test
