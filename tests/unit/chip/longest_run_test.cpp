#include "run.hpp"

namespace atl {
namespace {

using namespace test;

/// So many kernels, each of which has both chips read, write and update lines of both, after a launch of so many cycles.
RunResult run_kernels(int kernels, std::uint32_t launch_latency, Cycle max_cycles = kNever) {
  SystemConfig config = tiny(2);
  config.partition.placement = Placement::interleaved;
  config.control.launch_latency_cycles = launch_latency, config.control.sample_cycles = 4'000'000'000;
  validate(config);
  ScriptedWorkload w;
  for (int k = 0; k < kernels; ++k) {
    w.kernel(2);
    for (std::uint64_t cta = 0; cta < 2; ++cta) {
      const std::uint64_t at = 0x40000 * static_cast<std::uint64_t>(k % 5) + 0x1000 * cta;  // more than the LLC holds
      for (std::uint64_t i = 0; i < 32; ++i) w.warp(cta).load(at + 0x2180 * i, 0).store(at + 0x1180 * i);
      w.warp(cta).atomic(at, 1).after({0, 1}).compute(1, 1);
    }
  }
  SerialTransport transport;
  SimulationOptions options;
  options.max_cycles = max_cycles;
  return *simulate(transport, config, w, RankMap::spread(config.chips, 1), options);
}

TEST_CASE("kernels up to the last cycle that --max-cycles may name take as many cycles as they do at the beginning" *
          doctest::test_suite("stress")) {
  const RunResult early = run_kernels(549, 1'000'000), late = run_kernels(550, 1'000'000'000, kCycleLimit - 1);
  CHECK_FALSE(late.complete);
  CHECK(late.cycles == kCycleLimit - 1 + tiny(2).control.latency_cycles);
  REQUIRE(late.kernels[548].finished > kCycleLimit - 1'000'000'000);
  REQUIRE(late.kernels[548].finished < kCycleLimit);
  for (std::size_t k = 0; k < 549; ++k) {
    CAPTURE(k);
    REQUIRE(late.kernels[k].finished - late.kernels[k].started == early.kernels[k].finished - early.kernels[k].started);
  }
  CHECK(total(early, Counter::dram_reads) > 549);
  CHECK(total(late, Counter::dram_row_conflicts) == total(early, Counter::dram_row_conflicts));
}

TEST_CASE("a run that comes to the first cycle that cannot be kept ends with an error that says what to do" *
          doctest::test_suite("stress")) {
  CHECK_THROWS_WITH_AS(
      run_kernels(550, 1'000'000'000),
      "the run has come to cycle 549755813888, and no time behind it can be kept; end it before with --max-cycles, or give "
      "a shorter workload or shorter latencies (control.launch_latency_cycles)",
      SimulationError);
}

}  // namespace
}  // namespace atl
