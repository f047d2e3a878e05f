#include <fmt/format.h>

#include <map>
#include <tuple>

#include "extreme_machines.hpp"
#include "random_programs.hpp"

namespace atl::drain_test {
namespace {

using namespace test;

/// Requests that SMs have made and that are not answered, by chip, SM, line and kind of answer.
struct Ledger : ChipObserver {
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, bool>;
  std::map<Key, int> open;
  std::uint64_t answered = 0, passed_by = 0;  ///< passed_by: loads that the L1 did not see
  bool unasked = false;

  void on_l1_load(const Context& c, std::uint32_t sm, LineAddr line, std::uint8_t, L1Outcome outcome) override {
    if (outcome == L1Outcome::fetch) ++open[{c.chip, sm, line.value, false}];
  }
  void on_l1_store(const Context& c, std::uint32_t sm, LineAddr line) override { ++open[{c.chip, sm, line.value, true}]; }
  void on_l1_atomic(const Context& c, std::uint32_t sm, LineAddr line) override { ++open[{c.chip, sm, line.value, true}]; }
  void on_event(const Context& c, const Event& e) override {
    if (e.kind != EventKind::l1_fill) return;
    const Packet& p = e.packet;
    const bool direct = p.has(kDirect);
    if (direct && p.kind == PacketKind::read_data) return void(++passed_by);
    ++answered;
    if (--open[{c.chip, p.sm, p.line.value, direct}] < 0) unasked = true;
  }
  bool settled() const {
    return !unasked && std::all_of(open.begin(), open.end(), [](const auto& entry) { return entry.second == 0; });
  }
};

/// Runs, and checks that everything asked for came, once, and that the machine is at rest (in run()).
void check(const SystemConfig& config, const RandomShape& shape, std::uint32_t seed) {
  const std::string what =
      fmt::format("{} chips, topology {}, {}, {}, {} B lines, {}, {} queue places, seed {}", config.chips,
                  static_cast<int>(config.link.topology),
                  words<LlcOrganisation>()[static_cast<std::size_t>(config.llc.organisation)].word,
                  words<CoherenceProtocol>()[static_cast<std::size_t>(config.coherence.protocol)].word, config.line_bytes,
                  config.llc.sectored ? "sectored" : "whole lines", config.noc.queue_packets, seed);
  CAPTURE(what);
  ScriptedWorkload w = random_workload(config, shape, seed);
  Ledger ledger;
  RunResult r;
  REQUIRE_NOTHROW(r = run(config, w, &ledger));
  CHECK(r.complete);
  CHECK(ledger.settled());
  CHECK(ledger.answered > 0);
  CHECK(total(r, Counter::ctas) == config.chips * shape.ctas_per_chip * shape.kernels);
  CHECK(total(r, Counter::l1_accesses) ==
        total(r, Counter::l1_hits) + total(r, Counter::l1_merges) + total(r, Counter::l1_misses));
  CHECK(total(r, Counter::llc_accesses) ==
        total(r, Counter::llc_hits) + total(r, Counter::llc_merges) + total(r, Counter::llc_misses));
  CHECK(total(r, Counter::l2_accesses) ==
        total(r, Counter::l2_hits) + total(r, Counter::l2_merges) + total(r, Counter::l2_misses));
  CHECK(total(r, Counter::loads_completed) == total(r, Counter::l1_accesses) + ledger.passed_by);
}

/// Every organisation, topology, number of chips, line size and sectoring.
void for_each_system(const std::function<void(SystemConfig, std::uint32_t)>& f) {
  std::uint32_t seed = 1;
  for (const SystemConfig& base : machines(tiny(1))) {
    for (const Topology topology : {Topology::ring, Topology::full, Topology::switched}) {
      for (std::uint32_t chips = 2; chips <= 5; ++chips) {
        for (const bool sectored : {false, true}) {
          SystemConfig c = base;
          c.chips = chips, c.link.topology = topology;
          c.l1.sectored = c.llc.sectored = c.l2.sectored = sectored;
          c.line_bytes = seed % 3 == 0 ? 64 : 128;
          c.dram.timing.burst_bytes = 32;
          c.llc.size_kib = 16, c.l1.size_kib = 1;  // replacement and write-back all the time
          c.partition.placement = seed % 2 == 0 ? Placement::first_touch : Placement::interleaved;
          c.partition.mapping = seed % 5 == 0 ? Mapping::interleaved : Mapping::pae;
          f(c, seed++);
        }
      }
    }
  }
}

TEST_CASE("every request is answered once and every credit returns, on all kinds of systems" *
          doctest::test_suite("stress")) {
  for_each_system(
      [](const SystemConfig& c, std::uint32_t seed) { check(c, {.kernels = 2, .lines = 300, .spread = 1280}, seed); });
}

TEST_CASE("with one place in every queue and one cycle on every wire nothing deadlocks or is lost" *
          doctest::test_suite("stress")) {
  for_each_system([](SystemConfig c, std::uint32_t seed) {
    minimise(c);
    check(c, {.lines = 300, .spread = 1280}, 100 + seed);
  });
}

TEST_CASE("a few lines that all chips write, add to and read at once do not deadlock at minimum buffers" *
          doctest::test_suite("stress")) {
  for_each_system([](SystemConfig c, std::uint32_t seed) {
    minimise(c);
    check(c, {.lines = 12, .spread = 4096}, 200 + seed);
  });
}

TEST_CASE("L1s that serve each other answer every request once, with queues of usual size and with one place in each" *
          doctest::test_suite("stress")) {
  for_each_system([](SystemConfig c, std::uint32_t seed) {
    share_l1s(c, seed);
    check(c, {.kernels = 2, .lines = 150, .spread = 1280}, 400 + seed);
    minimise(c);
    check(c, {.lines = seed % 2 == 0 ? 12u : 150u, .spread = 1280}, 500 + seed);
    c.l1.mshrs = c.l1.mshr_merges = c.l1.pending_stores = 16;  // much traffic against single places
    check(c, {.ctas_per_chip = 8, .warps = 4, .lines = 60, .spread = 1280}, 600 + seed);
  });
}

TEST_CASE("routers with virtual channels deliver every response once, with room for one packet and for several") {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    SystemConfig c = tiny(1);
    route_responses(c, seed);
    c.llc.replication = seed % 3 == 0 ? Replication::shared : Replication::degree_2;
    c.llc.size_kib = 16, c.l1.size_kib = 1;
    c.llc.sectored = c.l1.sectored = seed % 2 == 1;
    if (seed % 4 == 3) minimise(c), c.l1.mshrs = c.l1.mshr_merges = c.l1.pending_stores = 16;
    check(c, {.kernels = 2, .ctas_per_chip = 8, .warps = 4, .spread = 1280, .read_only_lines = 50}, 700 + seed);
  }
}

TEST_CASE("saturating all-to-all traffic at minimum buffers does not deadlock" * doctest::test_suite("stress")) {
  for (const SystemConfig& base : machines(tiny(1))) {
    for (std::uint32_t seed = 0; seed < 12; ++seed) {
      SystemConfig c = base;
      c.chips = 4 + seed % 5;
      minimise(c);
      c.partition.placement = Placement::interleaved;
      c.sm.count = 4, c.sm.warps = 16;
      c.l1.mshrs = c.l1.pending_stores = 16;  // much traffic against single places
      c.llc.size_kib = 16, c.l1.size_kib = 1;
      c.llc.sectored = c.l1.sectored = c.l2.sectored = seed % 2 == 1;
      c.link.bandwidth_gbps = seed % 3 == 0 ? 1000 : 20;
      check(c, {.ctas_per_chip = 16, .warps = 4, .ops = 12, .lines = 4000, .spread = 4096 + 128}, 300 + seed);
    }
  }
}

}  // namespace
}  // namespace atl::drain_test
