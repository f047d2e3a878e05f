#include "core/chip/observe/consistency_checker.hpp"
#include "run.hpp"

namespace atl::home_directory_test {
namespace {

using namespace test;
using enum CoherenceProtocol;

constexpr CoherenceProtocol kProtocols[] = {directory, hmg, rec, rec_adaptive, ideal};

/// SM-side slices under a home directory; all pages live on chip 0, whose CTA comes first.
SystemConfig coherent(CoherenceProtocol protocol, std::uint32_t chips = 4) {
  SystemConfig c = tiny(chips);
  c.llc.organisation = LlcOrganisation::sm_side;
  c.coherence.protocol = protocol;
  return c;
}

template <class Check> void for_each_protocol(Check&& check) {
  for (const CoherenceProtocol p : kProtocols) {
    CAPTURE(words<CoherenceProtocol>()[static_cast<std::size_t>(p)].word);
    check(coherent(p));
  }
}

/// Chip after chip does something to one line, each in a kernel of its own.
struct Turns {
  ScriptedWorkload workload;
  Turns& reads(std::uint32_t chip, std::uint64_t address = 0) { return next(chip).load(address, 0), *this; }
  Turns& writes(std::uint32_t chip, std::uint64_t address = 0) { return next(chip).store(address), *this; }
  Turns& adds(std::uint32_t chip) { return next(chip).atomic(0), *this; }

 private:
  Program& next(std::uint32_t chip) { return workload.kernel(4), workload.warp(chip); }
};

RunResult run(const SystemConfig& c, Turns& turns, ChipObserver* observer = nullptr) {
  return test::run(c, turns.workload, observer);
}

std::uint64_t at(const RunResult& r, std::uint32_t chip, Counter c) { return r.chips[chip].totals[c]; }

TEST_CASE("a remote line stays in the reader's slice and the home's from kernel to kernel") {
  for_each_protocol([](const SystemConfig& c) {
    Turns w;
    w.reads(1).reads(1).reads(0);
    const RunResult r = run(c, w);
    CHECK(at(r, 1, Counter::llc_hits) == 1);
    CHECK(at(r, 0, Counter::llc_hits) == 1);
    CHECK(at(r, 0, Counter::llc_bypasses) == 0);
    CHECK(total(r, Counter::dram_reads) == 1);
    CHECK(total(r, Counter::llc_flushed_lines) == 0);
  });
}

TEST_CASE("dirty lines are written back when a kernel ends, once, and stay") {
  for_each_protocol([](const SystemConfig& c) {
    Turns w;
    w.writes(0).reads(0).reads(1);
    const RunResult r = run(c, w);
    CHECK(at(r, 0, Counter::dram_writes) == 1);
    CHECK(at(r, 0, Counter::llc_hits) == 2);  // its own read and chip 1's
    CHECK(total(r, Counter::dram_reads) == 0);
  });
}

TEST_CASE("an invalidation reaches exactly the sharers: one, two or all, wherever the write comes from") {
  for_each_protocol([](const SystemConfig& c) {
    for (std::uint32_t writer = 0; writer < 4; ++writer) {
      for (std::uint32_t readers = 0; readers < 16; readers += 2) {  // one bit per chip; the home needs no entry
        CAPTURE(writer);
        CAPTURE(readers);
        Turns w;
        for (std::uint32_t chip = 1; chip < 4; ++chip)
          if ((readers >> chip & 1) != 0) w.reads(chip);
        w.writes(writer);
        const RunResult r = run(c, w);
        const std::uint32_t others = readers & ~(1u << writer);
        const auto lines = c.coherence.protocol == hmg ? 4u : 1u;  // of which one is there
        CHECK(total(r, Counter::coherence_invalidations) == lines * static_cast<unsigned>(std::popcount(others)));
        for (std::uint32_t chip = 0; chip < 4; ++chip)
          CHECK(at(r, chip, Counter::coherence_invalidation_hits) == (others >> chip & 1));
        CHECK(total(r, Counter::coherence_evict_invalidations) == 0);
      }
    }
  });
}

TEST_CASE("a remote write changes the writer's copy and the home's, and reaches memory from the home when the kernel ends") {
  for_each_protocol([](const SystemConfig& c) {
    Turns w;
    w.writes(1).reads(1).reads(0).reads(2);
    const RunResult r = run(c, w);
    CHECK(at(r, 1, Counter::llc_hits) == 1);
    CHECK(at(r, 0, Counter::llc_hits) == 2);  // its own read and chip 2's
    CHECK(total(r, Counter::dram_reads) == 0);
    CHECK(at(r, 0, Counter::dram_writes) == 1);
    CHECK(total(r, Counter::llc_writebacks) == 1);
  });
}

TEST_CASE("the writer of a line is a sharer: the next write of another chip ends its copy") {
  for_each_protocol([](const SystemConfig& c) {
    Turns w;
    w.writes(1).writes(2).reads(1);
    const RunResult r = run(c, w);
    CHECK(at(r, 1, Counter::coherence_invalidation_hits) == 1);
    CHECK(at(r, 1, Counter::llc_hits) == 0);
    CHECK(at(r, 0, Counter::llc_hits) == 2);  // chip 2's write, chip 1's read
  });
}

TEST_CASE("an atomic at the home ends all copies, also of the chip that asked for it") {
  for_each_protocol([](const SystemConfig& c) {
    Turns w;
    w.reads(1).reads(2).adds(2).reads(1).reads(2);
    const RunResult r = run(c, w);
    CHECK(at(r, 1, Counter::coherence_invalidation_hits) == 1);
    CHECK(at(r, 2, Counter::coherence_invalidation_hits) == 1);
    CHECK(at(r, 1, Counter::llc_misses) == 2);
    CHECK(at(r, 2, Counter::llc_misses) == 2);
  });
}

TEST_CASE("a directory of eight entries gives up its oldest for a ninth, which ends the copies that this one tracked") {
  for (const CoherenceProtocol p : kProtocols) {
    SystemConfig c = coherent(p);
    c.coherence.directory_entries = c.coherence.directory_ways = 8, c.coherence.range_bytes = 512;
    ScriptedWorkload w;
    w.kernel(4);
    for (std::uint64_t i = 0; i < 9; ++i) w.warp(1).after({0}).load(i * 4096, 0).after({0}).load(i * 4096 + 256, 0);
    w.kernel(4);
    w.warp(1).load(0, 0);
    const RunResult r = run(c, w);
    const std::uint64_t evicted = p == ideal ? 0 : p == directory ? 10 : 1, lines = p == directory ? 10 : p == hmg ? 4 : 2;
    const std::uint64_t again = p == ideal ? 0 : p == hmg ? 4 : p == directory ? 1 : 2;  // by the last read
    CHECK(at(r, 0, Counter::directory_evictions) == evicted + (p != ideal));
    CHECK(at(r, 0, Counter::directory_evicted_lines) == (p == ideal ? 0 : lines + again));
    CHECK(total(r, Counter::coherence_invalidations) == (p == ideal ? 0 : lines + again));
    CHECK(total(r, Counter::coherence_evict_invalidations) == total(r, Counter::coherence_invalidations));
    CHECK(at(r, 1, Counter::coherence_evict_invalidation_hits) == (p == ideal ? 0 : p == directory ? 11 : 4));
    CHECK(at(r, 1, Counter::llc_misses) == (p == ideal ? 18 : 19));
    CHECK(at(r, 0, Counter::directory_allocations) == (p == ideal ? 0 : p == directory ? 19 : 10));
    CHECK(at(r, 0, Counter::directory_lookups) == (p == ideal ? 18 : 19));
  }
}

TEST_CASE("an invalidation takes a header on every link that it crosses") {
  SystemConfig c = coherent(directory);  // a ring
  Turns w;
  w.reads(1).reads(2).writes(0);
  const RunResult r = run(c, w);
  CHECK(total(r, Counter::coherence_invalidation_bytes) == 3 * c.noc.header_bytes);
  c.link.topology = Topology::full;
  CHECK(total(run(c, w), Counter::coherence_invalidation_bytes) == 2 * c.noc.header_bytes);
}

TEST_CASE("an invalidation takes a whole slot of every link that it crosses") {
  SystemConfig c = coherent(directory);
  c.link.slot_bytes = 150;
  Turns w;
  w.reads(1).reads(2).writes(0);
  CHECK(total(run(c, w), Counter::coherence_invalidation_bytes) == 3 * 150);
}

TEST_CASE("copies that end together are told by line, or by range: one message for each sharer, and every line looked up") {
  // Chip 1 has lines 0, 1 and 2 of a range, chip 2 has 1 and 2, and chip 3 takes the only entry for another range.
  for (const auto reading : {InvalidationMessage::line, InvalidationMessage::each_line, InvalidationMessage::range}) {
    SystemConfig c = coherent(rec);
    c.link.topology = Topology::full;
    c.coherence.directory_entries = c.coherence.directory_ways = 1, c.coherence.range_bytes = 512;
    c.coherence.invalidate = reading;
    Turns w;
    w.reads(1, 0).reads(1, 128).reads(1, 256).reads(2, 128).reads(2, 256).reads(3, 4096);
    ConsistencyChecker checker;
    const RunResult r = run(c, w, &checker);
    checker.check_final_image();
    const std::uint64_t messages = reading == InvalidationMessage::range ? 2 : 5;
    CHECK(total(r, Counter::coherence_invalidations) == 5);
    CHECK(at(r, 1, Counter::coherence_invalidation_hits) == 3);
    CHECK(at(r, 2, Counter::coherence_invalidation_hits) == 2);
    CHECK(total(r, Counter::coherence_invalidation_bytes) == messages * c.noc.header_bytes);
    CHECK(at(r, 0, Counter::link_packets) == 6 + messages);  // the answers to six reads
    // Each asks for its lines, and acknowledges at no cost.
    for (const std::uint32_t sharer : {1, 2}) {
      const std::uint64_t reads = sharer == 1 ? 3 : 2;
      CHECK(at(r, sharer, Counter::link_packets) == reads);
      CHECK(at(r, sharer, Counter::link_bytes) == reads * c.noc.header_bytes);
    }
  }
}

TEST_CASE(
    "HMG's four lines go in one message to each sharer, of an evicted entry and of a written one, unless each has its own") {
  // Chip 1 has two lines of an entry of four; chip 2's write of another takes the entry.
  SystemConfig c = coherent(hmg);
  c.link.topology = Topology::full;
  c.coherence.directory_entries = c.coherence.directory_ways = 1;
  for (const auto reading : {InvalidationMessage::line, InvalidationMessage::each_line, InvalidationMessage::range}) {
    c.coherence.invalidate = reading;
    Turns w;
    w.reads(1, 0).reads(1, 128).writes(2, 4096).reads(1, 4096).writes(0, 4096);
    const RunResult r = run(c, w);
    CHECK(total(r, Counter::coherence_invalidations) == 4 + 4 * 2);
    const std::uint64_t messages = (1 + 2) * (reading == InvalidationMessage::each_line ? 4 : 1);
    CHECK(total(r, Counter::coherence_invalidation_bytes) == messages * c.noc.header_bytes);
  }
}

TEST_CASE("own writes wait behind invalidations only where their queue has an end") {
  // Chip 1 has read 160 lines. An SM of chip 0 writes all of them, and the other reads a line of the same slice meanwhile.
  // The link passes an invalidation every 32 cycles: with room for one the read waits behind such writes, else for none.
  constexpr std::uint64_t kLines = 160;  // more than packets that may be on their way to the link
  const auto wait = [kLines](std::uint64_t queue) {
    SystemConfig c = coherent(directory, 2);
    c.llc.slices = 1;
    c.link.bandwidth_gbps = 0.25, c.link.buffer_packets = 8;
    c.coherence.invalidation_queue = static_cast<std::uint32_t>(queue);
    ScriptedWorkload w;
    w.kernel(4);
    for (std::uint64_t i = 0; i < kLines; ++i) w.warp(2).after({0}).load(i * 128, 0);
    w.kernel(4);
    for (std::uint64_t i = 0; i < kLines; ++i) w.warp(0).store(i * 128);
    w.warp(1).compute(1, 900).load(4096, 0);
    const RunResult r = run(c, w);
    CHECK(total(r, Counter::coherence_invalidation_hits) == kLines);
    return at(r, 0, Counter::load_latency_cycles);
  };
  const std::uint64_t free = wait(0);
  CHECK(wait(kLines) == free);
  CHECK(wait(1) >= free + 32);
  CHECK(wait(1) <= free + kLines * 32);
}

TEST_CASE("the home's own reads and writes of lines without copies send nothing") {
  for_each_protocol([](const SystemConfig& c) {
    Turns w;
    w.reads(0).writes(0).reads(0);
    const RunResult r = run(c, w);
    CHECK(total(r, Counter::link_packets) == 0);
    CHECK(at(r, 0, Counter::directory_lookups) == 1);  // the write
    CHECK(at(r, 0, Counter::directory_allocations) == 0);
  });
}

TEST_CASE("a kernel ends after the last invalidation that its writes caused") {
  struct Log : ChipObserver {
    Cycle last = 0;
    void on_event(const Context& c, const Event& e) override {
      if (e.kind == EventKind::slice_arrive && e.packet.kind == PacketKind::invalidate) last = c.now();
    }
  };
  for_each_protocol([](SystemConfig c) {
    c.link.latency_cycles = 5000;
    c.control.latency_cycles = 2600;  // there and back, less than an invalidation and its acknowledgement
    c.link.topology = Topology::full;
    Turns w;
    w.reads(1).reads(2).writes(0).reads(1);
    Log log;
    const RunResult r = run(c, w, &log);
    REQUIRE(log.last > r.kernels[2].started + c.link.latency_cycles);
    CHECK(r.kernels[2].finished >= log.last + c.link.latency_cycles);
    CHECK(at(r, 1, Counter::llc_misses) == 2);
  });
}

TEST_CASE("a line that was being fetched when it was written does not stay as it was") {
  // At some offset the invalidation meets the fetch. What is read in the next kernel must be the written data at any.
  for (const CoherenceProtocol p : kProtocols) {
    for (std::uint32_t writer = 0; writer <= 2; writer += 2) {
      std::uint64_t refetched = 0;
      for (std::uint16_t wait = 1; wait < 600; wait += 9) {
        CAPTURE(wait);
        ScriptedWorkload w;
        w.kernel(3);
        w.warp(1).compute(1, wait).load(0, 0);
        w.warp(writer).compute(1, 200).store(0);
        w.kernel(3);
        w.warp(1).load(0, 0);
        ConsistencyChecker checker;
        RunResult r;
        REQUIRE_NOTHROW(r = run(coherent(p, 3), w, &checker));
        checker.check_final_image();
        refetched += at(r, 1, Counter::llc_hits) == 0;
      }
      CHECK(refetched > 5);
      CHECK(refetched < 60);
    }
  }
}

TEST_CASE("without remote caching every read of a remote line goes to the home; with L1s only, the first does") {
  for (const CoherenceProtocol p : {none_remote, l1_only}) {
    ScriptedWorkload w;
    w.kernel(2);
    for (std::uint32_t chip = 0; chip < 2; ++chip) w.warp(chip).load(4096 * chip, 0).after({0}).load(4096 * chip, 0);
    const RunResult r = run(coherent(p, 2), w);
    CHECK(at(r, 0, Counter::l1_hits) == 1);  // local lines may lie anywhere
    CHECK(at(r, 1, Counter::l1_hits) == (p == l1_only));
    CHECK(at(r, 1, Counter::llc_accesses) == 0);
    CHECK(at(r, 0, Counter::llc_accesses) == (p == l1_only ? 2 : 3));
    CHECK(total(r, Counter::coherence_invalidations) == 0);
  }
}

TEST_CASE("loads that miss together on a remote line share one request, and none of them leaves it in the L1") {
  ScriptedWorkload w;
  w.kernel(2);
  w.warp(1).load(0, 0).load(0, 1).after({0, 1}).load(0, 2);
  const RunResult r = run(coherent(none_remote, 2), w);
  CHECK(at(r, 1, Counter::l1_misses) == 2);
  CHECK(at(r, 1, Counter::l1_merges) == 1);
  CHECK(at(r, 1, Counter::l1_hits) == 0);
}

TEST_CASE("under a split LLC a home directory keeps remote lines from kernel to kernel") {
  for (const LlcOrganisation organisation : {LlcOrganisation::fixed_split, LlcOrganisation::dynamic_split}) {
    SystemConfig c = coherent(rec);
    c.llc.organisation = organisation, c.llc.local_ways = 2;
    Turns w;
    w.reads(1).reads(1).writes(2).reads(1);
    const RunResult r = run(c, w);
    CHECK(at(r, 1, Counter::llc_hits) == 1);
    CHECK(at(r, 1, Counter::coherence_invalidation_hits) == 1);
    CHECK(at(r, 1, Counter::llc_misses) == 2);
    CHECK(total(r, Counter::llc_flushed_lines) == 0);
  }
}

TEST_CASE("under SAC with REC only remote lines go when SM-side caching ends, and copies are tracked while it lasts") {
  SystemConfig c = coherent(rec, 2);
  c.llc.organisation = LlcOrganisation::sac;
  c.sac.window_cycles = 1000, c.sac.crd_ways = 4, c.sac.crd_sets = 128;
  c.control.latency_cycles = 100;
  c.partition.placement = Placement::interleaved;
  c.link.bandwidth_gbps = 1;
  ScriptedWorkload w;
  w.kernel(2);
  for (std::uint64_t i = 0; i < 8; ++i)
    w.warp(1).store(i * 4096 + i % 2 * 256);  // pages 2n and 2n + 1 have one number at their homes
  for (int round = 0; round < 40; ++round)
    for (std::uint64_t i = 0; i < 8; ++i) w.warp(1).after({0}).load(i * 4096 + i % 2 * 256, 0).past_l1();
  w.warp(1).store(0).store(4096 + 256);
  const RunResult r = run(c, w);
  REQUIRE(r.decisions.size() == 1);
  CHECK(r.decisions[0].choice == "sm_side");
  CHECK(at(r, 1, Counter::llc_flushed_lines) == 4);
  CHECK(at(r, 0, Counter::llc_flushed_lines) == 0);
  CHECK(at(r, 0, Counter::directory_lookups) == 5);  // four reads and a write of chip 1
  CHECK(at(r, 0, Counter::directory_allocations) == 4);
  CHECK(at(r, 1, Counter::directory_lookups) == 1);  // its own write
}

/// Chip 1 reads whole ranges of chip 0's, then single lines of others, then nothing, then a line that it had.
ScriptedWorkload two_localities() {
  ScriptedWorkload w;
  w.kernel(4);
  for (std::uint64_t line = 0; line < 160; ++line) w.warp(1).after({0}).load(line * 128, 0);
  w.kernel(4);
  for (std::uint64_t page = 0; page < 60; ++page) w.warp(1).after({0}).load(0x100000 + page * 4096, 0);
  w.kernel(4);
  w.warp(0).compute(1, 10);
  w.kernel(4);
  w.warp(1).load(159 * 128, 0);
  return w;
}

SystemConfig adaptive() {
  SystemConfig c = coherent(rec_adaptive);
  c.coherence.directory_entries = 16, c.coherence.range_bytes = 512;  // 4 lines, 56 bits; 12 entries of 1 KB
  return c;
}

TEST_CASE("by range a directory that takes another shape sends a message for each entry and sharer") {
  SystemConfig c = adaptive();
  c.link.topology = Topology::full;
  const auto bytes = [&](InvalidationMessage reading) {
    c.coherence.invalidate = reading;
    ScriptedWorkload w = two_localities();
    ConsistencyChecker checker;
    const RunResult r = run(c, w, &checker);
    checker.check_final_image();
    REQUIRE(r.decisions.size() == 3);
    CHECK(total(r, Counter::coherence_invalidations) >= 160);  // every line of the first kernel, four to a range
    return std::pair(total(r, Counter::coherence_invalidation_bytes) / c.noc.header_bytes,
                     total(r, Counter::coherence_invalidations));
  };
  const auto [by_line, lines] = bytes(InvalidationMessage::line);
  const auto [by_range, same] = bytes(InvalidationMessage::range);
  CHECK(by_line == lines);
  CHECK(same == lines);
  CHECK(by_range == lines - 160 + 160 / 4);
}

TEST_CASE("the range follows what evicted entries tracked in the last kernel, and every copy ends that no entry tracks") {
  ScriptedWorkload w = two_localities();
  ConsistencyChecker checker;
  const RunResult r = run(adaptive(), w, &checker);
  checker.check_final_image();
  REQUIRE(r.decisions.size() == 3);  // none after the last kernel
  CHECK(r.decisions[0].choice == "1024 B");
  CHECK(r.decisions[0].cycle == r.kernels[0].finished);
  CHECK(r.decisions[0].values[0] == std::pair<std::string, double>{"lines_per_entry", 4});
  CHECK(r.decisions[0].values[1].second >= 24);  // 40 ranges in 16 entries
  CHECK(r.decisions[0].values[2] == std::pair<std::string, double>{"lookups", 160});
  CHECK(r.decisions[1].choice == "512 B");
  CHECK(r.decisions[1].values[0].second == 1);
  CHECK(r.decisions[1].values[1].second == 48);  // 60 ranges in 12 entries, none of them taken when the kernel began
  CHECK(r.decisions[2].choice == "512 B");
  CHECK(r.decisions[2].values[2].second == 0);
  CHECK(at(r, 1, Counter::coherence_evict_invalidation_hits) == 160 + 60);
  CHECK(at(r, 0, Counter::directory_evicted_lines) < 160);  // the others were given up for the new range
  CHECK(at(r, 1, Counter::llc_misses) == 160 + 60 + 1);
}

TEST_CASE("a kernel that begins with another range ends after the last invalidation of the old one's entries") {
  struct Log : ChipObserver {
    std::vector<Cycle> arrivals;
    void on_event(const Context& c, const Event& e) override {
      if (e.kind == EventKind::slice_arrive && e.packet.kind == PacketKind::invalidate) arrivals.push_back(c.now());
    }
  };
  SystemConfig c = adaptive();
  c.link.latency_cycles = 5000, c.control.latency_cycles = 2600, c.link.topology = Topology::full;
  ScriptedWorkload w = two_localities();
  Log log;
  const RunResult r = run(c, w, &log);
  REQUIRE(log.arrivals.size() == 220);
  CHECK(std::count_if(log.arrivals.begin(), log.arrivals.end(), [&](Cycle at) { return at > r.kernels[2].started; }) == 12);
  CHECK(log.arrivals.back() >= r.kernels[2].started + c.link.latency_cycles);
  CHECK(r.kernels[2].finished >= log.arrivals.back() + c.link.latency_cycles);
}

}  // namespace
}  // namespace atl::home_directory_test
