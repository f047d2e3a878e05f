#include "inputs/ptx/global_races.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "harness.hpp"
#include "inputs/ptx/access_check.hpp"

using namespace atl::ptx;

// Locations of global memory that warps touch without an order.
namespace {

using U32 = std::vector<std::uint32_t>;

const std::string kHead =
    kHeader + ".visible .entry k(.param .u64 px, .param .u64 py)\n{ .reg .pred %p<4>; .reg .b32 %r<12>; " +
    ".reg .b64 %rd<12>;\nld.param.u64 %rd1,[px]; ld.param.u64 %rd2,[py];\n" +
    "mov.u32 %r1,%tid.x; mov.u32 %r2,%ctaid.x; mov.u32 %r3,%ntid.x; mad.lo.s32 %r4,%r2,%r3,%r1;\n" +
    "mul.wide.u32 %rd3,%r1,4; add.s64 %rd4,%rd1,%rd3; mul.wide.u32 %rd5,%r4,4; add.s64 %rd6,%rd1,%rd5;\n";

struct Outcome {
  std::uint64_t locations = 0;
  std::vector<GlobalRace> found;
};

Outcome races_of(const std::string& body, std::uint32_t grid, std::uint32_t block, unsigned threads = 1,
                 Schedule schedule = Schedule::interleaved, bool lines = false, bool nc_holds = true) {
  Harness h(kHead + body + "\nret; }");
  U32 x(4096), y(4096);
  GlobalRaces races;
  AccessCheck check;
  LaunchSpec s = h.spec("k", grid, block);
  s.races = &races, s.threads = threads, s.schedule = schedule, s.nc_holds = nc_holds;
  if (lines) s.check = &check;
  h.set(s, h.buffer(x), h.buffer(y));
  execute(s, h.device);
  return {races.counts().locations, races.found()};
}

}  // namespace

TEST_CASE("threads that keep to elements of their own do not race") {
  CHECK(races_of("ld.global.u32 %r5,[%rd6]; add.u32 %r5,%r5,1; st.global.u32 [%rd6],%r5;", 4, 64).locations == 0);
}

TEST_CASE("blocks that store different values to one place race, at each such place once") {
  for (const unsigned threads : {1u, 2u}) CHECK(races_of("st.global.u32 [%rd4],%r2;", 4, 64, threads).locations == 64);
}

TEST_CASE("blocks that store one value to one place do not race, unless somebody reads it") {
  CHECK(races_of("mov.u32 %r5,1; st.global.u32 [%rd1],%r5;", 4, 64).locations == 0);
  CHECK(races_of("ld.global.u32 %r6,[%rd1]; mov.u32 %r5,1; st.global.u32 [%rd1],%r5;", 4, 64).locations == 1);
}

TEST_CASE("a block that reads its neighbour's element races on every element that is handed over") {
  const std::string body = "ld.global.u32 %r5,[%rd6+128]; add.u32 %r5,%r5,1; st.global.u32 [%rd6],%r5;";
  // 4 blocks of a warp: elements 32..127 are read by one block and written by another.
  for (const unsigned threads : {1u, 2u}) CHECK(races_of(body, 4, 32, threads).locations == 96);
  CHECK(races_of(body, 4, 32, 1, Schedule::long_turns).locations == 96);
}

TEST_CASE("loads by ld.global.nc race where the launch may write what they read") {
  const std::string body = "ld.global.nc.u32 %r5,[%rd6+128]; add.u32 %r5,%r5,1; st.global.u32 [%rd6],%r5;";
  CHECK(races_of(body, 4, 32, 1, Schedule::interleaved, false, false).locations == 96);
  CHECK(races_of(body, 4, 32).locations == 0);
}

TEST_CASE("memory of the heap that is given out again is ordered behind what was done to it before") {
  const std::string body =
      "{ .param .b64 size; .param .b64 got; st.param.b64 [size],64; call.uni (got), malloc, (size); ld.param.b64 "
      "%rd7,[got]; "
      "}\nst.u32 [%rd7],%r4; ld.u32 %r5,[%rd7]; st.global.u32 [%rd6],%r5;\n"
      "{ .param .b64 back; st.param.b64 [back],%rd7; call.uni free, (back); }";
  const std::string heap =
      ".extern .func (.param .b64 got) malloc (.param .b64 size);\n.extern .func free (.param .b64 back);\n";
  Harness h(kHeader + heap + kHead.substr(kHeader.size()) + body + "\nret; }");
  U32 x(4096), y(4096);
  alignas(64) static std::array<std::byte, 64> block;
  h.device.allocate = [&](std::uint64_t size) {  // the same each time
    const auto at = reinterpret_cast<std::uint64_t>(block.data());
    h.device.memory.add({at, size, "the block"});
    return at;
  };
  h.device.release = [&](std::uint64_t at) { h.device.memory.remove(at); };
  GlobalRaces races;
  LaunchSpec s = h.spec("k", 4, 1);
  s.races = &races, s.schedule = Schedule::long_turns;
  h.set(s, h.buffer(x), h.buffer(y));
  execute(s, h.device);
  CHECK(races.counts().locations == 0);
  CHECK(x[3] == 3);
}

TEST_CASE("warps of a block race before a barrier, and not across it") {
  const std::string swap = "xor.b32 %r6,%r1,32; mul.wide.u32 %rd7,%r6,4; add.s64 %rd8,%rd1,%rd7; st.global.u32 [%rd4],%r1;";
  CHECK(races_of(swap + "ld.global.u32 %r7,[%rd8];", 1, 64).locations == 64);
  CHECK(races_of(swap + "bar.sync 0; ld.global.u32 %r7,[%rd8];", 1, 64).locations == 0);
  CHECK(races_of(swap + "bar.sync 0; ld.global.u32 %r7,[%rd8]; st.global.u32 [%rd4],%r7;", 1, 64).locations == 64);
}

TEST_CASE("what one warp stores again and again makes no race, and hides none") {
  std::string again;
  for (unsigned n = 0; n < 4; ++n) again += "add.u32 %r5,%r1," + std::to_string(n) + "; st.global.u32 [%rd6],%r5; ";
  CHECK(races_of(again, 4, 32).locations == 0);
  CHECK(races_of(again + "bar.sync 0; " + again, 4, 32).locations == 0);
  for (const unsigned threads : {1u, 2u})
    CHECK(races_of(again + "ld.global.u32 %r7,[%rd6+128];", 4, 32, threads).locations == 96);
  // Read by the neighbour after the first stores, and before the last ones, with a barrier of its own between.
  CHECK(races_of(again + "ld.global.u32 %r7,[%rd6+128]; bar.sync 0; " + again, 4, 32).locations == 96);
}

TEST_CASE("reductions of bulk copies are atomics, each of one element: only what is none of these races with them") {
  const std::string tile = ".shared .align 16 .b32 tile[8]; st.shared.u32 [tile],%r2;";
  const std::string sum = "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1],[tile],32;";
  const std::string copy = "cp.async.bulk.global.shared::cta.bulk_group [%rd1],[tile],32;";
  for (const Schedule schedule : kSchedules) {
    const auto locations = [&](const std::string& body) { return races_of(tile + body, 4, 1, 1, schedule).locations; };
    CHECK(locations(sum) == 0);
    CHECK(locations(sum + "red.global.add.u32 [%rd1],1;") == 0);
    CHECK(locations(sum + "ld.global.u32 %r5,[%rd1];") == 1);
    CHECK(locations(copy) == 1);  // different numbers in the first word alone
  }
}

TEST_CASE("lanes of one warp are not compared") {
  CHECK(races_of("xor.b32 %r6,%r1,1; mul.wide.u32 %rd7,%r6,4; add.s64 %rd8,%rd1,%rd7; st.global.u32 [%rd4],%r1; "
                 "ld.global.u32 %r7,[%rd8];",
                 1, 32)
            .locations == 0);
}

TEST_CASE("atomics and volatile accesses do not race among themselves, but with others") {
  CHECK(races_of("atom.global.add.u32 %r5,[%rd1],1;", 4, 64).locations == 0);
  CHECK(races_of("st.volatile.global.u32 [%rd1],%r4; ld.volatile.global.u32 %r5,[%rd1];", 4, 64).locations == 0);
  CHECK(races_of("atom.global.add.u32 %r5,[%rd1],1; ld.global.u32 %r6,[%rd1];", 4, 64).locations == 1);
  CHECK(races_of("red.global.add.u32 [%rd4],1; st.volatile.global.u32 [%rd4],%r4;", 2, 32).locations == 0);
}

TEST_CASE("a compare-and-swap that finds another value only reads") {
  // Of two warps the first loads what the second compares, and swaps if all of it is as `expected`.
  const auto cas = [](int expected, int lanes = 32) {
    return races_of("setp.lt.u32 %p1,%r1,32; @%p1 bra LOAD; setp.lt.u32 %p2,%r1," + std::to_string(32 + lanes) +
                        "; @!%p2 ret; atom.global.cas.b32 %r7,[%rd4+-128]," + std::to_string(expected) +
                        ",8; ret; LOAD: ld.global.u32 %r5,[%rd4];",
                    1, 64)
        .locations;
  };
  CHECK(cas(7) == 0);
  CHECK(cas(0) == 32);
  CHECK(cas(0, 5) == 5);
}

TEST_CASE("a plain load that only begins a loop of compare-and-swaps does not race with them; any other does") {
  const std::string loop =
      "L: add.u32 %r6,%r5,1; atom.global.cas.b32 %r7,[%rd4],%r5,%r6; setp.ne.u32 %p1,%r7,%r5; mov.u32 %r5,%r7; @%p1 bra L;";
  for (const unsigned threads : {1u, 2u}) {
    CHECK(races_of("ld.global.u32 %r5,[%rd4];" + loop, 16, 64, threads).locations == 0);
    CHECK(races_of("ld.global.u32 %r8,[%rd4]; mov.u32 %r5,0;" + loop, 16, 64, threads).locations == 64);
    CHECK(races_of("ld.global.u32 %r5,[%rd4+256]; mov.u32 %r5,0;" + loop, 16, 128, threads).locations >= 64);
  }
}

TEST_CASE("the load before compare-and-swaps has the offset of a member in its address, they a register of their own") {
  const std::string loop =
      "add.s64 %rd7,%rd4,2048; L: add.u32 %r6,%r5,1; atom.global.cas.b32 %r7,[%rd7],%r5,%r6; setp.ne.u32 %p1,%r7,%r5; "
      "mov.u32 %r5,%r7; @%p1 bra L;";
  CHECK(races_of("ld.global.u32 %r5,[%rd4+2048];" + loop, 16, 64).locations == 0);
  CHECK(races_of("ld.global.u32 %r5,[%rd4+2044];" + loop, 16, 64).locations >= 32);
}

TEST_CASE("bytes of one word are different locations where the kernel accesses bytes") {
  const std::string bytes = "cvt.u64.u32 %rd7,%r4; add.s64 %rd8,%rd1,%rd7; st.global.u8 [%rd8],%r4;";
  CHECK(races_of(bytes, 4, 33).locations == 0);
  // Two threads share a byte; those of bytes 16 and 49 are in two blocks.
  const std::string pairs = "shr.u32 %r4,%r4,1; cvt.u64.u32 %rd7,%r4; add.s64 %rd8,%rd1,%rd7; st.global.u8 [%rd8],%r2;";
  CHECK(races_of(pairs, 4, 33).locations == 2);
}

TEST_CASE("what a block hands to the last one with a fence and an atomic is ordered; without the fence it is not") {
  const auto last = [](const std::string& fence) {
    return "st.global.u32 [%rd6],%r4;" + fence +
           "atom.global.add.u32 %r5,[%rd2],1; setp.ne.u32 %p1,%r5,127; @%p1 bra DONE; ld.global.u32 %r6,[%rd1]; "
           "ld.global.u32 %r7,[%rd1+128]; DONE:";
  };
  CHECK(races_of(last("membar.gl;"), 4, 32).locations == 0);
  CHECK(races_of(last("fence.acq_rel.gpu;"), 4, 32).locations == 0);
  CHECK(races_of(last(""), 4, 32).locations >= 1);
}

TEST_CASE("what a lock of relaxed atomics keeps apart is ordered, if a fence comes before it is given back") {
  const auto locked = [](const std::string& load, const std::string& fence) {
    return "L: atom.relaxed.gpu.global.exch.b32 %r5,[%rd2],1; setp.ne.u32 %p1,%r5,0; @%p1 bra L; " + load +
           " %r6,[%rd1]; add.u32 %r6,%r6,1; st.global.u32 [%rd1],%r6; " + fence +
           "atom.relaxed.gpu.global.exch.b32 %r5,[%rd2],0;";
  };
  for (const Schedule schedule : kSchedules)
    for (const std::string load : {"ld.global.u32", "ld.volatile.global.u32"}) {
      CHECK(races_of(locked(load, "membar.gl;"), 5, 1, 1, schedule).locations == 0);
      CHECK(races_of(locked(load, ""), 5, 1, 1, schedule).locations == 1);
      // One block in five forgets the fence.
      CHECK(races_of("setp.eq.u32 %p2,%r2,2; " + locked(load, "@!%p2 membar.gl;"), 5, 1, 1, schedule).locations == 1);
    }
}

TEST_CASE("a block that writes what others have read needs no fence of its own, but an atomic after theirs") {
  const auto waits = [](const std::string& fence) {
    return "setp.eq.u32 %p2,%r2,3; @%p2 bra LAST; ld.global.u32 %r6,[%rd1]; " + fence +
           "atom.global.add.u32 %r5,[%rd2],1; ret; LAST: atom.global.add.u32 %r5,[%rd2],0; setp.ne.u32 %p1,%r5,3; "
           "@%p1 bra LAST; st.global.u32 [%rd1],%r4;";
  };
  CHECK(races_of(waits("membar.gl; "), 4, 1).locations == 0);
  CHECK(races_of(waits(""), 4, 1).locations == 1);
}

TEST_CASE("no warp is said to race with itself") {
  for (const std::string more : {"", "atom.global.add.u32 %r7,[%rd2],1; "})
    for (const std::uint32_t grid : {1u, 4u}) {
      const Outcome o = races_of(more + "ld.global.u32 %r5,[%rd1];\nadd.u32 %r5,%r5,1;\nst.global.u32 [%rd1],%r5;", grid, 64,
                                 1, Schedule::interleaved, true);
      REQUIRE(!o.found.empty());
      bool known = false;
      for (const GlobalRace& r : o.found) {
        CAPTURE(text_of(r));
        known |= r.partner == GlobalRace::named;
        CHECK((r.partner != GlobalRace::named || r.first.cta != r.second.cta || r.first.warp != r.second.warp));
        const bool other_block = text_of(r).find(": another block has read it, then block ") != std::string::npos;
        CHECK(other_block == (r.partner == GlobalRace::another_block));
      }
      CHECK(known);
    }
}

TEST_CASE("a checked launch names kernel, both lines and the address") {
  const Outcome o =
      races_of("st.global.u32 [%rd4],%r2;\nld.global.u32 %r5,[%rd4+4];", 2, 32, 1, Schedule::interleaved, true);
  REQUIRE(!o.found.empty());
  const std::string said = text_of(o.found.front());
  CAPTURE(said);
  CHECK(said.find("kernel k: race at 0x") == 0);
  CHECK(said.find("(test.ptx:9)") != said.npos);
  CHECK(std::any_of(o.found.begin(), o.found.end(), [](const GlobalRace& r) { return r.second.line == 10; }));
}

TEST_CASE("a kernel that raced once is interleaved from then on") {
  Harness h(kHead + "st.global.u32 [%rd4],%r2; ret; }");
  U32 x(64), y(1);
  GlobalRaces races;
  LaunchSpec s = h.spec("k", 8, 64);
  s.races = &races, s.schedule = Schedule::interleaved;
  h.set(s, h.buffer(x), h.buffer(y));
  execute(s, h.device);
  CHECK(x[0] == 7);  // one after the other
  CHECK(races.raced("k"));
  std::set<std::uint32_t> last;
  for (std::uint64_t seed = 0; seed < 8; ++seed) s.schedule_seed = seed, execute(s, h.device), last.insert(x[0]);
  CHECK(last.size() > 1);
  CHECK(races.counts().launches == 9);
}

TEST_CASE("random accesses of blocks that nothing orders race exactly where a set model says, in any order") {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    struct Access {
      std::uint64_t address, value;
      GlobalTouch touch;
      bool writes;
    };
    std::vector<std::vector<Access>> by_cta(1 + random() % 4);
    for (std::size_t cta = 0; cta < by_cta.size(); ++cta) {
      std::uint32_t epoch = 0;
      for (unsigned n = random() % 6; n > 0; --n) {
        GlobalTouch t;
        t.cta = cta, t.warp = random() % 2, t.epoch = epoch += random() % 2;
        by_cta[cta].push_back({0x1000 + 4 * (random() % 4), random() % 2, t, random() % 2 == 0});
      }
    }
    // The model: two accesses of a location race if one writes, they are of two CTAs, or of two warps in one epoch, and not
    // both write the only value that is ever written there.
    std::set<std::uint64_t> expected;
    std::vector<Access> all;
    for (const auto& list : by_cta) all.insert(all.end(), list.begin(), list.end());
    for (const Access& a : all)
      for (const Access& b : all) {
        if (a.address != b.address || !(a.writes || b.writes)) continue;
        const bool apart = a.touch.cta != b.touch.cta || (a.touch.warp != b.touch.warp && a.touch.epoch == b.touch.epoch);
        const bool agree = a.writes && b.writes && a.value == b.value;
        if (apart && !agree) expected.insert(a.address);
      }
    std::set<std::uint64_t> seen;
    for (int order = 0; order < 4; ++order) {
      GlobalRaces races;
      races.begin_kernel("k", LineTable{}, {4, true, false, false});
      std::vector<RaceView> views(by_cta.size());
      std::vector<std::size_t> next(by_cta.size());
      for (std::size_t left = all.size(); left > 0;) {
        const std::size_t cta = random() % by_cta.size();
        if (next[cta] == by_cta[cta].size()) continue;
        const Access& a = by_cta[cta][next[cta]++];
        --left;
        if (a.writes)
          races.write(views[cta], {&a.address, 1, 4}, a.touch, &a.value);
        else
          races.read(views[cta], {&a.address, 1, 4}, a.touch);
      }
      races.end_kernel();
      CAPTURE(round);
      CHECK(races.counts().locations == expected.size());
    }
  }
}

TEST_CASE("a location remembers that others read it besides the last one, and weakly before it was read strongly") {
  struct Access {
    std::uint32_t warp;
    bool writes, strong;
  };
  const auto locations = [](std::initializer_list<Access> accesses) {
    std::vector<std::uint64_t> counts;
    for (const bool row : {true, false}) {
      GlobalRaces races;
      races.begin_kernel("k", LineTable{}, {4, true, false, false});
      RaceView view;
      std::uint64_t address[32], value[32] = {};
      for (unsigned l = 0; l < 32; ++l) address[l] = 4096 + 4 * l;
      for (const Access& a : accesses) {
        GlobalTouch touch;
        touch.warp = a.warp, touch.strong = a.strong;
        if (a.writes)
          races.write(view, {address, ~0u, 4, row}, touch, value);
        else
          races.read(view, {address, ~0u, 4, row}, touch);
      }
      races.end_kernel();
      counts.push_back(races.counts().locations);
    }
    CHECK(counts[0] == counts[1]);
    return counts[0];
  };
  CHECK(locations({{0, false, false}, {1, false, false}, {1, true, false}}) == 32);
  CHECK(locations({{1, false, false}, {1, false, false}, {1, true, false}}) == 0);
  CHECK(locations({{0, false, false}, {0, false, true}, {1, true, true}}) == 32);
  CHECK(locations({{0, false, true}, {0, false, true}, {1, true, true}}) == 0);
}

TEST_CASE("a whole warp's row of locations is watched as its lanes one by one are") {
  std::mt19937 random(12);
  std::uint64_t raced = 0;
  for (int round = 0; round < 4000; ++round) {
    const std::uint32_t bytes = 1u << random() % 4;
    GlobalRaces rows, lanes;
    const bool unordered = random() % 2 == 0;
    for (GlobalRaces* races : {&rows, &lanes}) races->begin_kernel("k", LineTable{}, {bytes, unordered, false, false});
    constexpr std::uint64_t kCtas = 3;
    std::vector<RaceView> row_views(kCtas), lane_views(kCtas);
    const unsigned touches = 2 + random() % 11;  // few, so that what one race misses no other one hides
    for (unsigned n = 0; n < touches; ++n) {
      GlobalTouch t;
      t.cta = random() % kCtas, t.warp = random() % 2, t.strong = random() % 8 == 0;
      RaceView &row_view = row_views[t.cta], &lane_view = lane_views[t.cta];
      if (random() % 6 == 0) {
        if (random() % 2 != 0 && !unordered)
          rows.fence(row_view, t.cta), lanes.fence(lane_view, t.cta);
        else
          ++row_view.epoch, ++lane_view.epoch;
      }
      t.epoch = row_view.epoch;
      // Mostly a row, sometimes shifted by half of one, across a page, or with gaps.
      std::uint64_t address[32], value[32];
      const std::uint64_t first = 4096 - 16 * bytes * (random() % 4), step = random() % 8 == 0 ? 2 * bytes : bytes;
      const bool varied = random() % 2 != 0;
      for (unsigned l = 0; l < 32; ++l) address[l] = first + l * step, value[l] = varied ? random() % 3 : 7;
      const bool writes = random() % 2 != 0;
      if (writes)
        rows.write(row_view, {address, ~0u, bytes, step == bytes}, t, value);
      else
        rows.read(row_view, {address, ~0u, bytes, step == bytes}, t);
      for (unsigned l = 0; l < 32; ++l)
        if (writes)
          lanes.write(lane_view, {address, 1u << l, bytes}, t, value);
        else
          lanes.read(lane_view, {address, 1u << l, bytes}, t);
    }
    rows.end_kernel(), lanes.end_kernel();
    CAPTURE(round);
    REQUIRE(rows.counts().locations == lanes.counts().locations);
    raced += rows.counts().locations;
  }
  CHECK(raced > 1000);
}
