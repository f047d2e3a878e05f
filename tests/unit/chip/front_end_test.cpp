#include "latency_terms.hpp"

namespace atl {
namespace {

using namespace test;

/// Marks: stores whose address names who stored. Every warp marks its own lines.
std::uint64_t mark(std::uint32_t warp, std::uint32_t n = 0) { return (warp + 1) * 0x1000 + n * 128; }

SystemConfig one_sm() {
  SystemConfig c = tiny(1);
  c.sm.count = 1;
  c.noc.cluster_gbps = c.noc.slice_gbps = 1000;  // stores never wait
  c.llc.slice_gbps = 1000;
  return c;
}

std::vector<StoreLog::Store> stores_of(const SystemConfig& config, ScriptedWorkload& w) {
  StoreLog log;
  run(config, w, &log);
  return log.stores;
}

std::vector<std::uint64_t> order_of(WarpScheduler scheduler, const std::function<void(ScriptedWorkload&)>& write) {
  SystemConfig config = one_sm();
  config.sm.scheduler = scheduler;
  ScriptedWorkload w;
  w.kernel(1, 3);
  write(w);
  std::vector<std::uint64_t> order;
  for (const auto& s : stores_of(config, w)) order.push_back(s.address / 0x1000 - 1);
  return order;
}

void three_stores_each(ScriptedWorkload& w) {
  for (std::uint32_t i = 0; i < 3; ++i) w.warp(0, i).store(mark(i, 0)).store(mark(i, 1)).store(mark(i, 2));
}

TEST_CASE("warps of every scheduler start, whatever their first op is") {
  for (const WarpScheduler scheduler : {WarpScheduler::gto, WarpScheduler::lrr}) {
    SystemConfig config = one_sm();
    config.sm.schedulers = 4, config.sm.scheduler = scheduler;
    ScriptedWorkload barrier, lines;
    barrier.kernel(1, 4), lines.kernel(1, 4);
    for (std::uint32_t i = 0; i < 4; ++i) {
      barrier.warp(0, i).barrier().store(mark(i));
      lines.warp(0, i).store(mark(i, 0)).store(mark(i, 1));
    }
    CHECK(stores_of(config, barrier).size() == 4);
    CHECK(stores_of(config, lines).size() == 8);
  }
}

TEST_CASE("GTO stays with a warp while it is ready") {
  CHECK(order_of(WarpScheduler::gto, three_stores_each) == std::vector<std::uint64_t>{0, 0, 0, 1, 1, 1, 2, 2, 2});
}

TEST_CASE("LRR gives every ready warp its turn") {
  CHECK(order_of(WarpScheduler::lrr, three_stores_each) == std::vector<std::uint64_t>{0, 1, 2, 0, 1, 2, 0, 1, 2});
}

TEST_CASE("when its warp must wait, GTO takes the oldest that is ready, and does not come back before it has to") {
  const auto write = [](ScriptedWorkload& w) {
    w.warp(0, 0).store(mark(0)).pause(3).store(mark(0));  // ready again while warp 1 runs
    w.warp(0, 1).store(mark(1)).store(mark(1)).store(mark(1)).store(mark(1)).pause(20).store(mark(1));
    w.warp(0, 2).store(mark(2)).store(mark(2));
  };
  CHECK(order_of(WarpScheduler::gto, write) == std::vector<std::uint64_t>{0, 1, 1, 1, 1, 0, 2, 2, 1});
}

TEST_CASE("a compute op takes its issue slots from the scheduler, and holds its own warp for its latency") {
  ScriptedWorkload w;
  w.kernel(1, 2);
  w.warp(0, 0).store(mark(0)).compute(3, 8).store(mark(0));
  w.warp(0, 1).store(mark(1));
  const auto s = stores_of(one_sm(), w);
  REQUIRE(s.size() == 3);
  const Cycle start = s[0].cycle;
  CHECK(s[1].cycle == start + 1 + 3);
  CHECK(s[2].cycle == start + 1 + 8);
}

TEST_CASE("two schedulers issue in the same cycle, each for its own warps") {
  SystemConfig config = one_sm();
  config.sm.schedulers = 2;
  ScriptedWorkload w;
  w.kernel(1, 2);
  for (std::uint32_t i = 0; i < 2; ++i) w.warp(0, i).compute(10, 10).store(mark(i));
  const auto s = stores_of(config, w);
  REQUIRE(s.size() == 2);
  CHECK(s[1].cycle == s[0].cycle + 1);  // one load-store unit
}

TEST_CASE("a barrier lets all go on one cycle after the last live warp came") {
  ScriptedWorkload w;
  w.kernel(1, 3);
  w.warp(0, 0).store(mark(0)).pause(20).barrier().store(mark(0));
  w.warp(0, 1).barrier().store(mark(1));
  w.warp(0, 2).barrier().store(mark(2));
  const auto s = stores_of(one_sm(), w);
  REQUIRE(s.size() == 4);
  const Cycle last_comes = s[0].cycle + 1 + 20;
  for (std::uint32_t i = 0; i < 3; ++i) CHECK(s[i + 1].cycle == last_comes + 1 + 2 * i);
}

TEST_CASE("a warp that exits releases the barrier for those who wait there") {
  ScriptedWorkload w;
  w.kernel(1, 2);
  w.warp(0, 0).store(mark(0)).pause(20);
  w.warp(0, 1).barrier().store(mark(1));
  const auto s = stores_of(one_sm(), w);
  REQUIRE(s.size() == 2);
  CHECK(s[1].cycle == s[0].cycle + 1 + 20 + 1);
}

TEST_CASE("an op issues in the cycle in which the last result it waits for arrives, and others pass by") {
  const SystemConfig config = one_sm();
  ScriptedWorkload w;
  w.kernel(1);
  w.warp(0).load(0x40000, 0).load(0x80000, 5).store(mark(0)).after({0, 5}).store(mark(1));
  struct Log : StoreLog {
    Cycle last_fill = 0;
    void on_l1_fill(const Context& c, std::uint32_t, LineAddr, std::uint8_t) override { last_fill = c.now(); }
  } log;
  run(config, w, &log);
  REQUIRE(log.stores.size() == 2);
  CHECK(log.stores[0].cycle < log.last_fill);
  CHECK(log.stores[1].cycle == log.last_fill);
}

TEST_CASE("the exit of a warp waits for all its results, but not for its stores") {
  const SystemConfig config = tiny(1);
  ScriptedWorkload w;
  w.kernel(1);
  w.warp(0).load(0x40000, 3);
  ResponseLog log;
  const RunResult r = run(config, w, &log);
  REQUIRE(log.responses.size() == 1);
  CHECK(r.kernels[0].finished == log.responses[0].cycle);
}

}  // namespace
}  // namespace atl
