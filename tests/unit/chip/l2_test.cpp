#include <numeric>

#include "coherence_stress.hpp"
#include "latency_terms.hpp"

// Two shared levels: an L2 at the SMs of each chip, in front of the memory-side LLC.
namespace atl {
namespace {

using namespace test;

constexpr std::uint64_t kHere = 0x10000;

/// As tiny(), with other primes for the L2's latencies.
SystemConfig with_l2(std::uint32_t chips, L2Writes writes = L2Writes::back) {
  SystemConfig c = tiny(chips);
  c.l2.slices = 2, c.l2.size_kib = 64, c.l2.ways = 4, c.l2.latency_cycles = 37, c.l2.slice_gbps = 128;
  c.l2.memory_gbps = 32, c.l2.memory_latency_cycles = 11;
  c.l2.writes = writes;
  return c;
}

struct L2Terms : Terms {
  using Terms::Terms;
  Cycle port(std::uint32_t bytes) const { return pass(bytes, config.l2.memory_gbps); }
  Cycle wire() const { return config.l2.memory_latency_cycles; }
  Cycle to_l2(std::uint32_t bytes) const { return to_crossbar_end(bytes) + config.l2.latency_cycles; }
  Cycle l2_hit(std::uint32_t request, std::uint32_t response) const {
    return to_l2(request) + from_slice(response) + into_sm(response);
  }
  /// L2 to the LLC, `hops` links away, and its look-up.
  Cycle down(std::uint32_t bytes, std::uint32_t hops) const {
    const Cycle link = hops == 0 ? 0 : hops * hop(bytes) + out_of_link(bytes) + wire();
    return port(bytes) + wire() + link + config.llc.latency_cycles;
  }
  /// LLC to the end of the wire in the chip that asked.
  Cycle up(std::uint32_t bytes, std::uint32_t hops) const {
    const Cycle link = hops == 0 ? 0 : hops * hop(bytes) + out_of_link(bytes) + wire();
    return pass(bytes, config.noc.slice_gbps) + wire() + link;
  }
  Cycle llc_hit(std::uint32_t hops) const {
    return l2_hit(header(), line()) + down(header(), hops) + up(line(), hops) + port(line());
  }
  /// What executes at the home's LLC is answered past the L2.
  Cycle past_l2(std::uint32_t request, std::uint32_t response, std::uint32_t hops) const {
    return to_l2(request) + down(request, hops) + up(response, hops) + config.noc.response_latency_cycles +
           into_sm(response);
  }
};

TEST_CASE("an L2 hit takes crossbars and the L2's look-up, whichever chip is the line's home, and no more") {
  for (const std::uint32_t chip : {0u, 1u, 2u}) {
    const SystemConfig config = with_l2(4);
    ScriptedWorkload w;
    w.kernel(2 * config.chips);  // two CTAs per chip, one per SM
    w.warp(2 * chip).load(kHere, 0);
    w.warp(2 * chip + 1).pause(3000).load(kHere, 0);
    ResponseLog log;
    const RunResult r = run(config, w, &log);
    const L2Terms t(config);
    REQUIRE(log.responses.size() == 2);
    CHECK(log.responses[1].latency == t.l2_hit(t.header(), t.line()));
    CHECK(t.l2_hit(t.header(), t.line()) == 1 + 29 + 5 + 37 + 3 + 7 + 5);
    // The line came from the home's memory, by both levels.
    const std::uint32_t hops = chip;
    CHECK(log.responses[0].latency == t.llc_hit(hops) + t.activate() + t.column(128));
    CHECK(r.chips[chip].totals[Counter::l2_hits] == 1);
    CHECK(r.chips[chip].totals[Counter::l2_misses] == 1);
    CHECK(r.chips[0].totals[Counter::llc_misses] == 1);
    CHECK(total(r, Counter::llc_accesses) == 1);
    CHECK(total(r, Counter::dram_reads) == 1);
    const auto loads = [&](DataOrigin o) {
      const auto& buckets = r.chips[chip].latency[static_cast<std::size_t>(o)];
      return std::accumulate(buckets.begin(), buckets.end(), std::uint64_t{0});
    };
    CHECK(loads(DataOrigin::l2) == 1);
    CHECK(loads(chip == 0 ? DataOrigin::local_memory : DataOrigin::remote_memory) == 1);
  }
}

TEST_CASE("a memory-side hit adds two wires, two ports and the LLC's look-up, and from another chip the hops") {
  const SystemConfig config = with_l2(4);
  const L2Terms t(config);
  const auto second = [&](std::uint32_t first, std::uint32_t then) {
    ScriptedWorkload w;
    w.kernel(config.chips);
    w.warp(first).load(kHere, 0).pause(6000);
    w.warp(then).pause(3000).load(kHere, 0);
    ResponseLog log;
    const RunResult r = run(config, w, &log);
    REQUIRE(log.responses.size() == 2);
    CHECK(log.responses[1].chip == then);
    CHECK(r.chips[0].totals[Counter::llc_hits] == 1);
    CHECK(total(r, Counter::l2_hits) == 0);
    return log.responses[1].latency;
  };
  CHECK(second(1, 0) == t.llc_hit(0));
  CHECK(second(0, 1) == t.llc_hit(1));
  CHECK(second(0, 2) == t.llc_hit(2));
  CHECK(t.llc_hit(0) == (1 + 29 + 5 + 37) + (1 + 11 + 53) + (3 + 11) + 5 + (3 + 7 + 5));
  CHECK(t.llc_hit(1) == t.llc_hit(0) + (1 + 61) + (1 + 11) + (9 + 61) + (3 + 11));
}

TEST_CASE("an L2 that writes back acknowledges a store; one that writes through leaves that to the home, as for atomics") {
  for (const std::uint32_t chip : {0u, 1u, 2u}) {
    CAPTURE(chip);
    const auto latency = [&](L2Writes writes, void (*act)(Program&)) {
      const SystemConfig config = with_l2(4, writes);
      ScriptedWorkload w;
      w.kernel(config.chips);
      w.warp(0).load(kHere, 0).pause(6000);
      act(w.warp(chip == 0 ? 3 : chip).pause(3000));
      // Chip 0 itself acts in a kernel of its own.
      ResponseLog log;
      if (chip == 0) {
        ScriptedWorkload own;
        own.kernel(2 * config.chips);
        own.warp(0).load(kHere, 0).pause(6000);
        act(own.warp(1).pause(3000));
        run(config, own, &log);
      } else {
        run(config, w, &log);
      }
      REQUIRE(log.responses.size() == 2);
      return log.responses[1].latency;
    };
    const L2Terms t(with_l2(4));
    const auto store = [](Program& p) { p.store(kHere); };
    const auto atomic = [](Program& p) { p.atomic(kHere, 0); };
    CHECK(latency(L2Writes::back, store) == t.l2_hit(t.line(), t.header()));
    CHECK(latency(L2Writes::through, store) == t.past_l2(t.line(), t.header(), chip));
    CHECK(latency(L2Writes::back, atomic) == t.past_l2(t.data(1), t.data(1), chip));
    CHECK(latency(L2Writes::through, atomic) == t.past_l2(t.data(1), t.data(1), chip));
  }
}

TEST_CASE("at a kernel's end an L2 is written back to the homes' LLCs and emptied, and these keep their lines") {
  for (const bool at_end : {false, true}) {
    SystemConfig config = with_l2(4);
    config.llc.write_back_at_end = at_end;
    ScriptedWorkload w;
    w.kernel(config.chips);
    w.warp(1).store(kHere);
    w.kernel(config.chips);
    w.warp(2).load(kHere, 0);
    ConsistencyChecker checker;
    const RunResult r = run(config, w, &checker);
    CHECK_NOTHROW(checker.check_final_image());
    CHECK(r.chips[1].totals[Counter::l2_writebacks] == 1);
    CHECK(r.chips[1].totals[Counter::l2_writeback_sectors] == 4);
    CHECK(r.chips[1].totals[Counter::l2_flushed_lines] == 1);
    CHECK(r.chips[2].totals[Counter::l2_flushed_lines] == 1);
    CHECK(r.chips[0].totals[Counter::llc_writes] == 1);
    CHECK(r.chips[0].totals[Counter::llc_hits] == 1);  // the second kernel's load
    CHECK(total(r, Counter::llc_flushed_lines) == 0);
    CHECK(total(r, Counter::dram_reads) == 0);
    CHECK(total(r, Counter::dram_writes) == (at_end ? 1 : 0));
  }
}

TEST_CASE("without an LLC's copy a line that an L2 holds stays there: neither level includes or excludes the other") {
  SystemConfig config = with_l2(1);
  config.l2.size_kib = 512;
  ScriptedWorkload w;
  w.kernel(1);
  Program& p = w.warp(0);
  constexpr std::uint64_t kLines = 1024;  // twice the LLC
  for (std::uint64_t i = 0; i < kLines; ++i) p.load(kHere + i * 128, 0).after({0}).past_l1();
  for (std::uint64_t i = 0; i < kLines; ++i) p.load(kHere + i * 128, 0).after({0}).past_l1();
  const RunResult r = run(config, w);
  CHECK(total(r, Counter::l2_misses) == kLines);
  CHECK(total(r, Counter::l2_hits) == kLines);
  CHECK(total(r, Counter::llc_accesses) == kLines);
  CHECK(total(r, Counter::l2_flushed_lines) == kLines);
}

/// What slices see, in order.
struct SeenLog : ChipObserver {
  struct Seen {
    std::uint32_t chip, slice;
    PacketKind kind;
  };
  std::vector<Seen> seen;
  void on_llc_lookup(const Context& c, std::uint32_t slice, const Packet& p, LlcOutcome) override {
    seen.push_back({c.chip, slice, p.kind});
  }
};

TEST_CASE("an atomic finds at the home's LLC what its own chip has written: the L2 sends that ahead and keeps no copy") {
  const SystemConfig config = with_l2(2);
  ScriptedWorkload w;
  w.kernel(2);
  w.warp(1).store(kHere).pause(500).atomic(kHere, 0).after({0}).pause(500).load(kHere, 1);
  SeenLog log;
  const RunResult r = run(config, w, &log);
  REQUIRE(log.seen.size() == 6);
  const std::uint32_t llc = config.llc.slices;
  const PacketKind kinds[] = {PacketKind::write,  PacketKind::atomic, PacketKind::writeback,
                              PacketKind::atomic, PacketKind::read,   PacketKind::read};
  for (std::size_t i = 0; i < 6; ++i) {
    CAPTURE(i);
    CHECK(log.seen[i].kind == kinds[i]);
    const bool in_l2 = i == 0 || i == 1 || i == 4;
    CHECK(log.seen[i].chip == (in_l2 ? 1 : 0));
    CHECK((log.seen[i].slice >= llc) == in_l2);
  }
  CHECK(r.chips[1].totals[Counter::l2_atomics] == 1);
  CHECK(r.chips[0].totals[Counter::llc_atomics] == 1);
}

TEST_CASE("what an L2 writes back of a sector written in part is no whole one at the home: its reader has it from memory") {
  for (const L2Writes writes : {L2Writes::back, L2Writes::through}) {
    for (const bool partly : {true, false}) {
      SystemConfig config = with_l2(1, writes);
      config.l1.sectored = config.llc.sectored = config.l2.sectored = true;
      ScriptedWorkload w;
      w.kernel(1);
      w.warp(0).store(kHere, 0x1);
      if (partly) w.warp(0).partly();
      w.kernel(1);  // the L2 has been written back
      w.warp(0).load(kHere, 0, 0x1);
      ConsistencyChecker checker;
      const RunResult r = run(config, w, &checker);
      checker.check_final_image();
      CHECK(total(r, Counter::dram_reads) == (partly ? 1 : 0));
    }
  }
}

TEST_CASE("a whole line behind an L2 of whole lines, in an LLC of sectors, is none that the check knows nothing of") {
  SystemConfig config = with_l2(2);
  config.llc.sectored = true, config.l2.sectored = false;
  ScriptedWorkload w;
  w.kernel(2);
  w.warp(1).store(kHere, 0x3);
  w.kernel(2);
  w.warp(0).store(kHere, 0x1).pause(2000).load(kHere, 0, 0x3);
  ConsistencyChecker checker;
  CHECK_NOTHROW(run(config, w, &checker));
  CHECK_NOTHROW(checker.check_final_image());
}

/// Cycles between the answers to 16 loads or stores of lines of one L2 slice that are asked for at once, after `warm` has
/// loaded them.
std::vector<Cycle> answer_gaps(const SystemConfig& config, std::uint32_t warm, bool store) {
  const Machine machine(config);
  ScriptedWorkload w;
  w.kernel(2 * config.chips);
  Program& first = w.warp(warm);
  Program& then = w.warp(1).pause(20000);
  std::uint64_t at = kHere;
  for (int i = 0; i < 16; ++i) {
    at = find_line(config, at, [&](LineAddr l) { return machine.front_map.slice(l) == 0 && machine.map.slice(l) == 0; });
    first.load(at, 0).after({0});
    store ? then.store(at) : then.load(at).past_l1();
  }
  first.pause(40000);
  ResponseLog log;
  run(config, w, &log);
  std::vector<Cycle> out;
  REQUIRE(log.responses.size() == 32);
  for (std::size_t i = 17; i < 32; ++i) out.push_back(log.responses[i].cycle - log.responses[i - 1].cycle);
  return out;
}

TEST_CASE("what an L2 slice looks up, and what passes its port to the memory side, is as much as is configured") {
  SystemConfig config = with_l2(2);
  config.noc.cluster_gbps = config.noc.slice_gbps = config.llc.slice_gbps = 1000;
  config.l2.slice_gbps = 16, config.l2.memory_gbps = 1000;
  const auto all = [](const std::vector<Cycle>& got, Cycle wanted) {
    for (const Cycle gap : got) CHECK(gap == wanted);
  };
  all(answer_gaps(config, 0, false), 128 / 16);  // hits of the L2, one slice's
  config.l2.slice_gbps = 1000, config.l2.memory_gbps = 8;
  all(answer_gaps(config, 2, false), (8 + 128) / 8);  // hits of the LLC, which chip 1 has warmed
  config.l2.writes = L2Writes::through;
  all(answer_gaps(config, 0, true), (8 + 128) / 8);
  config.l2.memory_gbps = 1000, config.llc.slice_gbps = 4;
  all(answer_gaps(config, 2, false), 128 / 4);  // look-ups of one LLC slice
}

TEST_CASE("an L2 that serves SMs of one chip only spares the links what its chip asks for again") {
  SystemConfig config = tiny(2);
  const auto bytes = [&](const SystemConfig& c) {
    ScriptedWorkload w;
    w.kernel(2 * c.chips);
    for (const std::uint64_t cta : {2u, 3u})  // the two SMs of chip 1
      for (std::uint64_t i = 0; i < 8; ++i) w.warp(cta).pause(cta == 3 ? 2000 : 1).load(kHere + i * 128, 0);
    return total(run(c, w), Counter::link_bytes);
  };
  const std::uint64_t line = 8 + (8 + 128);  // request and data
  CHECK(bytes(config) == 16 * line);
  CHECK(bytes(with_l2(2)) == 8 * line);
}

TEST_CASE("random programs on random machines with an L2 read nothing stale, lose nothing and leave every credit home" *
          doctest::test_suite("stress")) {
  std::uint64_t sectors = 0, hits = 0, written_back = 0;
  for (std::uint32_t seed = 1; seed <= 48; ++seed) {
    CAPTURE(seed);
    StressCase s = stress_case(seed);
    SystemConfig& c = s.system;
    c.llc.organisation = LlcOrganisation::memory_side, c.llc.replication = Replication::shared;
    c.llc.remote_writes = RemoteWrites::through, c.coherence.protocol = CoherenceProtocol::software;
    add_l2(c, seed);
    if (seed % 4 == 1) share_l1s(c, seed);
    if (seed % 3 == 0) minimise(c);
    s.shape.ops = 40, s.shape.kernels = 3;
    ScriptedWorkload w = stress_workload(c, s.shape, seed);
    ConsistencyChecker checker;
    RunResult r;
    REQUIRE_NOTHROW(r = run(c, w, &checker));
    CHECK_NOTHROW(checker.check_final_image());
    CHECK(r.complete);
    sectors += checker.counts().checked;
    hits += total(r, Counter::l2_hits), written_back += total(r, Counter::l2_writebacks);
    CHECK(total(r, Counter::l2_accesses) ==
          total(r, Counter::l2_hits) + total(r, Counter::l2_merges) + total(r, Counter::l2_misses));
    CHECK(total(r, Counter::l2_atomics) == total(r, Counter::llc_atomics));
  }
  CHECK(sectors > 100000);
  CHECK(hits > 10000);
  CHECK(written_back > 10000);
}

TEST_CASE("homes without SMs keep directories of the L2s that ask them: random programs read nothing stale" *
          doctest::test_suite("stress")) {
  std::uint64_t sectors = 0, invalidations = 0, found = 0, acknowledged = 0;
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    StressCase s = stress_case(seed);
    SystemConfig& c = s.system;
    c.llc.remote_writes = RemoteWrites::through;
    separate_dies(c, seed);
    if (seed % 4 == 1) link_as_graph(c, seed);
    if (seed % 3 == 0) minimise(c);
    s.shape.ops = 40, s.shape.kernels = 3;
    ScriptedWorkload w = stress_workload(c, s.shape, seed);
    ConsistencyChecker checker;
    RunResult r;
    SerialTransport transport;
    SimulationOptions options;
    options.prepare_chip = [&](Chip& chip) { checker.watch(chip); };
    validate(c);
    REQUIRE_NOTHROW(r = *simulate(transport, c, w, RankMap::spread(c.chips, 1), options));
    CHECK_NOTHROW(checker.check_final_image());
    CHECK(r.complete);
    sectors += checker.counts().checked, acknowledged += checker.counts().endings;
    invalidations += total(r, Counter::coherence_invalidations), found += total(r, Counter::coherence_invalidation_hits);
  }
  CHECK(sectors > 50000);
  CHECK(invalidations > 10000);
  CHECK(found > 1000);
  CHECK(acknowledged == invalidations);
}

TEST_CASE("a write through an L2 makes no copy there, and the home's directory tracks none") {
  for (const CoherenceProtocol protocol :
       {CoherenceProtocol::directory, CoherenceProtocol::hmg, CoherenceProtocol::rec, CoherenceProtocol::ideal}) {
    SystemConfig c = tiny(3);
    c.partition.compute_chips = 2, c.partition.memory_chips = 1, c.partition.fixed_chip = 2;
    c.llc.organisation = LlcOrganisation::memory_side, c.coherence.protocol = protocol;
    c.l2.slices = 2, c.l2.size_kib = 16, c.l2.ways = 4, c.l2.writes = L2Writes::through;
    constexpr std::uint64_t kLine = 0x100000;
    ScriptedWorkload w;
    w.kernel(2), w.warp(0).store(kLine, 0xF);  // nobody has it
    w.kernel(2), w.warp(1).store(kLine, 0xF);  // nor chip 0 now
    w.kernel(2), w.warp(0).load(kLine, 0);
    w.kernel(2), w.warp(0).store(kLine, 0xF);  // its copy has this, too
    w.kernel(2), w.warp(0).load(kLine, 0);
    w.kernel(2), w.warp(1).store(kLine, 0xF);
    const RunResult r = run(c, w);
    CHECK(r.chips[0].totals[Counter::l2_hits] == 2);  // the last store and load
    CHECK(r.chips[0].totals[Counter::coherence_invalidation_hits] == 1);
    const std::uint64_t lines = protocol == CoherenceProtocol::hmg ? 4 : 1;  // told of for each line of HMG's range
    CHECK(r.chips[2].totals[Counter::coherence_invalidations] == lines);
    CHECK(r.chips[2].totals[Counter::directory_allocations] == (protocol == CoherenceProtocol::ideal ? 0 : 1));
  }
}

TEST_CASE("under a home's directory an L2 keeps its lines from kernel to kernel, until another chip writes them") {
  SystemConfig c = tiny(3);
  c.partition.compute_chips = 2, c.partition.memory_chips = 1, c.partition.fixed_chip = 2;
  c.llc.organisation = LlcOrganisation::memory_side, c.coherence.protocol = CoherenceProtocol::directory;
  c.l2.slices = 2, c.l2.size_kib = 16, c.l2.ways = 4, c.l2.writes = L2Writes::through;
  SUBCASE("a home of several slices") {}
  SUBCASE("a home of one slice, to which all of an L2 answer") { c.llc.slices = 1, c.dram.channels = 1; }
  constexpr std::uint64_t kLine = 0x100000;
  ScriptedWorkload w;
  w.kernel(2), w.warp(0).load(kLine, 0);     // chip 0 fetches it
  w.kernel(2), w.warp(0).load(kLine, 0);     // and still has it
  w.kernel(2), w.warp(1).store(kLine, 0xF);  // chip 1 writes it
  w.kernel(2), w.warp(0).load(kLine, 0);     // chip 0 must ask again
  const RunResult r = run(c, w);
  CHECK(r.chips[0].totals[Counter::l2_hits] == 1);
  CHECK(r.chips[0].totals[Counter::l2_misses] == 2);
  CHECK(r.chips[2].totals[Counter::coherence_invalidations] == 1);
  CHECK(r.chips[0].totals[Counter::coherence_invalidation_hits] == 1);
  CHECK(r.chips[2].totals[Counter::directory_lookups] == 3);
}

}  // namespace
}  // namespace atl
