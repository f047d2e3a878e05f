#include "core/chip/consistency_checker.hpp"
#include "latency_terms.hpp"

// COLAB, path by path. CTA k of a kernel runs on SM k; all SMs are one cluster unless a test says otherwise.
namespace atl {
namespace {

using namespace test;

constexpr std::uint64_t kA = 0x10000, kB = 0x20080, kC = 0x30100;
constexpr std::uint64_t kSameSet = 1024;  ///< bytes to the next line of the same set of an L1

SystemConfig cluster_of(std::uint32_t sms, std::uint32_t clusters = 1) {
  SystemConfig c = tiny(1);
  c.sm.count = sms * clusters, c.noc.sms_per_cluster = sms;
  c.cluster.sharing = ClusterShare::colab;
  c.cluster.table_latency_cycles = 11;
  c.observe.neighbours = true;
  return c;
}

struct ClusterTerms : Terms {
  using Terms::Terms;
  Cycle table() const { return config.cluster.table_latency_cycles; }
  Cycle l1() const { return config.l1.latency_cycles; }
  Cycle across() const { return config.line_bytes / config.cluster.port_bytes; }
  Cycle llc_hit() const { return local_llc_hit(header(), line()); }
  /// The own look-up, the table's, the owner's, and the line on its way.
  Cycle served() const { return l1() + table() + l1() + across(); }
};

struct Log : ResponseLog {
  /// Latencies of the SM's loads, in the order of their coming.
  std::vector<Cycle> of(std::uint32_t sm) const {
    std::vector<Cycle> list;
    for (const Response& r : responses)
      if (r.sm == sm) list.push_back(r.latency);
    return list;
  }
};

/// Replaces everything in the set of `a` of the L1 that runs it.
Program& evict(Program& p, std::uint64_t a) {
  for (std::uint64_t i = 1; i <= 4; ++i) p.load(a + 64 * i * kSameSet, 1).after({1});
  return p;
}

TEST_CASE("a line of a neighbour comes after own look-up, table, owner's look-up and transfer; and is not kept") {
  const SystemConfig config = cluster_of(4);
  ScriptedWorkload w;
  w.kernel(2);
  w.warp(0).load(kA, 0);
  w.warp(1).pause(1000).load(kA, 0).after({0}).pause(100).load(kA, 0);
  Log log;
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
  Log log;
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
  Log log;
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
  Log log;
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
  Log log;
  const RunResult r = run(config, w, &log);
  const ClusterTerms t(config);
  CHECK(log.of(0).back() == t.table() + t.llc_hit());
  CHECK(total(r, Counter::cluster_own_entries) == 1);
}

TEST_CASE("a full input queue sends a miss to the network at once, as if there were no table") {
  SystemConfig config = cluster_of(2);
  config.cluster.input_queue = 1;
  ScriptedWorkload w;
  w.kernel(2);
  w.warp(0).load(kA, 0).after({0}).load(kB, 0);
  w.warp(1).pause(1000).loads({Access::make(kA, 0xF), Access::make(kB, 0xF)}, 0);
  Log log;
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
  Log log;
  const RunResult r = run(config, w, &log);
  const ClusterTerms t(config);
  CHECK(log.of(1) == std::vector<Cycle>{t.table() + t.l1() + t.llc_hit()});
  CHECK(log.of(2) == std::vector<Cycle>{t.table() + t.llc_hit()});
  CHECK(total(r, Counter::cluster_access_full) == 1);
  CHECK(total(r, Counter::cluster_table_hits) == 2);
}

TEST_CASE("stores, atomics and loads that pass the L1 by take no notice of the table") {
  const SystemConfig config = cluster_of(2);
  ScriptedWorkload w;
  w.kernel(2);
  w.warp(0).load(kA, 0);
  w.warp(1).pause(1000).load(kA, 0).past_l1().after({0}).store(kA, 0x3).pause(500).atomic(kA, 1);
  Log log;
  const RunResult r = run(config, w, &log);
  const ClusterTerms t(config);
  CHECK(log.of(1) ==
        std::vector<Cycle>{t.llc_hit(), t.local_llc_hit(t.data(2), t.header()), t.local_llc_hit(t.data(1), t.data(1))});
  CHECK(total(r, Counter::cluster_lookups) == 1);
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
  Log log;
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
    Log log;
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
    struct Lookups : Log {
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
struct Contest : Log {
  std::vector<Cycle> own, neighbours;
  void on_l1_load(const Context& c, std::uint32_t sm, LineAddr, std::uint8_t, L1Cache::Outcome o) override {
    if (sm == 0 && o == L1Cache::Outcome::hit) own.push_back(c.now());
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

TEST_CASE("SMs of other clusters are not asked") {
  const SystemConfig config = cluster_of(2, 2);
  ScriptedWorkload w;
  w.kernel(3);
  w.warp(0).load(kA, 0);
  w.warp(2).pause(1000).load(kA, 0);
  Log log;
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
    Log log;
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
  Log log;
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
    void on_l1_load(const Context& c, std::uint32_t, LineAddr, std::uint8_t, L1Cache::Outcome) override { asked = c.now(); }
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
  Log log;
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
  Log log;
  const RunResult r = run(config, again, &log);
  CHECK(total(r, Counter::sm_port_stall) == 0);
  CHECK(total(r, Counter::sm_reply_stall) == log.of(0)[0] - 1 + log.of(0)[1] - 1);
}

}  // namespace
}  // namespace atl
