#include <doctest/doctest.h>

#include <tuple>

#include "core/control/stack.hpp"

namespace atl {
namespace {

/// At 1 GHz, so that GB/s are bytes per cycle. Every latency is another prime.
SystemConfig machine(std::uint32_t chips) {
  SystemConfig c;
  c.chips = chips, c.core_clock_mhz = 1000, c.line_bytes = 128;
  c.l1.latency_cycles = 29, c.llc.latency_cycles = 53;
  c.noc.cluster_gbps = 32, c.noc.slice_gbps = 64, c.noc.link_port_gbps = 17, c.noc.header_bytes = 8;
  c.noc.request_latency_cycles = 5, c.noc.response_latency_cycles = 7, c.noc.memory_latency_cycles = 3;
  c.link.bandwidth_gbps = 16, c.link.latency_cycles = 61;
  c.dram.extra_latency_cycles = 41;
  c.dram.timing.clock_mhz = 500, c.dram.timing.rcd = 11, c.dram.timing.cl = 13, c.dram.timing.ccd = 2;
  return c;
}
constexpr double kMemory = (11 + 13 + 2) * 2 + 41 + 2 * 3, kHeader = 8, kData = 136;

TEST_CASE("unloaded latencies of a local request are those of each part, and bytes over bandwidths") {
  const StackMachine m = stack_machine(Machine(machine(1)));
  CHECK(m.l1_latency == 29);
  CHECK(m.memory_latency == doctest::Approx(kMemory));
  CHECK(m.local[StackPart::l1] == 29);
  CHECK(m.local[StackPart::request] == doctest::Approx(5 + kHeader / 32));
  CHECK(m.local[StackPart::slice] == 53);
  CHECK(m.local[StackPart::response] == doctest::Approx(7 + kData / 64 + kData / 32));
}

TEST_CASE("what a remote request takes more depends on the mean number of hops between two chips") {
  for (const auto& [chips, topology, hops] : {std::tuple{2u, Topology::ring, 1.0},
                                              {4u, Topology::ring, 4.0 / 3},  // 1, 2, 1
                                              {6u, Topology::ring, 9.0 / 5},  // 1, 2, 3, 2, 1
                                              {5u, Topology::ring, 6.0 / 4},  // 1, 2, 2, 1
                                              {5u, Topology::full, 1.0},
                                              {5u, Topology::switched, 1.0}}) {
    CAPTURE(chips);
    SystemConfig c = machine(chips);
    c.link.topology = topology;
    const StackMachine m = stack_machine(Machine(c));
    CHECK(m.remote[StackPart::link_out] == doctest::Approx(hops * (61 + kHeader / 16)));
    CHECK(m.remote[StackPart::link_in] == doctest::Approx(hops * (61 + kData / 16)));
    CHECK(m.remote[StackPart::request] == doctest::Approx(5 + kHeader / 17));
    CHECK(m.remote[StackPart::response] == doctest::Approx(7 + kData / 17));
    CHECK(m.fetch[StackPart::response] == doctest::Approx(7 + kData / 17 + kData / 64));
  }
}

TEST_CASE("links of a graph have bandwidths of their own, and ports that fit them are as wide") {
  SystemConfig c = machine(3);
  c.link.topology = Topology::graph, c.link.edges = "0-1:300 1-2:500";
  const StackMachine given = stack_machine(Machine(c));
  CHECK(given.remote[StackPart::link_in] == doctest::Approx(4.0 / 3 * (61 + kData / 400)));
  CHECK(given.remote[StackPart::response] == doctest::Approx(7 + kData / 17));
  c.noc.link_port_gbps = 0;
  CHECK(stack_machine(Machine(c)).remote[StackPart::response] == doctest::Approx(7 + kData / 400));
}

TEST_CASE("a fetch from another chip includes its memory where it goes past that chip's slices without a directory") {
  for (const auto& [organisation, protocol, memory, directory] :
       {std::tuple{LlcOrganisation::memory_side, CoherenceProtocol::software, 0.0, 0.0},
        {LlcOrganisation::sm_side, CoherenceProtocol::software, kMemory, 0.0},
        {LlcOrganisation::sac, CoherenceProtocol::software, kMemory, 0.0},
        {LlcOrganisation::sm_side, CoherenceProtocol::rec, 0.0, 19.0}}) {
    SystemConfig c = machine(4);
    c.llc.organisation = organisation, c.coherence.protocol = protocol, c.coherence.directory_latency_cycles = 19;
    const StackMachine m = stack_machine(Machine(c));
    CHECK(m.fetch[StackPart::dram] == doctest::Approx(memory));
    CHECK(m.fetch[StackPart::coherence] == doctest::Approx(directory));
    CHECK(m.fetch[StackPart::slice] == 53);
  }
}

}  // namespace
}  // namespace atl
