#include "inputs/trace/warp_timeline.hpp"

#include <doctest/doctest.h>

namespace atl::test {
namespace {

constexpr std::uint32_t kNumbers[] = {0, 1, 2, 3};
WarpTimeline::Registers only(std::uint32_t r) { return {kNumbers + r, 1}; }

WarpTimeline::Need need(const WarpTimeline& warp, WarpTimeline::Registers registers) {
  WarpTimeline::Need need;
  warp.require(registers, need);
  return need;
}

}  // namespace

TEST_CASE("a wait for a load ends the fixed latencies begun before it, and none that begins after it") {
  WarpTimeline warp;
  warp.begin(4);
  warp.compute({}, 1, 64, only(0));  // at 0, due at 64
  warp.memory(OpKind::load, {}, true, only(1));
  warp.compute(need(warp, only(1)), 1, 4, only(2));  // waits; at 2, due at 6
  CHECK(need(warp, only(0)).ready == 0);
  CHECK(need(warp, only(2)).ready == 6);
  warp.compute(need(warp, only(2)), 1, 4, only(3));  // at 6
  warp.end();                                        // at 7
  REQUIRE(warp.ops.size() == 4);
  CHECK(warp.ops[0].latency == 1);
  CHECK(warp.ops[2].wait == 1);
  CHECK(warp.ops[2].issue == 2);
  CHECK(warp.ops[2].latency == 5);
}

TEST_CASE("a renamed register is there with its sources, unless these come from a load") {
  WarpTimeline warp;
  warp.begin(4);
  warp.compute({}, 1, 21, only(0));
  CHECK(warp.rename(need(warp, only(0)), only(1)));
  CHECK(need(warp, only(1)).ready == 21);
  warp.memory(OpKind::load, {}, true, only(2));
  CHECK_FALSE(warp.rename(need(warp, only(2)), only(3)));
}

TEST_CASE("the 33rd load waits for the slot of the first, and a barrier for copies of no group") {
  WarpTimeline warp;
  warp.begin(4);
  for (int n = 0; n < 33; ++n) warp.memory(OpKind::load, {}, true, {});
  CHECK(warp.ops[31].wait == 0);
  CHECK(warp.ops[32].wait == 1);
  CHECK(warp.ops[32].slot == 0);
  warp.begin(4);
  warp.copy({});
  warp.commit_copies();
  warp.copy({});
  CHECK(warp.memory(OpKind::barrier, {}, false).wait == 2);
  WarpTimeline::Need rest;
  warp.require_copies(0, true, rest);
  CHECK(rest.wait == 1);
}

TEST_CASE("of local memory, all ops of a load have its flags, and the last one its result") {
  WarpTimeline warp;
  warp.begin(4);
  const std::vector<Access> rows(96, Access::make(0, 0xF));
  warp.local(OpKind::load, kBypassL1, {}, rows, false, only(2));
  REQUIRE(warp.ops.size() == 2);
  for (const Op& op : warp.ops) CHECK(op.flags == (kLocal | kBypassL1));
  CHECK(warp.ops[0].accesses + warp.ops[1].accesses == 96);
  CHECK(need(warp, only(2)).wait == 1u << warp.ops[1].slot);
}

}  // namespace atl::test
