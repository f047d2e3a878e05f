#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>

#include <fmt/format.h>

#include "core/stats/bottleneck_stack.hpp"
#include "tests/unit/chip/run.hpp"
#include "tests/unit/inputs_workload/footprint.hpp"

// Machines that are wide everywhere but at one place: the stack must name it, wherever the queues form.
namespace atl {
namespace {

using namespace test;
using enum StackPart;

/// Every bandwidth several times what its SMs can ask for.
SystemConfig wide() {
  SystemConfig c = tiny(4);
  c.sm.count = 4, c.sm.warps = 16, c.sm.ctas = 16, c.sm.schedulers = 2;
  c.l1.mshrs = 64, c.l1.pending_stores = 64;
  c.noc.cluster_gbps = c.noc.slice_gbps = c.noc.link_port_gbps = 1024, c.noc.queue_packets = 32;
  c.llc.slices = 4, c.llc.slice_gbps = 2048, c.llc.mshrs = 256, c.llc.mshr_merges = 64, c.llc.latency_cycles = 20;
  c.dram.channels = 16, c.dram.extra_latency_cycles = 10;
  c.link.bandwidth_gbps = 1024, c.link.latency_cycles = 10, c.link.buffer_packets = 64;
  c.partition.placement = Placement::interleaved;
  c.control.latency_cycles = 100;
  return c;
}

/// ... and a second level of as much.
void add_wide_l2(SystemConfig& c) {
  c.l2.slices = 4, c.l2.size_kib = 64, c.l2.ways = 4, c.l2.latency_cycles = 20, c.l2.slice_gbps = 2048;
  c.l2.mshrs = 256, c.l2.mshr_merges = 64, c.l2.memory_gbps = 1024, c.l2.memory_latency_cycles = 10;
}

std::string kernel(const std::string& keys, const std::string& region) {
  return R"({"kernels": [{"ctas": 64, "warps_per_cta": 8, "memory_instructions": 60, )" + keys +
         R"(, "regions": [{"name": "r", "pattern": "uniform", )" + region + "}]}]}";
}
/// Loads that miss the LLC, from all chips' memories.
const std::string kMissing =
    kernel(R"("compute_instructions": 1, "loads_in_flight": 4)", R"("kind": "true_shared", "size_kib": 16384)");
/// Loads that hit the LLC.
const std::string kHitting =
    kernel(R"("compute_instructions": 1, "loads_in_flight": 4)", R"("kind": "private", "size_kib": 128)");
const std::string kStoring = kernel(R"("compute_instructions": 1, "loads_in_flight": 4)",
                                    R"("kind": "private", "size_kib": 128, "write_fraction": 1)");
const std::string kComputing =
    kernel(R"("compute_instructions": 200, "loads_in_flight": 4)", R"("kind": "private", "size_kib": 16)");

Stack sum_of(const RunResult& r) {
  Stack sum;
  for (const auto& chips : r.stack)
    for (const Stack& s : chips) sum += s;
  return sum;
}

std::string_view largest(const Stack& s) {
  return stack_parts()[static_cast<std::size_t>(std::ranges::max_element(s.cycles) - s.cycles.begin())].name;
}

struct Starved {
  const char* name;
  const std::string& workload;
  std::function<void(SystemConfig&)> starve;
  std::vector<std::string_view> parts;  ///< any of them
};

TEST_CASE("a machine that is starved of one resource waits for this resource most of its time") {
  const std::vector<Starved> all = {
      {"narrow links", kMissing, [](SystemConfig& c) { c.link.bandwidth_gbps = 8; }, {"link_out", "link_in"}},
      {"narrow links, SM-side",
       kMissing,
       [](SystemConfig& c) { c.link.bandwidth_gbps = 8, c.llc.organisation = LlcOrganisation::sm_side; },
       {"link_out", "link_in"}},
      {"narrow links behind few MSHRs of slices, SM-side",
       kMissing,
       [](SystemConfig& c) { c.link.bandwidth_gbps = 8, c.llc.mshrs = 16, c.llc.organisation = LlcOrganisation::sm_side; },
       {"link_out", "link_in"}},
      {"slow memory", kMissing, [](SystemConfig& c) { c.dram.timing.clock_mhz = 50; }, {"dram"}},
      {"slow memory, SM-side",
       kMissing,
       [](SystemConfig& c) { c.dram.timing.clock_mhz = 50, c.llc.organisation = LlcOrganisation::sm_side; },
       {"dram"}},
      {"slow memory behind few MSHRs of slices",
       kMissing,
       [](SystemConfig& c) { c.dram.timing.clock_mhz = 10, c.dram.channels = 1, c.llc.mshrs = 8, c.dram.queue = 4; },
       {"dram"}},
      {"few MSHRs of L1s", kMissing, [](SystemConfig& c) { c.l1.mshrs = 1; }, {"mshr"}},
      {"few MSHRs of slices", kMissing, [](SystemConfig& c) { c.llc.mshrs = 1; }, {"mshr"}},
      {"few stores under way", kStoring, [](SystemConfig& c) { c.l1.pending_stores = 1; }, {"mshr"}},
      {"slow slices", kHitting, [](SystemConfig& c) { c.llc.slice_gbps = 8; }, {"slice"}},
      {"slow slices, stores that only a warp's exit waits for",
       kStoring,
       [](SystemConfig& c) { c.llc.slice_gbps = 8, c.l1.pending_stores = 4096; },
       {"slice", "request"}},
      {"slow slices of an L2", kHitting, [](SystemConfig& c) { add_wide_l2(c), c.l2.slice_gbps = 8; }, {"l2"}},
      {"slow slices behind an L2", kMissing, [](SystemConfig& c) { add_wide_l2(c), c.llc.slice_gbps = 8; }, {"slice"}},
      {"narrow links behind an L2",
       kMissing,
       [](SystemConfig& c) { add_wide_l2(c), c.link.bandwidth_gbps = 8; },
       {"link_out", "link_in"}},
      {"slow memory behind an L2",
       kMissing,
       [](SystemConfig& c) { add_wide_l2(c), c.dram.timing.clock_mhz = 50; },
       {"dram"}},
      {"few MSHRs of an L2", kMissing, [](SystemConfig& c) { add_wide_l2(c), c.l2.mshrs = 1; }, {"mshr"}},
      {"narrow cluster ports, loads", kHitting, [](SystemConfig& c) { c.noc.cluster_gbps = 16; }, {"response"}},
      {"narrow slice ports, loads", kHitting, [](SystemConfig& c) { c.noc.slice_gbps = 8; }, {"response"}},
      {"narrow cluster ports, stores", kStoring, [](SystemConfig& c) { c.noc.cluster_gbps = 16; }, {"request"}},
      {"much to compute", kComputing, [](SystemConfig&) {}, {"issue"}},
      {"distant memory", kMissing, [](SystemConfig& c) { c.dram.extra_latency_cycles = 3000, c.l1.mshrs = 256; }, {"dram"}},
      {"distant chips",
       kMissing,
       [](SystemConfig& c) {
         c.link.latency_cycles = 2000, c.control.latency_cycles = 4000, c.link.buffer_packets = 4096, c.l1.mshrs = 256;
       },
       {"link_out", "link_in"}},
  };
  for (const Starved& s : all) {
    SystemConfig c = wide();
    s.starve(c);
    const RunResult r = run(c, *open_text(s.workload));
    Stack sum = sum_of(r);
    const double whole = sum.total();
    std::string shares;
    for (const StackPartInfo& p : stack_parts())
      if (sum[p.id] > 0.005 * whole) shares += fmt::format("{} {:.0f}, ", p.name, 100 * sum[p.id] / whole);
    CAPTURE(std::string(s.name));
    CAPTURE(shares);
    REQUIRE(r.stack.size() == 1);
    for (const Stack& chip : r.stack[0]) {
      CHECK(chip.total() == doctest::Approx(static_cast<double>(r.cycles)).epsilon(1e-9));
      CHECK(*std::ranges::min_element(chip.cycles) >= 0);
    }
    sum[link_in] = sum[link_out] = sum[link_in] + sum[link_out];
    CHECK(std::ranges::find(s.parts, largest(sum)) != s.parts.end());
  }
}

}  // namespace
}  // namespace atl
