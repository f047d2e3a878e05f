#include "tests/unit/chip/run.hpp"

// Where a run ends that is given `max_cycles`.
namespace atl {
namespace {

using namespace test;

RunResult run_up_to(Cycle limit, std::uint32_t chips, std::uint32_t kernels = 1) {
  ScriptedWorkload w;
  for (std::uint32_t k = 0; k < kernels; ++k) {
    w.kernel(chips);
    w.warp(0).load(0x10000, 0).after({0});
  }
  SystemConfig config = tiny(chips);
  if (kernels > 1) config.control.launch_latency_cycles = 10 * config.control.latency_cycles;
  SerialTransport transport;
  SimulationOptions options;
  options.max_cycles = limit;
  return *simulate(transport, config, w, RankMap::spread(chips, 1), options);
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
      CHECK(cut.cycles == limit + tiny(chips).control.latency_cycles);  // when word of it has come to the chips
      CHECK(cut.samples.back().end == cut.cycles);
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

TEST_CASE("a limit between two kernels, also with the launch under way, is where the run ends") {
  for (const std::uint32_t chips : {1u, 2u}) {
    CAPTURE(chips);
    const RunResult whole = run_up_to(kNever, chips, 2);
    REQUIRE(whole.complete);
    const Cycle launch = whole.kernels[1].started, told = launch - tiny(chips).control.latency_cycles;
    // Chips hear of a limit at `told` in the cycle of the launch, and of one a little before it in the same window.
    for (Cycle limit = whole.kernels[0].finished; limit <= launch + 2;
         limit += limit + 150 > told && limit < told + 3 ? 1 : 97) {
      CAPTURE(limit);
      const RunResult cut = run_up_to(limit, chips, 2);
      CHECK_FALSE(cut.complete);
      CHECK(cut.cycles == limit + tiny(chips).control.latency_cycles);  // when word of it has come to the chips
      CHECK(cut.samples.back().end == cut.cycles);
    }
  }
}

}  // namespace
}  // namespace atl
