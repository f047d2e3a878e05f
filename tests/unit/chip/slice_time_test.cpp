#include "latency_terms.hpp"

// What requests wait at LLC slices, and for the home's directory (REC Fig. 16 compares the former).
namespace atl::slice_time_test {
namespace {

using namespace test;

constexpr std::uint64_t kA = 0x10000;

std::uint64_t sum(const RunResult& r, std::vector<std::uint64_t> ChipResult::*array) {
  std::uint64_t all = 0;
  for (const ChipResult& chip : r.chips)
    for (const std::uint64_t slice : chip.*array) all += slice;
  return all;
}

TEST_CASE("of requests that reach a slice together, each waits for the look-ups of those before it") {
  SystemConfig config = tiny(1);
  config.sm.count = 4;
  config.llc.slice_gbps = 16;  // 8 cycles for a line
  const AddressMap map(config);
  ScriptedWorkload w;
  w.kernel(4);
  std::uint64_t at = kA;
  for (std::uint32_t sm = 0; sm < 4; ++sm) {  // four lines of one slice
    w.warp(sm).pause(100 - sm).load(at, 0);   // CTAs start one per cycle
    at = find_line(config, at, [&](LineAddr line) { return map.slice(line) == map.slice({kA / 128}); });
  }
  const RunResult r = run(config, w);
  CHECK(sum(r, &ChipResult::slice_requests) == 4);
  CHECK(sum(r, &ChipResult::slice_queue_cycles) == 8 + 16 + 24);
}

TEST_CASE("a request that misses waits for its data from the look-up on, a merged one for what is left of that") {
  for (const std::uint32_t later : {0u, 1u, 40u}) {
    CAPTURE(later);
    const SystemConfig config = tiny(1);
    const Terms t(config);
    ScriptedWorkload w;
    w.kernel(2);
    w.warp(0).pause(101).load(kA, 0);
    if (later != 0) w.warp(1).pause(100 + later).load(kA, 0);
    ResponseLog log;
    const RunResult r = run(config, w, &log);
    const Cycle fetch = t.activate() + t.column(128);
    REQUIRE(log.responses[0].latency == t.local_llc_hit(t.header(), t.line()) + fetch);
    CHECK(sum(r, &ChipResult::slice_miss_cycles) == (later == 0 ? fetch : 2 * fetch - later));
    CHECK(total(r, Counter::llc_merges) == (later != 0));
    CHECK(sum(r, &ChipResult::slice_queue_cycles) == 0);
  }
}

TEST_CASE("a hit waits for nothing, and write-backs and invalidations are no requests") {
  SystemConfig config = tiny(2);
  config.llc.organisation = LlcOrganisation::sm_side;
  config.coherence.protocol = CoherenceProtocol::rec;
  ScriptedWorkload w;
  w.kernel(2), w.warp(0).store(kA);
  w.kernel(2), w.warp(1).load(kA, 0);  // two look-ups, of which the home's hits
  w.kernel(2), w.warp(1).load(kA, 0);
  w.kernel(2), w.warp(0).store(kA);  // invalidates chip 1's copy
  const RunResult r = run(config, w);
  REQUIRE(total(r, Counter::coherence_invalidation_hits) == 1);
  REQUIRE(total(r, Counter::llc_writebacks) == 2);
  CHECK(sum(r, &ChipResult::slice_requests) == 5);
  CHECK(sum(r, &ChipResult::slice_requests) == total(r, Counter::llc_accesses));
  const Terms t(config);
  const Cycle from_home = config.noc.memory_latency_cycles + t.hop(t.header()) + t.to_slice_from_link(t.header()) +
                          t.from_slice(t.line()) + t.hop(t.line()) + t.out_of_link(t.line()) +
                          config.noc.memory_latency_cycles;
  CHECK(sum(r, &ChipResult::slice_miss_cycles) == from_home);
}

TEST_CASE("an evicted entry costs its sharer the way to the home once more, and REC's range saves that") {
  const auto waits = [](CoherenceProtocol protocol) {
    SystemConfig config = tiny(2);
    config.llc.organisation = LlcOrganisation::sm_side;
    config.coherence.protocol = protocol;
    config.coherence.directory_entries = config.coherence.directory_ways = 1;
    ScriptedWorkload w;
    w.kernel(2), w.warp(1).load(kA, 0);
    w.kernel(2), w.warp(1).load(kA + 128, 0);  // another line of the same kilobyte
    w.kernel(2), w.warp(1).load(kA, 0);
    const RunResult r = run(config, w);
    return sum(r, &ChipResult::slice_miss_cycles);
  };
  const SystemConfig config = tiny(2);
  const Terms t(config);
  const Cycle from_home = config.noc.memory_latency_cycles + t.hop(t.header()) + t.to_slice_from_link(t.header()) +
                          t.from_slice(t.line()) + t.hop(t.line()) + t.out_of_link(t.line()) +
                          config.noc.memory_latency_cycles;
  CHECK(waits(CoherenceProtocol::directory) == waits(CoherenceProtocol::rec) + from_home);
  CHECK(waits(CoherenceProtocol::ideal) == waits(CoherenceProtocol::rec));
}

/// Latency of the last response: chip 1's or the home's, when the home has the line.
Cycle latency_with(std::uint32_t directory, LlcOrganisation organisation, CoherenceProtocol protocol, std::uint32_t chip,
                   Program& (*act)(Program&)) {
  SystemConfig config = tiny(2);
  config.llc.organisation = organisation;
  config.coherence.protocol = protocol;
  config.coherence.directory_latency_cycles = directory, config.llc.local_ways = 2;
  ScriptedWorkload w;
  w.kernel(4);
  w.warp(0).load(kA, 0);
  act(w.warp(2 * chip + 1).pause(3000));
  ResponseLog log;
  run(config, w, &log);
  REQUIRE(log.responses.size() == 2);
  CHECK(log.responses[1].chip == chip);
  return log.responses[1].latency;
}

TEST_CASE(
    "a look-up of the home's directory delays other chips' reads, writes and atomics by its latency, and nobody else") {
  using enum CoherenceProtocol;
  constexpr std::uint32_t kLatency = 37;
  Program& (*const acts[])(Program&) = {[](Program& p) -> Program& { return p.load(kA, 0); },
                                        [](Program& p) -> Program& { return p.store(kA); },
                                        [](Program& p) -> Program& { return p.atomic(kA, 0); }};
  for (const auto act : acts) {
    for (const std::uint32_t chip : {0u, 1u}) {
      CAPTURE(chip);
      const auto added = [&](LlcOrganisation organisation, CoherenceProtocol protocol) {
        return latency_with(kLatency, organisation, protocol, chip, act) -
               latency_with(0, organisation, protocol, chip, act);
      };
      const Cycle remote = chip == 1 ? kLatency : 0;
      for (const CoherenceProtocol p : {directory, hmg, rec, rec_adaptive, ideal}) {
        CHECK(added(LlcOrganisation::sm_side, p) == remote);
        CHECK(added(LlcOrganisation::fixed_split, p) == remote);
        CHECK(added(LlcOrganisation::memory_side, p) == 0);  // nothing to track
      }
      CHECK(added(LlcOrganisation::sm_side, l1_only) == 0);
      CHECK(added(LlcOrganisation::memory_side, software) == 0);
    }
  }
}

/// Two chips with SM-side slices; pages live on the first.
SystemConfig two_under(CoherenceProtocol protocol) {
  SystemConfig config = tiny(2);
  config.llc.organisation = LlcOrganisation::sm_side, config.coherence.protocol = protocol;
  return config;
}

TEST_CASE("a directory that takes time is looked up at the slices' rate: requests behind each other wait for it once") {
  const auto last = [](std::uint32_t directory) {
    SystemConfig config = two_under(CoherenceProtocol::rec);
    config.coherence.directory_latency_cycles = directory;
    config.noc.queue_packets = 2;
    ScriptedWorkload w;
    w.kernel(4);
    for (std::uint64_t i = 0; i < 12; ++i) w.warp(2).load(kA + i * 128, static_cast<std::uint8_t>(i));
    ResponseLog log;
    run(config, w, &log);
    REQUIRE(log.responses.size() == 12);
    return log.responses.back().cycle;
  };
  CHECK(last(500) - last(0) == 500);
}

TEST_CASE("the end of a copy does not wait for a directory, which its sharer does not keep of it") {
  const auto kernel_that_writes = [](std::uint32_t directory) {
    SystemConfig config = two_under(CoherenceProtocol::rec);
    config.coherence.directory_latency_cycles = directory;
    ScriptedWorkload w;
    w.kernel(4), w.warp(2).load(kA, 0);
    w.kernel(4), w.warp(0).store(kA);
    const RunResult r = run(config, w);
    CHECK(total(r, Counter::coherence_invalidation_hits) == 1);
    return r.kernels[1].finished - r.kernels[1].started;
  };
  const Cycle at_once = kernel_that_writes(0);
  CHECK(kernel_that_writes(1000) < at_once + 256);  // acknowledgements leave at multiples of 256 cycles
}

TEST_CASE("lines of other chips hold as many MSHRs as llc.remote_mshrs says, own lines and software coherence any number") {
  const auto last = [](CoherenceProtocol protocol, std::uint32_t remote, std::uint32_t chip) {
    SystemConfig config = two_under(protocol);
    config.llc.slices = 1, config.dram.channels = 1, config.llc.mshrs = 8, config.llc.remote_mshrs = remote;
    ScriptedWorkload w;
    w.kernel(4);
    for (std::uint64_t i = 0; i < 8; ++i) w.warp(chip == 0 ? 0 : 2).load(kA + i * 128, static_cast<std::uint8_t>(i));
    ResponseLog log;
    run(config, w, &log);
    REQUIRE(log.responses.size() == 8);
    return log.responses.back().cycle;
  };
  const Cycle any = last(CoherenceProtocol::ideal, 8, 1), one = last(CoherenceProtocol::ideal, 1, 1);
  CHECK(one > 2 * any);  // all but the wires and the launch is there eight times
  CHECK(last(CoherenceProtocol::ideal, 6, 1) > any);
  CHECK(last(CoherenceProtocol::ideal, 0, 1) == any);  // as the papers have it: nobody's lines are held to fewer
  CHECK(last(CoherenceProtocol::ideal, 1, 0) == last(CoherenceProtocol::ideal, 8, 0));
  CHECK(last(CoherenceProtocol::software, 1, 1) == last(CoherenceProtocol::software, 8, 1));
}

TEST_CASE("a lone read of another chip's line finds an MSHR beside as many own lines as leave one") {
  for (const LlcOrganisation organisation : {LlcOrganisation::fixed_split, LlcOrganisation::sm_side}) {
    const auto read_behind = [&](std::uint32_t own_lines, std::uint32_t remote) {
      SystemConfig config = two_under(CoherenceProtocol::rec);
      config.llc.organisation = organisation;
      if (organisation == LlcOrganisation::fixed_split)
        config.coherence.protocol = CoherenceProtocol::software, config.llc.local_ways = 2;
      config.partition.placement = Placement::interleaved;
      config.llc.slices = 1, config.dram.channels = 1, config.llc.mshrs = 8, config.llc.remote_mshrs = remote;
      const std::uint64_t page = config.partition.page_kib * 1024, of_chip_1 = page, of_chip_0 = 2 * page;
      ScriptedWorkload w;
      w.kernel(4);
      for (std::uint64_t i = 0; i < own_lines; ++i) w.warp(2).load(of_chip_1 + i * 128, static_cast<std::uint8_t>(i));
      w.warp(2).load(of_chip_0, static_cast<std::uint8_t>(own_lines));
      ResponseLog log;
      run(config, w, &log);
      for (const auto& r : log.responses)
        if (r.line.value * 128 == of_chip_0) return r.latency;
      FAIL("no response");
      return Cycle{0};
    };
    for (std::uint32_t remote = 1; remote <= 8; ++remote) {
      CAPTURE(remote);
      CHECK(read_behind(7, remote) == read_behind(7, 8));
      CHECK(read_behind(8, remote) == read_behind(8, 8));
    }
    CHECK(read_behind(8, 8) > read_behind(7, 8) + 1);  // it waits for one of the own
  }
}

}  // namespace
}  // namespace atl::slice_time_test
