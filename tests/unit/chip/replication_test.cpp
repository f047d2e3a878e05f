#include <map>
#include <set>

#include "extreme_machines.hpp"
#include "random_programs.hpp"

namespace atl {
namespace {

using namespace test;

/// One chip of 8 clusters and one router with 4 slices of 8 sets and 4 ways.
SystemConfig machine(Replication r, std::uint32_t chips = 1) {
  SystemConfig c = tiny(chips);
  c.sm.count = 8;
  c.llc.slices = 4, c.llc.size_kib = 16, c.dram.channels = 2;
  c.llc.replication = r;
  c.selrep.epoch_cycles = 1000;
  return c;
}

/// Where requests are looked up.
struct LookupLog : ChipObserver {
  std::map<std::uint64_t, std::set<std::uint32_t>> slices;  ///< [line]
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::set<std::uint32_t>> by_chip;
  void on_llc_lookup(const Context& c, std::uint32_t slice, const Packet& p, LlcOutcome) override {
    slices[p.line.value].insert(slice), by_chip[{c.chip, p.line.value}].insert(slice);
  }
};

/// Every SM loads the same lines, one after the other.
ScriptedWorkload readers(const SystemConfig& config, std::uint32_t lines, bool read_only, std::uint32_t kernels = 1) {
  ScriptedWorkload w;
  const std::uint32_t ctas = config.sm.count * config.chips;
  for (std::uint32_t k = 0; k < kernels; ++k) {
    w.kernel(ctas);
    for (std::uint32_t cta = 0; cta < ctas; ++cta) {
      Program& p = w.warp(cta);
      p.pause(static_cast<std::uint16_t>(1 + cta * 500));  // one SM after the other: no merging
      for (std::uint64_t i = 0; i < lines; ++i) {
        p.after({0}).load(0x100000 + i * 128, 0);
        if (read_only) p.ops.back().flags |= kReadOnly;
      }
    }
  }
  return w;
}

}  // namespace

TEST_CASE("read-only lines live in as many slices as the degree says, others in one") {
  for (const auto& [replication, degree] :
       {std::pair{Replication::shared, 1u}, {Replication::degree_2, 2u}, {Replication::per_cluster, 4u}}) {
    const SystemConfig c = machine(replication);
    CAPTURE(degree);
    LookupLog log;
    ScriptedWorkload w = readers(c, 3, true);
    const RunResult r = run(c, w, &log);
    REQUIRE(log.slices.size() == 3);
    for (const auto& [line, slices] : log.slices) CHECK(slices.size() == degree);
    CHECK(total(r, Counter::dram_reads) == 3 * degree);  // each replica is fetched by an ordinary miss
    CHECK(total(r, Counter::llc_hits) == 3 * (8 - degree));
    LookupLog other;
    ScriptedWorkload written = readers(c, 3, false);
    run(c, written, &other);
    for (const auto& [line, slices] : other.slices) CHECK(slices.size() == 1);
  }
}

TEST_CASE("the LLC is emptied when a kernel ends, and only under replication") {
  for (const auto& [replication, reads] : {std::pair{Replication::shared, 3u}, {Replication::degree_2, 12u}}) {
    const SystemConfig c = machine(replication);
    ScriptedWorkload w = readers(c, 3, true, 2);
    const RunResult r = run(c, w);
    CHECK(total(r, Counter::dram_reads) == reads);
    CHECK(total(r, Counter::llc_flushed_lines) == (reads == 3 ? 0 : 12));
  }
}

TEST_CASE("selrep.flush = replicas: what lies in its shared slice stays for the next kernel, and replicas go") {
  SystemConfig c = machine(Replication::degree_2);
  c.selrep.flush = ReplicaFlush::replicas;
  ScriptedWorkload w = readers(c, 3, true, 2);
  const RunResult r = run(c, w);
  CHECK(total(r, Counter::dram_reads) == 6 + 3);  // the second kernel fetches its replicas
  CHECK(total(r, Counter::llc_flushed_lines) == 2 * 3);
}

TEST_CASE("selrep.flush = replicas: dirty lines are written back, since replicas are fetched past them, and stay") {
  for (const auto& [flush, reads] : {std::pair{ReplicaFlush::everything, 8u}, {ReplicaFlush::replicas, 4u}}) {
    SystemConfig c = machine(Replication::degree_2);
    c.selrep.flush = flush;
    ScriptedWorkload w;
    w.kernel(1);
    for (std::uint64_t i = 0; i < 4; ++i) w.warp(0).store(0x100000 + i * 128);
    w.kernel(8);
    for (std::uint32_t cta = 0; cta < 8; ++cta) {
      w.warp(cta).pause(static_cast<std::uint16_t>(1 + cta * 500));
      for (std::uint64_t i = 0; i < 4; ++i) {
        w.warp(cta).after({0}).load(0x100000 + i * 128, 0);
        w.warp(cta).ops.back().flags |= kReadOnly;
      }
    }
    const RunResult r = run(c, w);
    CHECK(total(r, Counter::dram_writes) == 4);
    CHECK(total(r, Counter::dram_reads) == reads);
  }
}

TEST_CASE("selrep.flush does not spare Adaptive's private LLC, whose shared slices may be stale") {
  std::array<std::uint64_t, 2> flushed{};
  for (const ReplicaFlush flush : {ReplicaFlush::everything, ReplicaFlush::replicas}) {
    SystemConfig c = machine(Replication::adaptive);
    c.selrep.flush = flush;
    c.adaptive.window_cycles = 1000, c.adaptive.miss_margin = 1, c.adaptive.directory_sets = 16;
    c.control.latency_cycles = 10;
    ScriptedWorkload w = readers(c, 3, true, 2);
    const RunResult r = run(c, w);
    REQUIRE(r.decisions[0].choice == "private");
    flushed[static_cast<std::size_t>(flush)] = total(r, Counter::llc_flushed_lines);
  }
  CHECK(flushed[0] != 0);
  CHECK(flushed[0] == flushed[1]);
}

TEST_CASE("llc.write_back_at_end: a shared LLC pays for its dirty lines when the last kernel ends, and only then") {
  std::array<Cycle, 2> cycles{};
  for (const bool paid : {false, true}) {
    SystemConfig c = machine(Replication::shared);
    c.llc.write_back_at_end = paid;
    ScriptedWorkload w;
    for (std::uint64_t k = 0; k < 3; ++k) {
      w.kernel(1);
      for (std::uint64_t i = 0; i < 2; ++i) w.warp(0).store(0x100000 + (2 * k + i) * 128);
    }
    const RunResult r = run(c, w);
    CHECK(total(r, Counter::dram_writes) == (paid ? 6 : 0));
    CHECK(total(r, Counter::llc_flushed_lines) == 0);  // they stay
    cycles[paid] = r.cycles;
  }
  CHECK(cycles[0] < cycles[1]);
}

TEST_CASE("under SelRep a kernel that was shared all the while leaves its lines to the next") {
  SystemConfig c = machine(Replication::selrep);
  c.selrep.epoch_cycles = 1000000;
  ScriptedWorkload w = readers(c, 3, true, 2);
  const RunResult r = run(c, w);
  CHECK(total(r, Counter::dram_reads) == 3);
  CHECK(total(r, Counter::llc_flushed_lines) == 0);
}

TEST_CASE("memory-side, a remote SM's request is served by the home's replica; SM-side by its own chip's") {
  for (const LlcOrganisation organisation : {LlcOrganisation::memory_side, LlcOrganisation::sm_side}) {
    SystemConfig c = machine(Replication::per_cluster, 2);  // all pages live on chip 0
    c.llc.organisation = organisation;
    LookupLog log;
    ScriptedWorkload w = readers(c, 2, true);
    const RunResult r = run(c, w, &log);
    const bool memory_side = organisation == LlcOrganisation::memory_side;
    for (std::uint64_t line = 0x100000 / 128; line < 0x100000 / 128 + 2; ++line) {
      CHECK(log.by_chip[{0, line}].size() == 4);
      CHECK(log.by_chip[{1, line}].size() == (memory_side ? 0 : 4));
    }
    // SM-side each chip fetches its own replicas; memory-side chips share the home's.
    CHECK(total(r, Counter::dram_reads) == 2 * (memory_side ? 4 : 8));
  }
}

TEST_CASE("SelRep changes the degree while a kernel runs, without waiting and without flushing") {
  // Lines that all lie in one slice keep it busy: replication spreads them. 16-way sets would hold them all.
  SystemConfig c = machine(Replication::selrep);
  c.llc.size_kib = 64;
  c.selrep.directory = DegreePrediction::shadow_tags, c.selrep.directory_sets = 32;
  c.l1.enabled = false;
  c.control.latency_cycles = 50;
  const Machine m(c);
  ScriptedWorkload w;
  w.kernel(8);
  std::vector<std::uint64_t> camped;
  for (std::uint64_t a = 0x100000; camped.size() < 4; a += 128) {
    if (m.map.slice({a / 128}) == 2) camped.push_back(a);
  }
  for (std::uint32_t cta = 0; cta < 8; ++cta) {
    for (int i = 0; i < 400; ++i) {
      w.warp(cta).after({0}).load(camped[static_cast<std::size_t>(i) % 4], 0);
      w.warp(cta).ops.back().flags |= kReadOnly;
    }
  }
  LookupLog log;
  const RunResult r = run(c, w, &log);
  REQUIRE(r.decisions.size() > 3);
  CHECK(r.decisions.front().choice == "private");
  for (const std::uint64_t a : camped) CHECK(log.slices[a / 128].size() == 4);
  // Flushed once, at the end: what was there then.
  CHECK(total(r, Counter::llc_flushed_lines) == 16);
}

TEST_CASE("with every set sampled, shadow tags predict the hits of the degree in force") {
  for (const std::uint32_t lines : {6u, 40u, 150u}) {
    CAPTURE(lines);
    SystemConfig c = machine(Replication::selrep);
    c.selrep.directory = DegreePrediction::shadow_tags, c.selrep.directory_sets = 8, c.selrep.directory_ways = 4;
    c.selrep.epoch_cycles = 38000;
    ScriptedWorkload w = readers(c, lines, true);
    w.warp(0).pause(42000);  // the first epoch, in which the LLC is shared, sees all loads
    const RunResult r = run(c, w);
    REQUIRE(r.decisions.size() == 1);
    double hit = -1, sampled = 0;
    for (const auto& [name, value] : r.decisions[0].values) {
      if (name == "shared.hit") hit = value;
      if (name == "sampled") sampled = value;
    }
    CHECK(sampled == double(total(r, Counter::llc_accesses)));
    // A request that joins a pending miss finds its tag.
    CHECK(hit == doctest::Approx(double(total(r, Counter::llc_hits) + total(r, Counter::llc_merges)) / sampled));
  }
}

TEST_CASE("Adaptive's private LLC writes through: memory takes every store, and no line is dirty") {
  SystemConfig c = machine(Replication::adaptive);
  c.adaptive.window_cycles = 1000, c.adaptive.miss_margin = 1;  // private as soon as it may
  c.adaptive.directory_sets = 16;
  c.control.latency_cycles = 10;
  ScriptedWorkload w;
  w.kernel(8);
  for (std::uint32_t cta = 0; cta < 8; ++cta) {
    Program& p = w.warp(cta);
    for (int i = 0; i < 20; ++i) p.after({0}).load(0x200000 + (cta * 20 + static_cast<std::uint64_t>(i)) * 128, 0);
    p.pause(5000);
    for (int i = 0; i < 10; ++i) p.store(0x100000 + cta * 128);  // after the change
  }
  const RunResult r = run(c, w);
  REQUIRE(r.decisions.size() == 1);
  CHECK(r.decisions[0].choice == "private");
  CHECK(total(r, Counter::llc_writebacks) == 80);
  CHECK(total(r, Counter::dram_writes) == 80);
}

TEST_CASE("every replication drains with one place in every queue, on every organisation and 1 to 3 chips" *
          doctest::test_suite("stress")) {
  std::uint32_t seed = 100;
  for (const auto& word : words<Replication>()) {
    if (word.value == Replication::degree_8 || word.value == Replication::shared) continue;  // four slices
    if (word.value == Replication::policy) continue;
    for (const SystemConfig& base : organisations(machine(word.value))) {
      const bool adaptive = word.value == Replication::adaptive;  // what is refused
      if (adaptive ? base.coherence.protocol != CoherenceProtocol::software : base.llc.remote_writes == RemoteWrites::back)
        continue;
      for (std::uint32_t chips = 1; chips <= 3; ++chips) {
        SystemConfig c = base;
        CAPTURE(word.word);
        CAPTURE(chips);
        CAPTURE(static_cast<int>(c.llc.organisation));
        c.chips = chips;
        c.partition.placement = Placement::first_touch;
        c.control.latency_cycles = 50;
        c.adaptive.window_cycles = 1000, c.adaptive.epoch_cycles = 1500, c.adaptive.miss_margin = 1;
        c.adaptive.directory_sets = 4;
        minimise(c);
        RandomShape shape;
        shape.kernels = 2, shape.read_only_lines = 40;
        ScriptedWorkload w = random_workload(c, shape, seed++);
        RunResult r;
        REQUIRE_NOTHROW(r = run(c, w));
        CHECK(r.complete);
      }
    }
  }
}

}  // namespace atl
