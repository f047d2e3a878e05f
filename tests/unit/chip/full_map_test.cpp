#include "run.hpp"

namespace atl {
namespace {

using namespace test;

/// SM-side slices under SAC's directory protocol; all pages live on chip 0, whose CTA comes first.
SystemConfig coherent(std::uint32_t chips = 3) {
  SystemConfig c = tiny(chips);
  c.llc.organisation = LlcOrganisation::sm_side;
  c.coherence.protocol = CoherenceProtocol::full_map;
  return c;
}

TEST_CASE("a line read in one kernel is still in the slice in the next: nothing is flushed") {
  ScriptedWorkload w;
  for (int kernel = 0; kernel < 2; ++kernel) {
    w.kernel(3);
    w.warp(1).load(0, 0);
  }
  const RunResult r = run(coherent(), w);
  CHECK(total(r, Counter::llc_hits) == 1);
  CHECK(total(r, Counter::dram_reads) == 1);
  CHECK(total(r, Counter::llc_flushed_lines) == 0);
}

TEST_CASE("a remote write is told to the home once, stays in the writer's slice and reaches no memory") {
  ScriptedWorkload w;
  w.kernel(3);
  w.warp(1).store(0).store(0).store(0);
  const RunResult r = run(coherent(), w);
  CHECK(r.chips[1].totals[Counter::coherence_notices] == 1);
  CHECK(total(r, Counter::coherence_invalidations) == 0);
  CHECK(total(r, Counter::dram_writes) == 0);
}

TEST_CASE("a write ends all other copies, the home's included, before the next kernel starts") {
  ScriptedWorkload w;
  w.kernel(3);
  for (std::uint32_t chip = 0; chip < 3; ++chip) w.warp(chip).load(0, 0);
  w.kernel(3);
  w.warp(1).store(0);
  w.kernel(3);
  w.warp(0).load(0, 0);
  w.warp(2).load(0, 0);
  const RunResult r = run(coherent(), w);
  CHECK(r.chips[0].totals[Counter::coherence_invalidations] == 1);  // to chip 2; the home's own copy costs no message
  CHECK(r.chips[2].totals[Counter::coherence_invalidation_hits] == 1);
  // First kernel: three misses. Third: chips 0 and 2 miss again, and the owner answers both, or memory after the first.
  CHECK(r.chips[0].totals[Counter::llc_misses] == 2);
  CHECK(r.chips[2].totals[Counter::llc_misses] == 2);
  CHECK(r.chips[1].totals[Counter::llc_writebacks] == 1);
}

TEST_CASE("a read of a line that another chip has written is referred to it; the data go home, and the owner keeps a copy") {
  ScriptedWorkload w;
  w.kernel(3);
  w.warp(1).store(0);
  w.kernel(3);
  w.warp(2).load(0, 0);
  w.kernel(3);
  w.warp(1).load(0, 0);
  const RunResult r = run(coherent(), w);
  CHECK(r.chips[0].totals[Counter::coherence_referrals] == 1);
  CHECK(total(r, Counter::dram_reads) == 0);
  CHECK(r.chips[0].totals[Counter::dram_writes] == 1);
  CHECK(r.chips[2].latency[static_cast<std::size_t>(DataOrigin::remote_llc)] !=
        std::array<std::uint64_t, kLatencyBuckets>{});
  CHECK(r.chips[1].totals[Counter::llc_hits] == 2);  // chip 2's read, and its own
}

TEST_CASE("the home's own read of a line that another chip has written goes to that chip") {
  ScriptedWorkload w;
  w.kernel(3);
  w.warp(1).store(0);
  w.kernel(3);
  w.warp(0).load(0, 0);
  const RunResult r = run(coherent(), w);
  CHECK(total(r, Counter::dram_reads) == 0);
  CHECK(total(r, Counter::coherence_referrals) == 0);
  CHECK(r.chips[1].totals[Counter::llc_hits] == 1);
}

TEST_CASE("a line that the home has written is read from its slice, not from memory") {
  ScriptedWorkload w;
  w.kernel(3);
  w.warp(0).store(0);
  w.kernel(3);
  w.warp(1).load(0, 0);
  const RunResult r = run(coherent(), w);
  CHECK(total(r, Counter::dram_reads) == 0);
  CHECK(r.chips[0].totals[Counter::llc_hits] == 1);
}

TEST_CASE("the home's second write ends copies that were read from its dirty line") {
  ScriptedWorkload w;
  w.kernel(3);
  w.warp(0).store(0);
  w.kernel(3);
  w.warp(1).load(0, 0);
  w.kernel(3);
  w.warp(0).store(0);
  w.kernel(3);
  w.warp(1).load(0, 0);
  const RunResult r = run(coherent(), w);
  CHECK(r.chips[1].totals[Counter::coherence_invalidation_hits] == 1);
  CHECK(r.chips[1].totals[Counter::llc_misses] == 2);
}

TEST_CASE("a line that the home was fetching while another chip wrote it does not stay at the home") {
  // At some offset the notice meets the fetch; at none may the home keep what it fetched before, and then read it again.
  for (std::uint16_t wait = 1; wait < 400; wait += 9) {
    CAPTURE(wait);
    ScriptedWorkload v;
    v.kernel(3);
    v.warp(0).compute(1, wait).load(0, 0);
    v.warp(1).store(0);
    v.kernel(3);
    v.warp(0).load(0, 0);
    const RunResult r = run(coherent(), v);
    // The home's copy is from before the write, and gone, or from the owner, which then has written it back.
    const std::uint64_t hits = r.chips[0].totals[Counter::llc_hits];
    CHECK((hits == 0 || r.chips[1].totals[Counter::llc_writebacks] == 1));
  }
}

TEST_CASE("sectors that the home has not written come from memory, although its line is dirty") {
  SystemConfig c = coherent();
  c.llc.sectored = c.l1.sectored = true;
  ScriptedWorkload w;
  w.kernel(3);
  w.warp(0).store(0, 0x1);
  w.kernel(3);
  w.warp(1).load(0, 0, 0xE);
  const RunResult r = run(c, w);
  CHECK(r.chips[0].totals[Counter::llc_hits] == 0);
  CHECK(total(r, Counter::dram_reads) == 1);
}

TEST_CASE("a line that its owner has replaced is in the home's memory") {
  SystemConfig c = coherent();
  c.llc.slices = 1, c.llc.size_kib = 16, c.llc.index = SetIndex::linear;  // 32 sets of 4 ways
  c.partition.mapping = Mapping::interleaved, c.dram.channels = 1;
  ScriptedWorkload w;
  w.kernel(3);
  for (std::uint64_t i = 0; i < 5; ++i) w.warp(1).store(i * 32 * 128);
  w.kernel(3);
  w.warp(2).load(0, 0);
  const RunResult r = run(c, w);
  CHECK(r.chips[1].totals[Counter::llc_writebacks] == 1);
  CHECK(r.chips[0].totals[Counter::coherence_referrals] == 0);
  CHECK(total(r, Counter::dram_reads) == 1);
}

TEST_CASE("an atomic at the home ends the other chips' copies") {
  ScriptedWorkload w;
  w.kernel(3);
  w.warp(1).load(0, 0);
  w.kernel(3);
  w.warp(2).atomic(0);
  w.kernel(3);
  w.warp(1).load(0, 0);
  const RunResult r = run(coherent(), w);
  CHECK(r.chips[1].totals[Counter::coherence_invalidation_hits] == 1);
  CHECK(r.chips[1].totals[Counter::llc_misses] == 2);
}

TEST_CASE("two chips that write one line in turn take it from each other, and every loser writes back") {
  ScriptedWorkload w;
  for (std::uint32_t turn = 0; turn < 6; ++turn) {
    w.kernel(3);
    w.warp(1 + turn % 2).store(0);
  }
  const RunResult r = run(coherent(), w);
  CHECK(total(r, Counter::coherence_notices) == 6);
  CHECK(total(r, Counter::coherence_invalidations) == 5);
  CHECK(total(r, Counter::coherence_invalidation_hits) == 5);
  CHECK(total(r, Counter::llc_writebacks) == 5);
}

TEST_CASE("under SAC with directories only remote lines go when SM-side caching ends") {
  SystemConfig c = coherent(2);
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
  const RunResult r = run(c, w);
  REQUIRE(r.decisions.size() == 1);
  CHECK(r.decisions[0].choice == "sm_side");
  CHECK(r.chips[1].totals[Counter::llc_flushed_lines] == 4);
  CHECK(r.chips[0].totals[Counter::llc_flushed_lines] == 0);
}

}  // namespace
}  // namespace atl
