#include "tests/unit/chip/run.hpp"

// Where a run ends that is given `max_cycles`.
namespace atl {
namespace {

using namespace test;

RunResult run_up_to(Cycle limit, std::uint32_t chips) {
  ScriptedWorkload w;
  w.kernel(chips);
  w.warp(0).load(0x10000, 0).after({0});
  SerialTransport transport;
  SimulationOptions options;
  options.max_cycles = limit;
  return *simulate(transport, tiny(chips), w, RankMap::spread(chips, 1), options);
}

TEST_CASE("a limit that is reached before the controller learns that the last kernel has ended is where the run ends") {
  for (const std::uint32_t chips : {1u, 2u}) {
    CAPTURE(chips);
    const RunResult whole = run_up_to(kNever, chips);
    REQUIRE(whole.complete);
    CHECK(whole.cycles == whole.kernels[0].finished);
    const Cycle end = whole.cycles, learnt = end + tiny(chips).control.latency_cycles;
    for (const Cycle limit : {end - 1, end, end + 1, learnt - 1, learnt}) {
      CAPTURE(limit);
      const RunResult cut = run_up_to(limit, chips);
      CHECK_FALSE(cut.complete);
      CHECK(cut.cycles == limit);
      CHECK(cut.kernels[0].finished == kNever);
    }
  }
}

TEST_CASE("a limit after the controller has learnt of the last kernel's end does not cut the run") {
  for (const std::uint32_t chips : {1u, 2u}) {
    CAPTURE(chips);
    const RunResult whole = run_up_to(kNever, chips);
    const Cycle learnt = whole.cycles + tiny(chips).control.latency_cycles;
    for (const Cycle limit : {learnt + 1, learnt + 30, learnt + 100'000}) {
      CAPTURE(limit);
      const RunResult same = run_up_to(limit, chips);
      CHECK(same.complete);
      CHECK(same.cycles == whole.cycles);
      CHECK(same.kernels[0].finished == whole.cycles);
    }
    CHECK(run_up_to(learnt + 100'000, chips).digest == whole.digest);
  }
}

}  // namespace
}  // namespace atl
