#include <fmt/format.h>

#include "core/chip/observe/consistency_checker.hpp"
#include "extreme_machines.hpp"
#include "race_free_programs.hpp"
#include "random_programs.hpp"

namespace atl {
namespace {

using namespace test;

/// Counts besides what there was to lose while organisations changed.
struct Watch : ConsistencyChecker {
  std::uint64_t dirty_at_changes = 0;
  void on_llc_leave(const Context& c, std::uint32_t slice, LineAddr line, std::uint8_t dirty) override {
    ConsistencyChecker::on_llc_leave(c, slice, line, dirty);
    dirty_at_changes += c.paused && dirty != 0;
  }
};

struct Outcome {
  RunResult result;
  std::uint64_t dirty_at_changes = 0;
};

/// Runs a program without races and looks for stale data, in reads and at the end.
Outcome check(const SystemConfig& c, const RaceFreeShape& shape, std::uint32_t seed) {
  const std::string what = fmt::format("{}{}, {}, {} chips, topology {}, {} B lines, {}, {} queue places, seed {}",
                                       words<LlcOrganisation>()[static_cast<std::size_t>(c.llc.organisation)].word,
                                       c.llc.remote_writes == RemoteWrites::back ? " with write-back" : "",
                                       words<CoherenceProtocol>()[static_cast<std::size_t>(c.coherence.protocol)].word,
                                       c.chips, static_cast<int>(c.link.topology), c.line_bytes,
                                       c.llc.sectored ? "sectored" : "whole lines", c.noc.queue_packets, seed);
  CAPTURE(what);
  ScriptedWorkload w = race_free_workload(c, shape, seed);
  Watch checker;
  Outcome o;
  REQUIRE_NOTHROW(o.result = run(c, w, &checker));
  CHECK_NOTHROW(checker.check_final_image());
  CHECK(o.result.complete);
  CHECK(checker.counts().checked > 0);
  CHECK(checker.counts().unchecked == 0);
  o.dirty_at_changes = checker.dirty_at_changes;
  return o;
}

/// Every organisation and number of chips, sectored or not, with an LLC so small that lines are replaced all the time.
void for_each_system(const std::function<void(const SystemConfig&, std::uint32_t)>& f) {
  std::uint32_t seed = 1;
  for (const SystemConfig& base : machines(tiny(1))) {
    for (std::uint32_t chips = 2; chips <= 5; ++chips) {
      for (const bool sectored : {false, true}) {
        for (int repeat = 0; repeat < 2; ++repeat) {
          SystemConfig c = base;
          c.chips = chips, c.link.topology = static_cast<Topology>(seed % 3);
          c.l1.sectored = c.llc.sectored = c.l2.sectored = sectored;
          c.line_bytes = seed % 3 == 0 ? 64 : 128;
          c.dram.timing.burst_bytes = 32;
          c.llc.size_kib = 16, c.l1.size_kib = repeat == 0 ? 1 : 16;  // lines come and go, or outlast a kernel
          c.partition.placement = seed % 2 == 0 ? Placement::first_touch : Placement::interleaved;
          c.sac.threshold = 0, c.sac.crd_sets = 32;
          f(c, seed++);
        }
      }
    }
  }
}

TEST_CASE("no read is stale and no store is lost, whatever the organisation" * doctest::test_suite("stress")) {
  std::uint64_t replaced = 0;
  for_each_system([&](const SystemConfig& c, std::uint32_t seed) {
    const Outcome o = check(c, {.odd_sectors = c.llc.sectored}, seed);
    replaced += total(o.result, Counter::llc_writebacks);
  });
  CHECK(replaced > 10000);
}

TEST_CASE("no read is stale and no store is lost while the directories' range changes from kernel to kernel" *
          doctest::test_suite("stress")) {
  std::uint64_t changes = 0;
  for_each_system([&](const SystemConfig& c, std::uint32_t seed) {
    if (c.coherence.protocol != CoherenceProtocol::rec_adaptive) return;
    for (const std::uint64_t spread : {128, 1280}) {
      const Outcome o = check(c, {.kernels = 6, .spread = spread, .odd_sectors = c.llc.sectored}, 7000 + seed);
      std::string last = "1024 B";
      for (const Decision& d : o.result.decisions) changes += std::exchange(last, d.choice) != d.choice;
    }
  });
  CHECK(changes > 100);
}

TEST_CASE("no read is stale and no store is lost with one place in every queue" * doctest::test_suite("stress")) {
  for_each_system([](SystemConfig c, std::uint32_t seed) {
    minimise(c);
    check(c, {.odd_sectors = c.llc.sectored}, 1000 + seed);
  });
}

TEST_CASE("no read is stale and no store is lost while L1s serve each other" * doctest::test_suite("stress")) {
  std::uint64_t served = 0;
  for_each_system([&](SystemConfig c, std::uint32_t seed) {
    share_l1s(c, seed);
    served += total(check(c, {.odd_sectors = c.llc.sectored}, 4000 + seed).result, Counter::cluster_served);
    minimise(c);
    check(c, {.odd_sectors = c.llc.sectored}, 5000 + seed);
  });
  CHECK(served > 1000);
}

TEST_CASE("an SM that reads its own sector of a line from a neighbour's L1 finds what it stored there" *
          doctest::test_suite("stress")) {
  std::uint64_t served = 0;
  for_each_system([&](SystemConfig c, std::uint32_t seed) {
    // Under full_map a line has one owner at a time: the checker leaves out what several chips write.
    if (!c.llc.sectored || c.coherence.protocol == CoherenceProtocol::full_map) return;
    share_l1s(c, seed);
    c.l1.sectored = seed % 2 == 0;  // whole lines bring the neighbours' sectors along, which grow stale
    c.l1.size_kib = 1;              // and the SM's own are soon replaced
    const RaceFreeShape shape{.ctas_per_chip = 8, .ops = 60, .lines = 40, .quiet = 40, .by_sector = true};
    served += total(check(c, shape, 6000 + seed).result, Counter::cluster_served);
  });
  CHECK(served > 1000);
}

TEST_CASE("chips that write different sectors of a line in one kernel do not overwrite each other's" *
          doctest::test_suite("stress")) {
  for_each_system([](const SystemConfig& c, std::uint32_t seed) {
    // Under full_map a line has one owner at a time: the checker leaves out what several chips write.
    if (c.llc.sectored && c.coherence.protocol != CoherenceProtocol::full_map)
      check(c, {.lines = 200, .by_sector = true}, 2000 + seed);
  });
}

/// SAC changes the organisation in the middle of writing, to and fro. Returns the dirty lines that left slices meanwhile.
std::size_t check_changes(CoherenceProtocol protocol, std::uint32_t seeds) {
  std::size_t to_sm_side = 0, back = 0, dirty = 0;
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    SystemConfig c = tiny(2 + seed % 4);
    c.coherence.protocol = protocol, c.coherence.directory_entries = 32, c.coherence.directory_ways = 4;
    c.rec_adaptive.narrow_below = 0.5, c.rec_adaptive.widen_above = 0.51, c.rec_adaptive.min_evictions = 0;
    c.llc.organisation = LlcOrganisation::sac;
    c.control.latency_cycles = 100;
    c.partition.placement = Placement::interleaved;
    c.sac.window_cycles = 200 + 37 * (seed % 30), c.sac.reprofile_cycles = 300 + 61 * (seed % 30), c.sac.threshold = 0;
    c.sac.crd_ways = 4, c.sac.crd_sets = 32;
    c.link.bandwidth_gbps = 4;
    c.llc.size_kib = 16;
    c.llc.sectored = c.l1.sectored = seed % 2 == 1;
    const Outcome o = check(c,
                            {.kernels = 2,
                             .ctas_per_chip = 8,
                             .ops = 60,
                             .by_sector = seed % 3 == 0 && c.llc.sectored,
                             .odd_sectors = c.llc.sectored},
                            3000 + seed);
    dirty += o.dirty_at_changes;
    for (const Decision& d : o.result.decisions) to_sm_side += d.choice == "sm_side", back += d.choice == "profile";
  }
  CHECK(to_sm_side > seeds);
  CHECK(back > seeds);
  return dirty;
}

TEST_CASE("no read is stale and no store is lost when SAC changes the organisation in the middle of writing, to and fro" *
          doctest::test_suite("stress")) {
  CHECK(check_changes(CoherenceProtocol::software, 60) > 1000);
  for (const auto protocol :
       {CoherenceProtocol::directory, CoherenceProtocol::hmg, CoherenceProtocol::rec, CoherenceProtocol::rec_adaptive})
    check_changes(protocol, 30);
}

TEST_CASE("the same while L1s serve each other" * doctest::test_suite("stress")) {
  std::size_t changes = 0;
  std::uint64_t served = 0;
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    SystemConfig c = tiny(2 + seed % 4);
    share_l1s(c, seed);
    c.llc.organisation = LlcOrganisation::sac;
    c.control.latency_cycles = 100;
    c.partition.placement = seed % 2 == 0 ? Placement::first_touch : Placement::interleaved;
    c.sac.window_cycles = 200 + 37 * seed, c.sac.reprofile_cycles = 300 + 61 * seed, c.sac.threshold = 0;
    c.sac.crd_ways = 4, c.sac.crd_sets = 32;
    c.link.bandwidth_gbps = 4;
    c.llc.size_kib = 16;
    const Outcome o = check(c, {.kernels = 2, .ctas_per_chip = 8, .ops = 60, .odd_sectors = false}, 7000 + seed);
    changes += o.result.decisions.size();
    served += total(o.result, Counter::cluster_served);
  }
  CHECK(changes > 30);
  CHECK(served > 1000);
}

TEST_CASE("sectors that atomics change are left out of the check where nobody orders them, and no others") {
  for (const LlcOrganisation organisation : {LlcOrganisation::memory_side, LlcOrganisation::sm_side}) {
    SystemConfig c = tiny(2);
    c.llc.organisation = organisation;
    ScriptedWorkload w;
    w.kernel(2);
    w.warp(0).store(0x1000).after({0}).load(0x2000, 0);
    w.warp(1).atomic(0x2000, kNoSlot, 0x1);
    w.kernel(2);
    w.warp(1).load(0x1000, 0).load(0x2000, 1);
    ConsistencyChecker checker;
    run(c, w, &checker);
    checker.check_final_image();
    // Memory-side, the line's slice says in which order they came.
    CHECK((checker.counts().unchecked >= 1) == (organisation == LlcOrganisation::sm_side));
    CHECK(checker.counts().checked + checker.counts().unchecked == 12);
  }
}

TEST_CASE("programs with races and atomics are not accused of what their races do" * doctest::test_suite("stress")) {
  for_each_system([](const SystemConfig& c, std::uint32_t seed) {
    CAPTURE(seed);
    ScriptedWorkload w = random_workload(c, {.kernels = 3, .ops = 30, .lines = 150, .spread = 1280}, seed);
    ConsistencyChecker checker;
    REQUIRE_NOTHROW(run(c, w, &checker));
    CHECK_NOTHROW(checker.check_final_image());
    CHECK(checker.counts().checked > 0);
  });
}

TEST_CASE("a checker begins with nothing counted") {
  const ConsistencyChecker::Counts n = ConsistencyChecker().counts();
  for (const std::uint64_t count : {n.checked, n.unchecked, n.slices, n.endings, n.copies, n.sharers_compared, n.forwarded,
                                    n.merged, n.l1_merged, n.recalled})
    CHECK(count == 0);
}

}  // namespace
}  // namespace atl
