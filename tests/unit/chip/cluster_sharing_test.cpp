#include "cluster_terms.hpp"

// COLAB: every path of a read, to the cycle, and what is counted.
namespace atl {
namespace {

using namespace test;

TEST_CASE("a line of a neighbour comes after own look-up, table, owner's look-up and transfer; and is not kept") {
  const SystemConfig config = cluster_of(4);
  ScriptedWorkload w;
  w.kernel(2);
  w.warp(0).load(kA, 0);
  w.warp(1).pause(1000).load(kA, 0).after({0}).pause(100).load(kA, 0);
  LatencyLog log;
  const RunResult r = run(config, w, &log);
  const ClusterTerms t(config);
  CHECK(t.served() == 29 + 11 + 29 + 4);
  CHECK(log.of(1) == std::vector<Cycle>{t.served(), t.served()});
  CHECK(total(r, Counter::cluster_served) == 2);
  CHECK(total(r, Counter::cluster_table_hits) == 2);
  CHECK(total(r, Counter::cluster_held) == 2);
  CHECK(total(r, Counter::cluster_bytes) == 2 * 128);
  CHECK(total(r, Counter::l1_hits) == 0);
  CHECK(total(r, Counter::llc_reads) == 1);
  CHECK(total(r, Counter::noc_response_packets) == 1);
  const auto& served = r.chips[0].latency[static_cast<std::size_t>(DataOrigin::neighbour_l1)];
  CHECK(served[6] == 2);  // 64 to 127 cycles
}

TEST_CASE("everybody who waits for a neighbour's line is woken") {
  const SystemConfig config = cluster_of(2);
  ScriptedWorkload w;
  w.kernel(2, 3);
  w.warp(0).load(kA, 0);
  for (std::uint32_t i = 0; i < 3; ++i) w.warp(1, i).pause(1000).load(kA, 0).after({0}).compute(1, 1);
  LatencyLog log;
  const RunResult r = run(config, w, &log);
  const ClusterTerms t(config);
  CHECK(total(r, Counter::l1_merges) == 2);
  CHECK(total(r, Counter::cluster_served) == 1);
  CHECK(total(r, Counter::loads_completed) == 4);
  CHECK(total(r, Counter::load_latency_cycles) == log.of(0)[0] + 3 * t.served() - 1 - 2);  // asked in successive cycles
}

TEST_CASE("a line that nobody has costs the table's latency on top") {
  const SystemConfig config = cluster_of(2);
  ScriptedWorkload w;
  w.kernel(1);
  w.warp(0).load(kA, 0);
  LatencyLog log;
  const RunResult r = run(config, w, &log);
  const ClusterTerms t(config);
  CHECK(log.of(0) == std::vector<Cycle>{t.table() + t.llc_hit() + t.activate() + t.column(128)});
  CHECK(total(r, Counter::cluster_table_misses) == 1);
  CHECK(total(r, Counter::cluster_held) + total(r, Counter::cluster_false_negatives) == 0);
}

TEST_CASE("an owner that has replaced the line costs its look-up, too") {
  const SystemConfig config = cluster_of(2);
  ScriptedWorkload w;
  w.kernel(2);
  evict(w.warp(0).load(kA, 0).after({0}), kA);
  w.warp(1).pause(3000).load(kA, 0);
  LatencyLog log;
  const RunResult r = run(config, w, &log);
  const ClusterTerms t(config);
  CHECK(log.of(1) == std::vector<Cycle>{t.table() + t.l1() + t.llc_hit()});
  CHECK(total(r, Counter::cluster_false_positives) == 1);
  CHECK(total(r, Counter::cluster_served) == 0);
  CHECK(total(r, Counter::cluster_held) == 0);
}

TEST_CASE("a line that the SM itself fetched last and lost is a table miss") {
  const SystemConfig config = cluster_of(2);
  ScriptedWorkload w;
  w.kernel(1);
  evict(w.warp(0).load(kA, 0).after({0}), kA).pause(500).load(kA, 2);
  LatencyLog log;
  const RunResult r = run(config, w, &log);
  const ClusterTerms t(config);
  CHECK(log.of(0).back() == t.table() + t.llc_hit());
  CHECK(total(r, Counter::cluster_own_entries) == 1);
}

TEST_CASE("stores, atomics and loads that pass the L1 by take no notice of the table") {
  const SystemConfig config = cluster_of(2);
  ScriptedWorkload w;
  w.kernel(2);
  w.warp(0).load(kA, 0);
  w.warp(1).pause(1000).load(kA, 0).past_l1().after({0}).store(kA, 0x3).pause(500).atomic(kA, 1);
  LatencyLog log;
  const RunResult r = run(config, w, &log);
  const ClusterTerms t(config);
  CHECK(log.of(1) ==
        std::vector<Cycle>{t.llc_hit(), t.local_llc_hit(t.data(2), t.header()), t.local_llc_hit(t.data(1), t.data(1))});
  CHECK(total(r, Counter::cluster_lookups) == 1);
}

TEST_CASE("SMs of other clusters are not asked") {
  const SystemConfig config = cluster_of(2, 2);
  ScriptedWorkload w;
  w.kernel(3);
  w.warp(0).load(kA, 0);
  w.warp(2).pause(1000).load(kA, 0);
  LatencyLog log;
  const RunResult r = run(config, w, &log);
  const ClusterTerms t(config);
  CHECK(log.of(2) == std::vector<Cycle>{t.table() + t.llc_hit()});
  CHECK(total(r, Counter::cluster_held) == 0);
}

TEST_CASE("the L1s' invalidation at a kernel's start clears the table; if it is kept, its entries are stale") {
  for (const bool keep : {false, true}) {
    SystemConfig config = cluster_of(2);
    config.cluster.keep_table = keep;
    ScriptedWorkload w;
    w.kernel(2);
    w.warp(0).load(kA, 0);
    w.kernel(2);
    w.warp(1).load(kA, 0);
    LatencyLog log;
    const RunResult r = run(config, w, &log);
    const ClusterTerms t(config);
    CHECK(log.of(1) == std::vector<Cycle>{t.table() + t.llc_hit() + (keep ? t.l1() : 0)});
    CHECK(total(r, Counter::cluster_false_positives) == keep);
  }
}

TEST_CASE("a neighbour's read keeps the owner's line from being replaced, unless it is told not to") {
  for (const bool lru : {true, false}) {
    SystemConfig config = cluster_of(2);
    config.cluster.owner_lru = lru;
    ScriptedWorkload w;
    w.kernel(2);
    Program& p = w.warp(0).load(kA, 0).after({0});
    for (std::uint64_t i = 1; i <= 3; ++i) p.load(kA + 64 * i * kSameSet, 1).after({1});
    p.pause(3000).load(kA + 64 * 4 * kSameSet, 1).after({1}).pause(500).load(kA, 2);
    w.warp(1).pause(2500).load(kA, 0);
    const RunResult r = run(config, w);
    CHECK(total(r, Counter::cluster_served) == 1);
    CHECK(total(r, Counter::l1_hits) == lru);
  }
}

TEST_CASE("what a neighbour has only asked for is counted apart, and cannot be served") {
  const SystemConfig config = cluster_of(2);
  ScriptedWorkload w;
  w.kernel(2);
  w.warp(0).load(kA, 0);
  w.warp(1).pause(40).load(kA, 0);
  const RunResult r = run(config, w);
  CHECK(total(r, Counter::cluster_pending) == 1);
  CHECK(total(r, Counter::cluster_held) == 0);
  CHECK(total(r, Counter::cluster_table_misses) == 2);
}

TEST_CASE("a line that a neighbour holds without the table's knowing is a false negative") {
  SystemConfig config = cluster_of(2);
  config.cluster.table_sets = 1, config.cluster.table_ways = 1;
  ScriptedWorkload w;
  w.kernel(2);
  w.warp(0).load(kA, 0).after({0}).load(kB, 0);
  w.warp(1).pause(1000).load(kA, 0);
  const RunResult r = run(config, w);
  CHECK(total(r, Counter::cluster_held) == 1);
  CHECK(total(r, Counter::cluster_false_negatives) == 1);
  CHECK(total(r, Counter::cluster_served) == 0);
}

// ---- Several chips ----

TEST_CASE("a remote line that a neighbour has does not cross the link again, under every organisation") {
  for (const auto organisation : {LlcOrganisation::memory_side, LlcOrganisation::sm_side, LlcOrganisation::sac}) {
    SystemConfig config = cluster_of(2);
    config.chips = 2;  // all pages live on chip 0
    config.llc.organisation = organisation;
    config.sac.crd_ways = 4, config.sac.crd_sets = 128;
    ScriptedWorkload w;
    w.kernel(4);  // CTAs 2 and 3 run on chip 1
    w.warp(2).load(kA, 0);
    w.warp(3).pause(1000).load(kA, 0);
    const auto packets = [&](ClusterShare sharing) {
      config.cluster.sharing = sharing;
      ScriptedWorkload again = w;
      const RunResult r = run(config, again);
      CHECK(total(r, Counter::cluster_served) == (sharing == ClusterShare::colab));
      CHECK(total(r, Counter::requests_remote) == (sharing == ClusterShare::colab ? 1 : 2));
      return total(r, Counter::link_packets);
    };
    CHECK(packets(ClusterShare::colab) == 2);
    CHECK(packets(ClusterShare::none) == (organisation == LlcOrganisation::sm_side ? 2 : 4));
  }
}

TEST_CASE("reads to a page that nobody has touched wait for its home behind the table, and the next one is served") {
  SystemConfig config = cluster_of(2);
  config.chips = 2;
  config.partition.placement = Placement::first_touch;
  ScriptedWorkload w;
  w.kernel(4);
  w.warp(2).load(kA, 0);
  w.warp(3).pause(500).load(kA, 0).after({0}).pause(100).load(kA, 0);  // the first while the home is unknown
  LatencyLog log;
  const RunResult r = run(config, w, &log);
  const Cycle home = 2 * config.control.latency_cycles;
  REQUIRE(log.of(0).size() == 1);
  REQUIRE(log.of(1).size() == 1);
  CHECK(log.of(0)[0] > home);
  CHECK(log.of(1)[0] > home - 600);
  CHECK(total(r, Counter::cluster_table_misses) == 2);
  CHECK(total(r, Counter::l1_hits) == 1);
}

// ---- Without ----

TEST_CASE("what a neighbour could have served is counted without sharing, too, and changes nothing") {
  SystemConfig config = cluster_of(2);
  config.cluster.sharing = ClusterShare::none;
  const auto measure = [&](bool observe) {
    config.observe.neighbours = observe;
    ScriptedWorkload w;
    w.kernel(2);
    w.warp(0).load(kA, 0);
    w.warp(1).pause(1000).load(kA, 0);
    return run(config, w);
  };
  const RunResult with = measure(true), without = measure(false);
  CHECK(total(with, Counter::cluster_held) == 1);
  CHECK(total(without, Counter::cluster_held) == 0);
  CHECK(total(with, Counter::cluster_lookups) == 0);
  CHECK(with.digest == without.digest);
}

TEST_CASE("cycles stalled on the network are those in which a load-store unit waits for its port or for answers") {
  SystemConfig config = tiny(1);
  config.noc.queue_packets = 1, config.noc.cluster_gbps = 0.5;  // 16 cycles a request
  ScriptedWorkload w;
  w.kernel(1);
  const std::vector<Access> three{Access::make(kA, 0xF), Access::make(kB, 0xF), Access::make(kC, 0xF)};
  w.warp(0).loads(three, 0);
  // The first goes at once, the second waits for the port from the next cycle on, the third in the queue behind it.
  CHECK(total(run(config, w), Counter::sm_port_stall) == 14);
  config.noc.cluster_gbps = 32, config.l1.mshrs = 1;
  ScriptedWorkload again = w;
  LatencyLog log;
  const RunResult r = run(config, again, &log);
  CHECK(total(r, Counter::sm_port_stall) == 0);
  CHECK(total(r, Counter::sm_reply_stall) == log.of(0)[0] - 1 + log.of(0)[1] - 1);
}

TEST_CASE("a run whose reads wait for memory, and not for neighbours, has next to no cycles of these in its stack") {
  const SystemConfig config = cluster_of(2);
  ScriptedWorkload w;
  w.kernel(1);
  for (std::uint64_t i = 0; i < 200; ++i) w.warp(0).load(kA + i * 128, 0).after({0});
  const RunResult r = run(config, w);
  const Stack& s = r.stack[0][0];
  CHECK(s[StackPart::dram] > 0.2 * s.total());
  // The ownership table's share of a load's way.
  const double table = config.cluster.table_latency_cycles, whole = static_cast<double>(r.cycles) / 200;
  CHECK(s[StackPart::cluster] < 2 * table / whole * s.total());
}

}  // namespace
}  // namespace atl
