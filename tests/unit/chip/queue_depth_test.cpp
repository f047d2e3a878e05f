#include "run.hpp"
#include "tests/unit/inputs_workload/footprint.hpp"

// Depths of queues are sums over looks, each times the cycles that it stands for: over a long run they come close to the
// time that requests spend there, which is known from elsewhere.
namespace atl {
namespace {

using namespace test;

double mean(const RunResult& r, Counter queue) {
  return static_cast<double>(total(r, queue)) / static_cast<double>(total(r, Counter::queue_looked));
}

std::unique_ptr<Workload> uniform(const std::string& kind) {
  return open_text(one_region(R"("memory_instructions": 200, "compute_instructions": 1,)",
                              R"("pattern": "uniform", "kind": ")" + kind + R"(", "size_kib": 4096)"));
}

TEST_CASE("a load that takes long is seen in its L1's MSHR and in its slice's for as long as it takes, within a look") {
  SystemConfig config = tiny(1);
  config.dram.extra_latency_cycles = 10'000;
  ScriptedWorkload w;
  w.kernel(1);
  w.warp(0).load(0x1000);
  ResponseLog log;
  const RunResult r = run(config, w, &log);
  REQUIRE(log.responses.size() == 1);
  const auto took = static_cast<double>(log.responses[0].latency), look = static_cast<double>(CensusSchedule::kFirst);
  CHECK(std::abs(static_cast<double>(total(r, Counter::queue_l1_mshrs)) - took) <= look);
  CHECK(std::abs(static_cast<double>(total(r, Counter::queue_llc_mshrs)) - took) <= look + 200);
  for (const Counter empty : {Counter::queue_request, Counter::queue_link_out, Counter::queue_link_in})
    CHECK(total(r, empty) == 0);
}

TEST_CASE("looks stand for the run from its first kernel on") {
  const auto w = uniform("true_shared");
  const RunResult r = run(tiny(2), *w);
  const std::uint64_t cycles = r.cycles - r.kernels[0].started;
  for (const ChipResult& chip : r.chips) {
    CHECK(chip.totals[Counter::queue_looked] <= r.cycles + CensusSchedule::kLongest);
    CHECK(chip.totals[Counter::queue_looked] + CensusSchedule::kLongest >= cycles);
  }
}

TEST_CASE("the MSHRs in use are as many as loads are under way by Little's law, and never more than there are") {
  SystemConfig config = tiny(4);
  config.partition.placement = Placement::interleaved;
  for (const char* kind : {"private", "true_shared"}) {
    const auto w = uniform(kind);
    const RunResult r = run(config, *w);
    double latencies = 0;
    for (const auto& row : r.structures->use)
      for (const UseCounts& chip : row.chips)
        latencies += static_cast<double>(chip[static_cast<std::size_t>(Use::latency_cycles)]);
    const double under_way = latencies / static_cast<double>(r.cycles) / 4, seen = mean(r, Counter::queue_l1_mshrs);
    CHECK(r.cycles > 100 * CensusSchedule::kFirst);
    CHECK(seen == doctest::Approx(under_way).epsilon(0.05));
    CHECK(seen <= config.l1.mshrs * config.sm.count);
    CHECK(mean(r, Counter::queue_llc_mshrs) <= (config.llc.mshrs + 1) * config.llc.slices);
  }
}

TEST_CASE("queues are deep where the machine is narrow") {
  SystemConfig wide = tiny(4);
  wide.partition.placement = Placement::interleaved;
  wide.l1.mshrs = 64, wide.noc.cluster_gbps = wide.noc.slice_gbps = wide.noc.link_port_gbps = 512;
  wide.llc.slice_gbps = 512, wide.link.bandwidth_gbps = 512, wide.dram.channels = 8;
  SystemConfig narrow_links = wide, slow_memory = wide, slow_slices = wide;
  narrow_links.link.bandwidth_gbps = 4, slow_memory.dram.timing.clock_mhz = 50, slow_slices.llc.slice_gbps = 8;
  const auto w = uniform("true_shared");
  const RunResult usual = run(wide, *w);
  for (const auto& [config, queue] :
       {std::pair{narrow_links, Counter::queue_link_out}, std::pair{slow_memory, Counter::queue_dram},
        std::pair{slow_slices, Counter::queue_slice}}) {
    CAPTURE(static_cast<int>(queue));
    CHECK(mean(run(config, *w), queue) > 4 * mean(usual, queue));
  }
}

}  // namespace
}  // namespace atl
