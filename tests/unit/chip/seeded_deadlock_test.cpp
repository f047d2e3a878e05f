#include "chip_test_access.hpp"
#include "run.hpp"

namespace atl::seeded_deadlock_test {

namespace {

using namespace test;

/// The report of a run in which `breaks` disturbs every chip before the start.
std::string deadlock_report(const SystemConfig& config, Workload& workload, const std::function<void(Chip&)>& breaks) {
  SerialTransport transport;
  SimulationOptions options;
  options.prepare_chip = breaks;
  try {
    simulate(transport, config, workload, RankMap::spread(config.chips, 1), options);
  } catch (const SimulationError& e) {
    return e.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void take_all(Gate& gate) {
  while (gate.acquire()) {
  }
}

TEST_CASE("a slice that lost its credits is named by those who wait for it") {
  SystemConfig config = tiny(2);
  config.control.deadlock_cycles = 20000;
  ScriptedWorkload w;
  w.kernel(2);
  const std::uint32_t slice = AddressMap(config).slice(LineAddr{0x1000 / 128});
  w.warp(0).load(0x1000, 0).after({0}).compute(1, 1);
  const std::string report = deadlock_report(config, w, [&](Chip& c) { take_all(ChipTestAccess::slice_gate(c, slice)); });
  CHECK(contains(report, "deadlock: nothing has moved since cycle 5000 in kernel 0 (kernel0)"));
  CHECK(contains(report, "chip 0:\nSM 0: 1 CTAs, 1 lines missing in L1"));
  CHECK(contains(report, "request port 0: 1 packets, the first waits for slice " + std::to_string(slice)));
  CHECK(contains(report, "chip 1:\nnothing outstanding"));
}

TEST_CASE("a machine that was only slow when it was asked goes on") {
  SystemConfig config = tiny(2);
  config.partition.placement = Placement::first_touch;
  config.control.latency_cycles = 15000;  // a first touch takes 30,000 cycles, and the chips are asked after 20,000
  config.control.deadlock_cycles = 20000;
  ScriptedWorkload w;
  w.kernel(2);
  w.warp(0).load(0x1000, 0).after({0}).compute(1, 1);
  w.warp(1).load(0x9000, 0).after({0}).compute(1, 1);
  CHECK(run(config, w).kernels[0].finished > 30000);
}

TEST_CASE("an instruction that takes longer than a deadlock is no deadlock, nor is a packet on a slow link") {
  SystemConfig config = tiny(2);
  config.control.deadlock_cycles = 20000;
  ScriptedWorkload w;
  w.kernel(2);
  w.warp(0).compute(65535, 1).compute(65535, 1);
  w.warp(1).compute(1, 1);
  CHECK(run(config, w).kernels[0].finished > 2 * 65535);

  config.partition.fixed_chip = 1;
  config.link.bandwidth_gbps = 0.01;  // an answer of 136 bytes takes 13,600 cycles
  config.control.sample_cycles = 1000, config.control.deadlock_cycles = 2000;
  ScriptedWorkload remote;
  remote.kernel(2);
  remote.warp(0).load(0x1000, 0).after({0}).compute(1, 1);
  remote.warp(1).compute(1, 1);
  CHECK(run(config, remote).kernels[0].finished > 13600);

  config.link.bandwidth_gbps = 96, config.link.latency_cycles = 50000;  // a long wire, on which there is no event of a chip
  config.control.latency_cycles = 60000;                                // so that credits are back before the run ends
  CHECK(run(config, remote).kernels[0].finished > 2 * 50000);
}

TEST_CASE("a link that lost its credits is named by those who wait for it") {
  SystemConfig config = tiny(2);
  config.control.deadlock_cycles = 20000;
  ScriptedWorkload w;
  w.kernel(2);
  w.warp(1).load(0x1000, 0).after({0}).compute(1, 1);
  const std::string report = deadlock_report(config, w, [&](Chip& c) {
    for (std::uint32_t channel = 0; channel < 4; ++channel) take_all(ChipTestAccess::link_gate(c, channel));
  });
  CHECK(contains(report, "chip 1:\nSM 0: 1 CTAs, 1 lines missing in L1"));
  CHECK(contains(report, "request port 0: 1 packets, the first waits for the link towards chip 0"));
}

TEST_CASE("reads within a cluster that wait for a port which leads nowhere are named") {
  SystemConfig config = tiny(1);
  config.control.deadlock_cycles = 20000;
  config.noc.sms_per_cluster = 2, config.noc.queue_packets = 1;
  config.cluster.sharing = ClusterShare::colab;
  ScriptedWorkload w;
  w.kernel(1);
  w.warp(0).loads({Access::make(0x1000, 0xF), Access::make(0x2000, 0xF), Access::make(0x3000, 0xF)}, 0);
  w.warp(0).after({0}).compute(1, 1);
  const std::string report = deadlock_report(config, w, [&](Chip& c) {
    for (std::uint32_t slice = 0; slice < config.llc.slices; ++slice) take_all(ChipTestAccess::slice_gate(c, slice));
  });
  CHECK(contains(report, "cluster 0: 2 reads in the ownership table's queue"));
  CHECK(contains(report, "ownership tables: 2 reads wait for their cluster's request port"));
}

}  // namespace
}  // namespace atl::seeded_deadlock_test
