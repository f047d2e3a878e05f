#include "run.hpp"

namespace atl {
namespace {

using namespace test;

SystemConfig split(RemoteWrites writes = RemoteWrites::through) {
  SystemConfig c = tiny(2);
  c.llc.organisation = LlcOrganisation::fixed_split;
  c.llc.slices = 1, c.llc.size_kib = 16, c.llc.ways = 4, c.llc.local_ways = 2;  // 32 sets of 4 ways
  c.llc.index = SetIndex::linear;
  c.llc.remote_writes = writes;
  c.partition.mapping = Mapping::interleaved;
  c.dram.channels = 1;
  return c;
}

constexpr std::uint64_t kSetStride = 32 * 128;  ///< lines of one set

TEST_CASE("a remote line is cached twice: in the remote ways of its reader and in the local ways of its home") {
  ScriptedWorkload w;
  w.kernel(2);
  w.warp(1).load(0, 0).after({0}).load(0, 1).past_l1();
  const RunResult r = run(split(), w);
  CHECK(r.chips[1].totals[Counter::llc_accesses] == 2);
  CHECK(r.chips[1].totals[Counter::llc_misses] == 1);
  CHECK(r.chips[1].totals[Counter::llc_hits] == 1);
  CHECK(r.chips[0].totals[Counter::llc_accesses] == 1);  // the home's slice looks it up, unlike under SM-side caching
  CHECK(r.chips[0].totals[Counter::llc_misses] == 1);
  CHECK(r.chips[0].totals[Counter::llc_bypasses] == 0);
  CHECK(total(r, Counter::dram_reads) == 1);
}

TEST_CASE("remote lines of one set replace each other once they have their ways") {
  for (const auto& [lines, hits] : {std::pair{2u, 2u}, {3u, 0u}}) {
    ScriptedWorkload w;
    w.kernel(2);
    for (int round = 0; round < 2; ++round)
      for (std::uint64_t i = 0; i < lines; ++i) w.warp(1).load(i * kSetStride, 0).past_l1().after({0}).compute(1, 1);
    const RunResult r = run(split(), w);
    CHECK(r.chips[1].totals[Counter::llc_hits] == hits);
  }
}

TEST_CASE("local lines keep to their ways too, even while the remote ones are empty") {
  for (const auto& [lines, hits] : {std::pair{2u, 2u}, {3u, 0u}}) {
    ScriptedWorkload w;
    w.kernel(2);
    for (int round = 0; round < 2; ++round)
      for (std::uint64_t i = 0; i < lines; ++i) w.warp(0).load(i * kSetStride, 0).past_l1().after({0}).compute(1, 1);
    const RunResult r = run(split(), w);
    CHECK(r.chips[0].totals[Counter::llc_hits] == hits);
  }
}

TEST_CASE("a write to a remote line goes to its home at once, and updates a copy but makes none") {
  ScriptedWorkload w;
  w.kernel(2);
  w.warp(1).store(0).load(0, 0).past_l1().after({0}).store(0).load(0, 1).past_l1();
  const RunResult r = run(split(), w);
  // Chip 1: the first store misses, the load fetches, the second store and the second load hit.
  CHECK(r.chips[1].totals[Counter::llc_misses] == 2);
  CHECK(r.chips[1].totals[Counter::llc_hits] == 2);
  CHECK(r.chips[0].totals[Counter::llc_writes] == 2);
  CHECK(total(r, Counter::dram_reads) == 0);  // the home's slice had it from the first store on
}

TEST_CASE("written back, remote lines stay until the kernel ends, and then are in their home's slice") {
  ScriptedWorkload w;
  w.kernel(2);
  w.warp(1).store(0).store(0);
  w.kernel(2);
  w.warp(0).load(0, 0);
  const RunResult r = run(split(RemoteWrites::back), w);
  CHECK(r.chips[1].totals[Counter::llc_writebacks] == 1);
  CHECK(r.chips[0].totals[Counter::llc_writes] == 1);  // two stores, one write-back
  CHECK(total(r, Counter::dram_reads) == 0);
}

TEST_CASE("remote ways are empty after a kernel, local ones keep their lines") {
  ScriptedWorkload w;
  for (int kernel = 0; kernel < 2; ++kernel) {
    w.kernel(2);
    w.warp(0).load(0, 0);
    w.warp(1).load(0, 0);
  }
  const RunResult r = run(split(), w);
  CHECK(r.chips[1].totals[Counter::llc_flushed_lines] == 2);
  CHECK(r.chips[0].totals[Counter::llc_flushed_lines] == 0);
  CHECK(r.chips[1].totals[Counter::llc_misses] == 2);
  CHECK(total(r, Counter::dram_reads) == 1);
}

}  // namespace
}  // namespace atl
