#include <algorithm>

#include "sm_alone.hpp"

// One SM alone, with its cluster's request port: the test is the slices, whose answers reach the SM after 100 cycles.
namespace atl::sm_alone_test {
namespace {

using namespace test;

constexpr std::uint64_t kA = 0x10000, kB = 0x20000, kC = 0x30000, kD = 0x40000;
using Bench = SmAlone;
using Addresses = std::vector<std::uint64_t>;

TEST_CASE("each scheduler issues one warp per cycle: 16 ops of four warps take 16 cycles with one, 8 with two") {
  for (const std::uint32_t schedulers : {1u, 2u}) {
    CAPTURE(schedulers);
    SystemConfig config = tiny(1);
    config.sm.schedulers = schedulers;
    Bench b(config, 4);
    for (std::uint32_t w = 0; w < 4; ++w) b.warp(w).compute(1, 1).compute(1, 1).compute(1, 1);  // and an exit
    b.run();
    CHECK(b.ends() == Cycles{16 / schedulers});
    CHECK(b.c.count[Counter::warp_instructions] == 16);
    CHECK(b.c.count[Counter::sm_issue_busy] == 16);
    CHECK(b.sm.take_finished() == 1);
    CHECK(b.sm.take_finished() == 0);
  }
}

TEST_CASE("an op of three issue slots keeps its scheduler for three cycles, its latency only its warp") {
  Bench b(tiny(1), 2);
  b.warp(0).compute(3, 10).store(kA);
  b.warp(1).store(kB);
  b.run();
  CHECK(b.stores.lines == Addresses{kB, kA});
  CHECK(b.stores.cycles == Cycles{1 + 3, 1 + 10});
}

TEST_CASE("gto goes on with the warp that it issued last, lrr with the next") {
  for (const bool lrr : {false, true}) {
    CAPTURE(lrr);
    SystemConfig config = tiny(1);
    config.sm.scheduler = lrr ? WarpScheduler::lrr : WarpScheduler::gto;
    Bench b(config, 2);
    b.warp(0).compute(1, 1).compute(1, 1).compute(1, 1).store(kA);
    b.warp(1).compute(1, 1).compute(1, 1).compute(1, 1).store(kB);
    b.run();
    CHECK(b.stores.lines == Addresses{kA, kB});
    CHECK(b.stores.cycles == (lrr ? Cycles{7, 8} : Cycles{4, 9}));  // gto: the first warp exits in cycle 5
  }
}

TEST_CASE(
    "a load's request is at its slice 88 cycles later; what waits for its slot issues when the answer comes, no more") {
  Bench b(tiny(1));
  b.warp().load(kA, 0).store(kB).after({0}).store(kC);
  b.run();
  CHECK(b.cycles(EventKind::slice_arrive).front() == 1 + 1 + kToLookUp);
  CHECK(b.stores.lines == Addresses{kB, kC});
  CHECK(b.stores.cycles == Cycles{2, 1 + kLoad});
  CHECK(b.c.count[Counter::load_latency_cycles] == kLoad);
  CHECK(b.sm.quiet());
}

TEST_CASE("a warp that waits for two slots goes on with the later answer; one that waits for none is not kept") {
  Bench b(tiny(1), 2);
  b.warp(0).load(kA, 0).pause(50).load(kC, 1).after({0, 1}).store(kB);
  b.warp(1).load(kA, 0).pause(50).load(kC, 1).store(kD);
  b.run();
  CHECK(b.c.count[Counter::l1_misses] == 2);
  CHECK(b.c.count[Counter::l1_merges] == 2);  // one request per line, though two warps wait for it
  REQUIRE(b.stores.lines == Addresses{kD, kB});
  CHECK(b.stores.cycles[0] < 70);
  CHECK(b.stores.cycles[1] == 52 + kLoad);  // load in cycle 1, pause in 2, load in 52
}

TEST_CASE("an L1 hit has its result after 29 cycles and sends nothing") {
  Bench b(tiny(1));
  b.warp().load(kA, 0).after({0}).load(kA, 1).after({1}).store(kB);
  b.run();
  CHECK(b.stores.cycles == Cycles{1 + kLoad + 29});
  CHECK(b.cycles(EventKind::slice_arrive).size() == 2);  // the miss and the store
  CHECK(b.c.count[Counter::l1_hits] == 1);
}

TEST_CASE("with two MSHRs the third line is asked for when the first comes, and those behind it wait as well") {
  SystemConfig config = tiny(1);
  config.l1.mshrs = 2;
  Bench b(config);
  b.warp().load(kA, 0).load(kB, 1).load(kC, 2).store(kD);
  b.run();
  const Cycle first = 1 + kLoad;
  CHECK(b.cycles(EventKind::slice_arrive) == Cycles{1 + 88, 2 + 88, first + 88, first + 1 + 5 + kToLookUp});
  CHECK(b.c.count[Counter::l1_stalls] == 1);
  CHECK(b.c.count[Counter::sm_reply_stall] == first - 3);
  CHECK(b.stores.cycles == Cycles{first + 1});
}

TEST_CASE("stores issue one per cycle and keep no warp waiting: the warp ends before the first is acknowledged") {
  Bench b(tiny(1));
  b.warp().store(kA, 1).store(kB, 1).store(kC, 1).store(kD, 1);
  b.run(100);
  CHECK(b.stores.cycles == Cycles{1, 2, 3, 4});
  CHECK(b.ends() == Cycles{5});
  CHECK_FALSE(b.sm.quiet());
  b.run();
  CHECK(b.sm.quiet());
}

TEST_CASE(
    "with two stores unacknowledged at most, the third goes with the first acknowledgement, the fourth with the second") {
  SystemConfig config = tiny(1);
  config.l1.pending_stores = 2;
  Bench b(config);
  b.warp().store(kA, 1).store(kB, 1).store(kC, 1).store(kD, 1);
  b.run();
  // 40 bytes pass the port in 1.25 cycles: the second store, presented in cycle 2, has passed at 3.5.
  const Cycle first = 3 + kToLookUp + 100, second = 4 + kToLookUp + 100;
  CHECK(b.stores.cycles == Cycles{1, 2, first, second});
  CHECK(b.c.count[Counter::l1_stalls] == 1);  // the fourth is presented when the second is acknowledged
  CHECK(b.c.count[Counter::sm_reply_stall] == first - 3);
}

TEST_CASE("a CTA ends at its exit, or with sm.exit_waits when its last store is acknowledged") {
  for (const bool waits : {false, true}) {
    SystemConfig config = tiny(1);
    config.sm.exit_waits = waits;
    Bench b(config);
    b.warp().store(kA, 1);
    b.run();
    // The store is presented in cycle 1; its 40 bytes pass the port in 1.25 cycles.
    CHECK(b.ends() == Cycles{waits ? Cycle{3} + kToLookUp + 100 : 2});
    CHECK(b.sm.empty());
  }
}

TEST_CASE("a warp whose stores are acknowledged while its exit waits for a load leaves when it has the data") {
  SystemConfig config = tiny(1);
  config.sm.exit_waits = true;
  Bench b(config, 2);
  b.warp(0).store(kA, 1).pause(50).load(kB, 0);
  b.warp(1).pause(1000).barrier();
  b.run();
  REQUIRE(b.ends().size() == 1);
  // One warp issues in a cycle, and the first goes on while it can: the other's pause begins in cycle 3.
  CHECK(b.ends()[0] == 3 + 1000 + 1);
  CHECK(b.sm.empty());
}

TEST_CASE("loads take what arrives all at once, or l1.reply_sectors of it per cycle in the order in which they missed") {
  for (const std::uint32_t width : {0u, 1u, 2u, 8u}) {
    SystemConfig config = tiny(1);
    config.l1.reply_sectors = width;
    config.sm.schedulers = 4;
    Bench b(config, 3);
    for (const std::uint32_t w : {0u, 1u, 2u}) b.warp(w).load(0, 0).after({0}).store(kB + w * 128, 1);
    b.run();
    const Cycle filled = 1 + kLoad;
    REQUIRE(b.stores.cycles.size() == 3);
    for (const std::uint32_t w : {0u, 1u, 2u}) {
      // 4 sectors each, behind those of the loads before; the load-store unit presents one of the stores in a cycle.
      const Cycle at = width == 0 ? filled : filled + (4 * (w + 1) - 1) / width;
      CHECK(b.stores.cycles[w] == std::max(at, w == 0 ? 0 : b.stores.cycles[w - 1] + 1));
    }
  }
}

TEST_CASE("warps at their exit that wait for stores keep no barrier closed") {
  SystemConfig config = tiny(1);
  config.sm.exit_waits = true;
  Bench b(config, 2);
  b.warp(0).store(kA, 1);
  b.warp(1).pause(10).barrier().store(kB, 1);
  b.run();
  REQUIRE(b.stores.cycles.size() == 2);
  CHECK(b.stores.cycles[1] < 20);
}

TEST_CASE("word w of all resident threads lies side by side: places by warp slot, rows an odd number of lines apart") {
  SystemConfig config = tiny(1);
  config.sm.warps = 8;
  Bench b(config, 2, 2);  // two CTAs of two warps: slots 0 to 3
  for (const std::uint64_t cta : {0, 1})
    for (const std::uint32_t warp : {0u, 1u}) b.warp(warp, cta).store(0 * 128).local().store(1 * 128).local();
  b.run();
  const std::uint64_t first = std::uint64_t{1} << 48, row = (config.chips * config.sm.count * 8 | 1) * 128;
  std::ranges::sort(b.stores.lines);
  Addresses expected;
  for (const std::uint64_t r : {0, 1})
    for (const std::uint64_t slot : {0, 1, 2, 3}) expected.push_back(first + r * row + slot * 128);
  CHECK(b.stores.lines == expected);
}

TEST_CASE("what a warp spills it finds again in the L1, but for sectors written in part, unless stores are to pass") {
  struct Row {
    LocalStores stores;
    bool partly;
    std::uint64_t hits, sectors_missed;
  };
  for (const Row& row : {Row{LocalStores::allocate, false, 1, 0}, Row{LocalStores::allocate, true, 0, 4},
                         Row{LocalStores::pass, false, 0, 4}}) {
    SystemConfig config = tiny(1);
    config.l1.local_stores = row.stores;
    config.l1.sectored = true;
    Bench b(config);
    b.warp().store(0).local();
    if (row.partly) b.warp().partly();
    b.warp().load(0, 0).local().after({0}).store(kA);
    b.run();
    CHECK(b.c.count[Counter::l1_hits] == row.hits);
    CHECK(b.c.count[Counter::l1_sector_misses] == row.sectors_missed);
    CHECK(b.c.count[Counter::l1_sector_accesses] == 4 + 4 + 4);
    CHECK(b.c.count[Counter::l1_store_sectors] == 4 + 4);
  }
}

TEST_CASE("a request port with one place takes lines of 136 bytes as fast as it passes them on, 32 bytes per cycle") {
  SystemConfig config = tiny(1);
  config.noc.queue_packets = 1;
  Bench b(config);
  b.warp().store(kA).store(kB).store(kC).store(kD);
  b.run();
  // The first passes from cycle 1 to 5.25, the second from then to 9.5: the third and the fourth get their places in 5
  // and 9.
  CHECK(b.stores.cycles == Cycles{1, 2, 5, 9});
  CHECK(b.c.count[Counter::sm_port_stall] == (5 - 3) + (9 - 6));
  CHECK(b.c.count[Counter::noc_request_bytes] == 4 * 136);
}

TEST_CASE("an atomic keeps only those waiting who want its result") {
  Bench b(tiny(1));
  b.warp().atomic(kA, 0).store(kB, 1).after({0}).store(kC, 1);
  b.run();
  CHECK(b.stores.cycles == Cycles{2, 3 + kToLookUp + 100});  // with its operands, of one sector, 40 bytes
}

TEST_CASE("a barrier lets its CTA go on one cycle after the last warp came, and keeps no other CTA") {
  Bench b(tiny(1), 2, 2);
  b.warp(0, 0).barrier().store(kA, 1);
  b.warp(1, 0).pause(50).barrier().store(kB, 1);
  b.warp(0, 1).barrier().store(kC, 1);
  b.warp(1, 1).barrier().store(kD, 1);
  b.run();
  // The four warps issue in cycles 1 to 4; the other CTA is complete in 4. The pause ends in 2 + 50.
  REQUIRE(b.stores.cycles.size() == 4);
  CHECK(b.stores.cycles == Cycles{5, 7, 53, 55});
  CHECK(b.stores.lines == Addresses{kD, kC, kB, kA});  // the warp that came last goes on first, to its exit
}

TEST_CASE("what a barrier's next op needs may come later than the last warp") {
  Bench b(tiny(1), 2);
  b.warp(0).barrier(64).store(kA, 1);
  b.warp(1).pause(20).barrier().store(kB, 1);
  b.run();
  CHECK(b.stores.cycles == Cycles{23, 65});  // the second comes in 2 + 20, the first one's latency runs from 1
  CHECK(b.stores.lines == Addresses{kB, kA});
}

TEST_CASE("a barrier's latency that ends before the last warp comes keeps no other warp, nor the barrier") {
  Bench b(tiny(1), 2);
  b.warp(0).pause(5).barrier(10).store(kA, 1);              // there in 6, the last that issued; its latency ends in 16
  b.warp(1).pause(14).store(kB, 1).barrier().store(kC, 1);  // ready in 16
  b.run();
  CHECK(b.stores.cycles == Cycles{16, 18, 20});  // the barrier issues in 17; the exit goes first
  CHECK(b.stores.lines == Addresses{kB, kC, kA});
}

TEST_CASE("a barrier does not wait for a warp that has ended, even if that was the last to come") {
  Bench b(tiny(1), 2);
  b.warp(0).barrier().store(kA, 1);
  b.warp(1).pause(50);
  b.run();
  CHECK(b.stores.cycles == Cycles{52 + 1});  // the exit issues in 2 + 50
  CHECK(b.ends() == Cycles{54});
}

TEST_CASE("a paused SM issues and computes, but presents nothing until it may try again") {
  Bench b(tiny(1), 2);
  b.warp(0).store(kA, 1);
  b.warp(1).compute(1, 1).compute(1, 1);
  b.c.paused = true;
  b.at(300, [&] { b.c.paused = false, b.sm.retry(); });
  b.run(300);
  CHECK(b.stores.cycles.empty());
  CHECK(b.c.count[Counter::warp_instructions] == 4);  // the second warp has ended
  b.run();
  CHECK(b.stores.cycles == Cycles{300});
  CHECK(b.ends() == Cycles{301});
}

}  // namespace
}  // namespace atl::sm_alone_test
