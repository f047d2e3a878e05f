#pragma once
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "chip_test_access.hpp"
#include "comm/serial_transport.hpp"
#include "core/control/simulation.hpp"
#include "inputs/config/validate.hpp"
#include "scripted_workload.hpp"

/// Running small machines in tests.
namespace atl::test {

/// A small machine at 1 GHz, so that GB/s are bytes per cycle. Every latency is another prime: a term that is missing or
/// counted twice shows in a sum. CTA k of a kernel with one CTA per chip runs on chip k; all pages live on chip 0.
inline SystemConfig tiny(std::uint32_t chips) {
  SystemConfig c;
  c.name = "tiny", c.chips = chips, c.core_clock_mhz = 1000, c.line_bytes = 128;
  c.sm.count = 2, c.sm.warps = 8, c.sm.ctas = 8, c.sm.schedulers = 1, c.sm.shared_latency_cycles = 31;
  c.l1.size_kib = 4, c.l1.ways = 4, c.l1.latency_cycles = 29, c.l1.mshrs = 16;
  c.noc.sms_per_cluster = 1, c.noc.cluster_gbps = 32, c.noc.slice_gbps = 64, c.noc.link_port_gbps = 48,
  c.noc.header_bytes = 8;
  c.noc.request_latency_cycles = 5, c.noc.response_latency_cycles = 7, c.noc.memory_latency_cycles = 3;
  c.llc.slices = 2, c.llc.size_kib = 64, c.llc.ways = 4, c.llc.latency_cycles = 53, c.llc.slice_gbps = 128;
  c.dram.channels = 2, c.dram.extra_latency_cycles = 41;
  c.dram.timing.clock_mhz = 1000;  // so that DRAM clocks are cycles
  c.dram.timing.burst_bytes = 64;
  c.link.bandwidth_gbps = 16, c.link.latency_cycles = 61, c.link.credit_cycles = 4;
  c.partition.placement = Placement::fixed;
  c.control.latency_cycles = 1000, c.control.launch_latency_cycles = 100, c.control.sample_cycles = 5000;
  c.control.deadlock_cycles = 50000;
  return c;
}

/// Runs to the end, checks that every chip is at rest then, and returns the result.
inline RunResult run(const SystemConfig& config, Workload& workload, ChipObserver* observer = nullptr) {
  validate(config);
  SerialTransport transport;
  SimulationOptions options;
  options.prepare_chip = [&](Chip& chip) { chip.observe(observer); };
  options.inspect_chip = []([[maybe_unused]] Chip& chip) {
    CAPTURE(chip.id());
    CHECK(chip.drained());
    CHECK(ChipTestAccess::counts_its_lines(chip));
  };
  return *simulate(transport, config, workload, RankMap::spread(config.chips, 1), options);
}

inline std::uint64_t total(const RunResult& r, Counter c) {
  std::uint64_t sum = 0;
  for (const ChipResult& chip : r.chips) sum += chip.totals[c];
  return sum;
}

/// Cycles that a packet takes to pass an idle server.
inline Cycle pass(std::uint32_t bytes, double bytes_per_cycle) {
  return static_cast<Cycle>(std::ceil(bytes / bytes_per_cycle));
}

/// All responses that reach SMs, in order.
struct ResponseLog : ChipObserver {
  struct Response {
    Cycle cycle, latency;  ///< latency: since the request was presented to the L1
    std::uint32_t chip, sm;
    PacketKind kind;
    LineAddr line;
  };
  std::vector<Response> responses;
  void on_event(const Context& c, const Event& e) override {
    if (e.kind != EventKind::l1_fill) return;
    const Packet& p = e.packet;
    responses.push_back({c.now(), static_cast<std::uint32_t>(c.now()) - p.born, c.chip, p.sm, p.kind, p.line});
  }
};

/// All stores, in the order in which the SMs present them: a mark that a program leaves at a known place.
struct StoreLog : ChipObserver {
  struct Store {
    Cycle cycle;
    std::uint32_t chip, sm;
    std::uint64_t address;
  };
  std::vector<Store> stores;
  void on_l1_store(const Context& c, std::uint32_t sm, LineAddr line) override {
    stores.push_back({c.now(), c.chip, sm, line.value * c.machine.config.line_bytes});
  }
};

}  // namespace atl::test
