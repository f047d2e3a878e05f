#include "latency_terms.hpp"

namespace atl::latency_local_test {
namespace {

using namespace test;

constexpr std::uint64_t kA = 0x10000;

/// Cycles at which loads that hit the L1, and shared-memory accesses, have their results.
struct ResultLog : ChipObserver {
  std::vector<Cycle> presented, done, ready;
  void on_l1_load(const Context& c, std::uint32_t, LineAddr, std::uint8_t, L1Outcome) override {
    presented.push_back(c.now());
  }
  void on_event(const Context& c, const Event& e) override {
    if (e.kind == EventKind::access_done) done.push_back(c.now());
    if (e.kind == EventKind::warp_ready) ready.push_back(c.now());
  }
};

TEST_CASE("an L1 hit answers after exactly l1.latency_cycles, and loads that depend on each other follow at that distance") {
  const SystemConfig config = tiny(1);
  ScriptedWorkload w;
  w.kernel(1);
  w.warp(0).load(kA, 0).after({0}).load(kA, 1).after({1}).load(kA, 2).after({2}).load(kA, 3);
  ResultLog log;
  run(config, w, &log);
  const Terms t(config);
  const Cycle miss = t.local_llc_hit(t.header(), t.line()) + t.activate() + t.column(128);
  REQUIRE(log.presented.size() == 4);
  REQUIRE(log.done.size() == 3);
  CHECK(log.presented[1] - log.presented[0] == miss);
  for (int i = 0; i < 3; ++i) CHECK(log.done[i] - log.presented[i + 1] == 29);
  CHECK(log.presented[3] - log.presented[1] == 2 * 29);
}

TEST_CASE("a local LLC hit answers after request, look-up and response, and no more") {
  const SystemConfig config = tiny(1);
  ScriptedWorkload w;
  w.kernel(2);
  w.warp(0).load(kA, 0);
  w.warp(1).pause(1000).load(kA, 0);  // the other SM
  ResponseLog log;
  const RunResult r = run(config, w, &log);
  const Terms t(config);
  REQUIRE(log.responses.size() == 2);
  CHECK(log.responses[1].sm == 1);
  CHECK(log.responses[1].latency == t.local_llc_hit(t.header(), t.line()));
  CHECK(t.local_llc_hit(t.header(), t.line()) == 1 + 29 + 5 + 53 + 3 + 7 + 5);
  CHECK(total(r, Counter::llc_hits) == 1);
  CHECK(total(r, Counter::load_latency_cycles) == log.responses[0].latency + log.responses[1].latency);
}

TEST_CASE("a response that meets no other takes as long through routers with virtual channels") {
  SystemConfig config = tiny(1);
  config.noc.cluster_gbps = config.noc.slice_gbps = 34;  // 136 bytes in four cycles
  ScriptedWorkload w;
  w.kernel(2);
  w.warp(0).load(kA, 0);
  w.warp(1).pause(1000).load(kA, 0);
  for (const std::uint32_t channels : {0u, 1u, 4u}) {
    config.noc.virtual_channels = channels;
    ResponseLog log;
    run(config, w, &log);
    const Terms t(config);
    REQUIRE(log.responses.size() == 2);
    CHECK(log.responses[1].latency == t.local_llc_hit(t.header(), t.line()));
  }
}

TEST_CASE(
    "a DRAM read adds activate and column to an LLC hit; an open row saves the activate; another one costs a precharge") {
  const SystemConfig config = tiny(1);
  const AddressMap map(config);
  const auto same_bank = [&](LineAddr line) {
    return map.channel(line) == map.channel({kA / 128}) && map.bank(line) == map.bank({kA / 128});
  };
  const std::uint32_t row = map.row({kA / 128});
  const std::uint64_t hit = find_line(config, kA, [&](LineAddr l) { return same_bank(l) && map.row(l) == row; });
  const std::uint64_t conflict = find_line(config, kA, [&](LineAddr l) { return same_bank(l) && map.row(l) != row; });
  ScriptedWorkload w;
  w.kernel(1);
  w.warp(0).load(kA, 0).after({0}).pause(500).load(hit, 0).after({0}).pause(500).load(conflict, 0);
  ResponseLog log;
  const RunResult r = run(config, w, &log);
  const Terms t(config);
  const Cycle llc = t.local_llc_hit(t.header(), t.line());
  REQUIRE(log.responses.size() == 3);
  CHECK(log.responses[0].latency == llc + t.activate() + t.column(128));
  CHECK(log.responses[1].latency == llc + t.column(128));
  CHECK(log.responses[2].latency == llc + t.precharge() + t.activate() + t.column(128));
  CHECK(total(r, Counter::dram_row_misses) == 1);
  CHECK(total(r, Counter::dram_row_hits) == 1);
  CHECK(total(r, Counter::dram_row_conflicts) == 1);
}

TEST_CASE("a store is acknowledged after its data went there and a header came back") {
  const SystemConfig config = tiny(1);
  ScriptedWorkload w;
  w.kernel(1);
  w.warp(0).store(kA, 0x3);
  ResponseLog log;
  run(config, w, &log);
  const Terms t(config);
  REQUIRE(log.responses.size() == 1);
  CHECK(log.responses[0].kind == PacketKind::write_ack);
  CHECK(log.responses[0].latency == t.local_llc_hit(t.data(2), t.header()));
}

TEST_CASE("an atomic at its own chip takes an LLC hit with operands there and the old value back") {
  const SystemConfig config = tiny(1);
  ScriptedWorkload w;
  w.kernel(1);
  w.warp(0).load(kA, 0).after({0}).pause(300).atomic(kA, 1).after({1}).atomic(kA);
  ResponseLog log;
  run(config, w, &log);
  const Terms t(config);
  REQUIRE(log.responses.size() == 3);
  CHECK(log.responses[1].latency == t.local_llc_hit(t.data(1), t.data(1)));
  CHECK(log.responses[2].latency == t.local_llc_hit(t.data(1), t.header()));  // nobody wants the result
}

TEST_CASE("a shared-memory access takes one pass per conflict, and accesses of the SM queue for the unit") {
  const SystemConfig config = tiny(1);
  ScriptedWorkload w;
  w.kernel(1, 2);
  w.warp(0, 0).shared(4, 0).after({0}).compute(1, 1);
  w.warp(0, 1).shared(2, 0).after({0}).compute(1, 1);
  ResultLog log;
  run(config, w, &log);
  REQUIRE(log.done.size() == 2);
  const Cycle start = log.ready[0];
  CHECK(log.done[0] == start + (4 - 1) + 31);
  CHECK(log.done[1] == start + 4 + (2 - 1) + 31);
}

}  // namespace
}  // namespace atl::latency_local_test
