#include "cluster_terms.hpp"
#include "core/chip/observe/consistency_checker.hpp"

// COLAB: its queues, ports and arbitration, and the order of reads and stores.
namespace atl {
namespace {

using namespace test;

TEST_CASE("a full input queue sends a miss to the network at once, as if there were no table") {
  SystemConfig config = cluster_of(2);
  config.cluster.input_queue = 1;
  ScriptedWorkload w;
  w.kernel(2);
  w.warp(0).load(kA, 0).after({0}).load(kB, 0);
  w.warp(1).pause(1000).loads({Access::make(kA, 0xF), Access::make(kB, 0xF)}, 0);
  LatencyLog log;
  const RunResult r = run(config, w, &log);
  const ClusterTerms t(config);
  CHECK(log.of(1) == std::vector<Cycle>{t.served(), t.llc_hit()});
  CHECK(total(r, Counter::cluster_input_full) == 1);
  CHECK(total(r, Counter::cluster_lookups) == 3);
  CHECK(total(r, Counter::l1_misses) == 4);
}

TEST_CASE("a full access queue sends a table hit to the network") {
  SystemConfig config = cluster_of(3);
  config.cluster.access_queue = 1;
  ScriptedWorkload w;
  w.kernel(3);
  evict(w.warp(0).load(kA, 0).after({0}), kA).load(kB, 0);
  w.warp(1).pause(3000).load(kA, 0);  // not there any more: keeps its place until it goes on to the network
  w.warp(2).pause(3000).load(kB, 0);
  LatencyLog log;
  const RunResult r = run(config, w, &log);
  const ClusterTerms t(config);
  CHECK(log.of(1) == std::vector<Cycle>{t.table() + t.l1() + t.llc_hit()});
  CHECK(log.of(2) == std::vector<Cycle>{t.table() + t.llc_hit()});
  CHECK(total(r, Counter::cluster_access_full) == 1);
  CHECK(total(r, Counter::cluster_table_hits) == 2);
}

TEST_CASE("the table looks one line up per cycle") {
  const SystemConfig config = cluster_of(4);
  ScriptedWorkload w;
  w.kernel(4, 1);
  w.warp(0).load(kA, 0).after({0}).load(kB, 0).after({0}).load(kC, 0);
  // CTAs start one per cycle: SMs 1 and 2 ask in one cycle if the first waits for one more.
  w.warp(1).pause(1001).load(kA, 0);
  w.warp(2).pause(1000).load(kB, 0);
  w.warp(3).pause(1500).load(kC, 0);
  LatencyLog log;
  run(config, w, &log);
  const ClusterTerms t(config);
  CHECK(std::min(log.of(1)[0], log.of(2)[0]) == t.served());
  // The second is looked up one cycle later, and its line leaves the owner's port behind the first.
  CHECK(std::max(log.of(1)[0], log.of(2)[0]) == t.served() + t.across());
  CHECK(log.of(3) == std::vector<Cycle>{t.served()});
}

TEST_CASE("a line holds the ports of owner and requester for its transfer") {
  for (const std::uint32_t port_bytes : {32u, 48u, 128u}) {
    CAPTURE(port_bytes);
    SystemConfig config = cluster_of(4);
    config.cluster.port_bytes = port_bytes;
    const Cycle across = (128 + port_bytes - 1) / port_bytes;
    ScriptedWorkload w;
    w.kernel(3);
    w.warp(0).load(kA, 0);
    w.warp(2).load(kB, 0);
    w.warp(1).pause(1000).loads({Access::make(kA, 0xF), Access::make(kB, 0xF)}, 0);  // two owners
    LatencyLog log;
    run(config, w, &log);
    const ClusterTerms t(config);
    const Cycle first = 2 * t.l1() + t.table() + across;
    CHECK(log.of(1) == std::vector<Cycle>{first, first + across - 1});
  }
}

TEST_CASE("an owner looks up only what will find a place in its response buffer") {
  for (const std::uint32_t places : {1u, 2u}) {
    CAPTURE(places);
    SystemConfig config = cluster_of(4);
    config.cluster.response_buffer = places;
    config.cluster.port_bytes = 4;  // 32 cycles a line
    ScriptedWorkload w;
    w.kernel(4);
    w.warp(0).load(kA, 0).after({0}).load(kB, 0).after({0}).pause(2000).loads({Access::make(kA, 0xF), Access::make(kA, 0xF)},
                                                                              0);
    w.warp(1).pause(1000).load(kA, 0);
    w.warp(2).pause(1010).load(kB, 0);
    w.warp(3).pause(1020).load(kA, 0);
    struct Lookups : LatencyLog {
      std::vector<Cycle> cycles;
      void on_cluster_answer(const Context& c, std::uint32_t, const Packet&) override { cycles.push_back(c.now()); }
    } log;
    run(config, w, &log);
    REQUIRE(log.cycles.size() == 3);
    const Cycle first = log.cycles[0];
    // Data reach the buffer an L1 latency after the look-up and stay until they have left: 32 cycles each, one after
    // another.
    CHECK(log.cycles[1] == (places == 1 ? first + 32 : first + 11));
    CHECK(log.cycles[2] == (places == 1 ? first + 64 : first + 32));
    const ClusterTerms t(config);
    CHECK(log.of(3)[0] == t.served() + 64 - 22);
  }
}

/// SM 0 presents 30 accesses that hit its L1, one per cycle, while SMs 1 and 2 ask for a line of it in successive cycles.
struct Contest : LatencyLog {
  std::vector<Cycle> own, neighbours;
  void on_l1_load(const Context& c, std::uint32_t sm, LineAddr, std::uint8_t, L1Outcome o) override {
    if (sm == 0 && o == L1Outcome::hit) own.push_back(c.now());
  }
  void on_cluster_answer(const Context& c, std::uint32_t, const Packet&) override { neighbours.push_back(c.now()); }
};
Contest contest(L1Arbitration arbitration) {
  SystemConfig config = cluster_of(4);
  config.cluster.arbitration = arbitration;
  ScriptedWorkload w;
  w.kernel(3);
  w.warp(0).load(kA, 0).after({0}).load(kB, 0).after({0}).pause(600).loads(std::vector<Access>(30, Access::make(kA, 0xF)),
                                                                           0);
  // Asks while these run; the table answers 11 cycles later.
  const Cycle start = [&] {
    ScriptedWorkload alone = w;
    Contest log;
    run(config, alone, &log);
    return log.own.at(0);
  }();
  struct Starts : Contest {
    Cycle first = kNever;
    void on_event(const Context& c, const Event& e) override {
      if (e.kind == EventKind::warp_ready && first == kNever) first = c.now();
    }
  } starts;
  ScriptedWorkload once = w;
  run(config, once, &starts);
  const auto pause = static_cast<std::uint16_t>(start - starts.first - 5);
  w.warp(1).pause(pause).load(kA, 0);
  w.warp(2).pause(pause).load(kB, 0);
  Contest log;
  run(config, w, &log);
  return log;
}

TEST_CASE("colab_first: reads of neighbours find the owner's L1 at once, and its own accesses wait a cycle for each") {
  const Contest log = contest(L1Arbitration::colab_first);
  REQUIRE(log.own.size() == 30);
  REQUIRE(log.neighbours.size() == 2);
  CHECK(log.neighbours[1] == log.neighbours[0] + 1);
  CHECK(log.own.back() - log.own.front() == 29 + 2);
  CHECK(log.neighbours[0] > log.own.front());
}

TEST_CASE("local_first: reads of neighbours wait until the owner presents nothing") {
  const Contest log = contest(L1Arbitration::local_first);
  REQUIRE(log.own.size() == 30);
  REQUIRE(log.neighbours.size() == 2);
  CHECK(log.own.back() - log.own.front() == 29);
  CHECK(log.neighbours[0] == log.own.back() + 1);
  CHECK(log.neighbours[1] == log.own.back() + 2);
}

TEST_CASE("round_robin: owner and neighbours take turns") {
  const Contest log = contest(L1Arbitration::round_robin);
  REQUIRE(log.own.size() == 30);
  REQUIRE(log.neighbours.size() == 2);
  CHECK(log.neighbours[1] == log.neighbours[0] + 2);
  CHECK(log.own.back() - log.own.front() == 29 + 2);
}

// ---- Stores ----

TEST_CASE("a store ends the entry of its line, unless the owner stores") {
  for (const std::uint32_t writer : {0u, 1u}) {
    const SystemConfig config = cluster_of(3);
    ScriptedWorkload w;
    w.kernel(3);
    w.warp(0).load(kA, 0);
    w.warp(writer).pause(1000).store(kA);
    w.warp(2).pause(3000).load(kA, 0);
    const RunResult r = run(config, w);
    CHECK(total(r, Counter::cluster_served) == (writer == 0));
    CHECK(total(r, Counter::cluster_false_negatives) == (writer == 1));
  }
}

TEST_CASE("the answer to a read that was under way when the line was stored to does not make an owner") {
  const SystemConfig config = cluster_of(2);
  ScriptedWorkload w;
  w.kernel(2);
  w.warp(0).load(kA, 0);
  w.warp(1).pause(60).store(kA).pause(1000).load(kA, 0);
  LatencyLog log;
  const RunResult r = run(config, w, &log);
  const ClusterTerms t(config);
  CHECK(log.of(0)[0] > 100);  // longer than the store waits
  CHECK(log.of(1).back() == t.table() + t.llc_hit());
  CHECK(total(r, Counter::cluster_served) == 0);
  CHECK(total(r, Counter::cluster_false_negatives) == 1);
}

TEST_CASE("a sector that joins an old line in the owner's L1 does not make the old sectors found again") {
  SystemConfig config = cluster_of(2);
  config.l1.sectored = config.llc.sectored = true;
  ScriptedWorkload w;
  w.kernel(2);
  w.warp(1).load(kA, 0, 0x2).after({0}).pause(2000).load(kA, 0, 0x1);
  w.warp(0).pause(1000).store(kA, 0x2).pause(3000).load(kA, 0, 0x2);  // SM 1 has this sector as it was before the store
  ConsistencyChecker checker;
  const RunResult r = run(config, w, &checker);
  CHECK(total(r, Counter::l1_misses) == 3);
  CHECK(total(r, Counter::cluster_served) == 0);
  CHECK(checker.counts().checked == 3);
}

TEST_CASE("a sector asked for before a store that comes behind one asked for after it ends the entry of the line") {
  SystemConfig config = cluster_of(2);
  config.l1.sectored = config.llc.sectored = true;
  ScriptedWorkload w;
  w.kernel(2);
  // Sector 0 is in the LLC, sector 1 in memory: the second read is answered first.
  w.warp(1).load(kA, 0, 0x1).past_l1().after({0}).pause(1000).load(kA, 1, 0x2).pause(40).load(kA, 0, 0x1);
  w.warp(1).after({0, 1}).compute(1, 1);
  const Cycle first = [&] {
    ScriptedWorkload alone = w;
    ResponseLog log;
    run(config, alone, &log);
    REQUIRE(log.responses.size() == 3);
    return log.responses[2].cycle - log.responses[2].latency;  // when sector 1 was asked for
  }();
  struct Starts : ResponseLog {
    Cycle begun = kNever;
    void on_event(const Context& c, const Event& e) override {
      if (e.kind == EventKind::warp_ready && begun == kNever) begun = c.now();
    }
  } starts;
  ScriptedWorkload alone = w;
  run(config, alone, &starts);
  w.warp(0).pause(static_cast<std::uint16_t>(first - starts.begun + 15)).store(kA, 0x2).pause(2000).load(kA, 0, 0x2);
  const RunResult r = run(config, w);
  CHECK(total(r, Counter::cluster_table_hits) == 0);
  CHECK(total(r, Counter::cluster_table_misses) == 3);
}

TEST_CASE("an SM's store waits until its read of the line has left the cluster, and reaches the slice behind it") {
  SystemConfig config = cluster_of(2);
  config.cluster.table_latency_cycles = 500;
  ScriptedWorkload w;
  w.kernel(1);
  w.warp(0).load(kA, 0).store(kA).store(kB);
  struct Order : StoreLog {
    std::vector<PacketKind> at_slice;
    Cycle asked = 0;
    void on_l1_load(const Context& c, std::uint32_t, LineAddr, std::uint8_t, L1Outcome) override { asked = c.now(); }
    void on_llc_lookup(const Context&, std::uint32_t, const Packet& p, LlcOutcome) override {
      if (p.line.value == kA / 128) at_slice.push_back(p.kind);
    }
  } log;
  const RunResult r = run(config, w, &log);
  REQUIRE(log.stores.size() == 2);
  CHECK(log.stores[0].cycle == log.asked + 500);
  CHECK(log.at_slice == std::vector<PacketKind>{PacketKind::read, PacketKind::write});
  CHECK(total(r, Counter::sm_reply_stall) == 499);
}

TEST_CASE("a load of two sectors that a neighbour sends one by one is checked when both are there") {
  SystemConfig config = cluster_of(2);
  config.l1.sectored = config.llc.sectored = true;
  ScriptedWorkload w;
  w.kernel(1);
  w.warp(0).store(kA);
  w.kernel(2);
  w.warp(0).load(kA, 0);
  w.warp(1).pause(2000).load(kA, 0, 0x1).load(kA, 1, 0x2).load(kA, 2, 0x3);
  ConsistencyChecker checker;
  const RunResult r = run(config, w, &checker);
  CHECK(total(r, Counter::cluster_served) == 2);
  CHECK(checker.counts().checked == 4 + 1 + 1 + 2);
  CHECK(checker.counts().unchecked == 0);
}

}  // namespace
}  // namespace atl
