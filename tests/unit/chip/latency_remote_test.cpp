#include "latency_terms.hpp"

namespace atl::latency_remote_test {
namespace {

using namespace test;

constexpr std::uint64_t kA = 0x10000;

/// Latency of the last response when chip 0, the home, has brought the line into its LLC before `chip` acts.
Cycle latency_after_warming(const SystemConfig& config, std::uint32_t chip, void (*act)(Program&)) {
  ScriptedWorkload w;
  w.kernel(config.chips);
  w.warp(0).load(kA, 0).pause(6000);  // chip 0 goes on, and so does not flush its LLC
  act(w.warp(chip).pause(3000));
  ResponseLog log;
  run(config, w, &log);
  REQUIRE(log.responses.size() == 2);
  CHECK(log.responses[1].chip == chip);
  return log.responses[1].latency;
}

TEST_CASE("a remote LLC hit answers after crossbar, hops and look-up there, and hops and crossbar back") {
  const SystemConfig config = tiny(4);
  const Terms t(config);
  const auto load = [](Program& p) { p.load(kA, 0); };
  CHECK(latency_after_warming(config, 1, load) == t.remote_llc_hit(t.header(), t.line(), 1));
  CHECK(latency_after_warming(config, 3, load) == t.remote_llc_hit(t.header(), t.line(), 1));
  CHECK(latency_after_warming(config, 2, load) == t.remote_llc_hit(t.header(), t.line(), 2));
  CHECK(t.remote_llc_hit(t.header(), t.line(), 1) ==
        (1 + 29 + 5) + (1 + 61) + (1 + 5 + 53) + (3 + 7) + (9 + 61) + (3 + 7) + 5);
}

TEST_CASE("in a fully connected system and behind a switch every chip is one hop away") {
  for (const Topology kind : {Topology::full, Topology::switched}) {
    SystemConfig config = tiny(4);
    config.link.topology = kind;
    Terms t(config);
    const auto load = [](Program& p) { p.load(kA, 0); };
    // A chip's port behind the switch is as narrow on the way in as on the way out.
    const Cycle narrow = kind == Topology::switched ? pass(136, 16) - pass(136, 48) + pass(8, 16) - pass(8, 48) : 0;
    CHECK(latency_after_warming(config, 2, load) == t.remote_llc_hit(t.header(), t.line(), 1) + narrow);
  }
}

TEST_CASE("stores and atomics execute at the home chip, one or two hops away") {
  for (const LlcOrganisation organisation : {LlcOrganisation::memory_side, LlcOrganisation::sm_side}) {
    SystemConfig config = tiny(4);
    config.llc.organisation = organisation;
    const Terms t(config);
    for (const std::uint32_t chip : {1u, 2u}) {
      const auto atomic = [](Program& p) { p.atomic(kA, 0); };
      CHECK(latency_after_warming(config, chip, atomic) == t.remote_llc_hit(t.data(1), t.data(1), chip));
      const auto store = [](Program& p) { p.store(kA); };
      const bool local = organisation == LlcOrganisation::sm_side;  // stores stay in the own slice until the kernel ends
      CHECK(latency_after_warming(config, chip, store) ==
            (local ? t.local_llc_hit(t.line(), t.header()) : t.remote_llc_hit(t.line(), t.header(), chip)));
    }
  }
}

TEST_CASE("under SM-side caching a remote line comes past the home's slice from DRAM, and then answers like a local one") {
  SystemConfig config = tiny(4);
  config.llc.organisation = LlcOrganisation::sm_side;
  for (const std::uint32_t hops : {1u, 2u}) {
    ScriptedWorkload w;
    w.kernel(2 * config.chips);  // two CTAs per chip, one per SM
    w.warp(2 * hops).load(kA, 0);
    w.warp(2 * hops + 1).pause(3000).load(kA, 0);
    ResponseLog log;
    const RunResult r = run(config, w, &log);
    const Terms t(config);
    const Cycle miss = t.to_crossbar_end(t.header()) + t.slice_lookup() +                 // own slice
                       config.noc.memory_latency_cycles + hops * t.hop(t.header()) +      // to the home
                       t.to_slice_from_link(t.header()) + t.activate() + t.column(128) +  // its memory
                       t.from_slice(t.line()) + hops * t.hop(t.line()) +                  // back
                       t.out_of_link(t.line()) + config.noc.memory_latency_cycles +       // own slice
                       t.from_slice(t.line()) + t.into_sm(t.line());
    REQUIRE(log.responses.size() == 2);
    CHECK(log.responses[0].latency == miss);
    CHECK(log.responses[1].sm == 1);
    CHECK(log.responses[1].latency == t.local_llc_hit(t.header(), t.line()));
    CHECK(r.chips[0].totals[Counter::llc_bypasses] == 1);
    CHECK(r.chips[0].totals[Counter::llc_accesses] == 0);
  }
}

}  // namespace
}  // namespace atl::latency_remote_test
