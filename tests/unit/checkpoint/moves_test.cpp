#include "resumable.hpp"

namespace atl::test {
namespace {

/// One chip is the home of everything: it has most to do.
SystemConfig uneven(SystemConfig c) {
  c.partition.placement = Placement::fixed;
  return c;
}

TEST_CASE("chips that move between threads at every turn change nothing, and checkpoints of such runs go on anywhere" *
          doctest::test_suite("stress")) {
  std::uint64_t moves = 0;
  for (std::uint32_t seed = 1; seed <= 8; ++seed) {
    StressCase c = resume_case(seed);
    c.system = uneven(c.system);
    CAPTURE(seed);
    CAPTURE(c.name);
    CAPTURE(c.system.chips);
    validate(c.system);
    ScriptedWorkload w = stress_workload(c.system, c.shape, seed);
    Resumable plain;
    const RunResult wanted = run_on(c.system, w, 1, plain);
    const auto most = static_cast<int>(c.system.chips + 1);
    for (const int threads : {2, 3}) {
      Resumable moving{.every = std::max<Cycle>(1, wanted.cycles / 7), .moves = kRestless};
      const RunResult got = run_on(c.system, w, std::min(most, threads), moving);
      check_same(got, wanted);
      moves += got.provenance.moves;
      REQUIRE(!moving.states.empty());
      const SystemState& from = moving.states[seed % moving.states.size()];
      Resumable again{.from = &from, .moves = seed % 2 == 0 ? kRestless : MoveRule{}};
      check_same(run_on(c.system, w, std::min(most, 1 + static_cast<int>(seed % 4)), again), wanted);
    }
  }
  CHECK(moves > 50);
  MESSAGE(moves, " moves");
}

TEST_CASE("a thread whose chips all have little to do takes one of the other, once, and says so") {
  SystemConfig c = uneven(tiny(4));
  ScriptedWorkload w = stress_workload(c, {.lines = 200}, 1);
  Resumable plain, moving{.moves = kRestless}, still{.moves = {}};
  const RunResult wanted = run_on(c, w, 1, plain);
  CHECK(wanted.provenance.moves == 0);
  const RunResult stayed = run_on(c, w, 2, still), got = run_on(c, w, 2, moving);
  check_same(stayed, wanted);
  check_same(got, wanted);
  CHECK(stayed.provenance.moves == 0);
  CHECK(got.provenance.moves > 0);
  CHECK(got.provenance.wait_shares.size() == 2);
  CHECK(got.provenance.process_events == wanted.provenance.process_events);
}

TEST_CASE("threads that each have one chip stay as they are") {
  SystemConfig c = uneven(tiny(3));
  ScriptedWorkload w = stress_workload(c, {.lines = 60}, 1);
  Resumable plain, moving{.moves = kRestless};
  const RunResult got = run_on(c, w, 4, moving);
  check_same(got, run_on(c, w, 1, plain));
  CHECK(got.provenance.moves == 0);
}

}  // namespace
}  // namespace atl::test
