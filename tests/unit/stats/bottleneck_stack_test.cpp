#include "core/stats/bottleneck_stack.hpp"

#include <doctest/doctest.h>

using namespace atl;
using enum StackPart;

namespace {

std::uint64_t& at(Waits& w, Wait wait) { return w[static_cast<std::size_t>(wait)]; }
std::uint64_t& at(WaitCensus& c, std::size_t of, PacketUse use, Wait wait) {
  return at(c.packets[of][static_cast<std::size_t>(use)], wait);
}

/// Two chips linked to each other, a kernel of 1,000 cycles after a launch of 100, of which both run 800 and issue for 300.
struct Example {
  StackMachine machine;
  std::vector<WaitCensus> chips{2, WaitCensus(2)};
  Example() {
    machine.issue_slots = 4;
    machine.memory_latency = 50;
    machine.local[slice] = 30, machine.local[response] = 10;
    machine.fetch[link_in] = 1;
    machine.neighbours = {{1}, {0}};
    for (WaitCensus& c : chips) {
      c.span[static_cast<std::size_t>(Span::running)] = 800;
      c.issued = 1200;
      at(c.slots, Wait::memory) = WaitCensus::kSlot;
    }
  }
  Stack first() const { return bottleneck_stack(machine, {0, 100, 1100}, chips)[0]; }
};

}  // namespace

TEST_CASE("launch, issue and what follows the last CTA are exact, and the rest is shared out") {
  Example e;
  e.chips[0].span[static_cast<std::size_t>(Span::flushing)] = 50;
  e.chips[0].span[static_cast<std::size_t>(Span::invalidating)] = 20;
  at(e.chips[0].slots, Wait::memory) = 0;
  at(e.chips[0].slots, Wait::no_warp) = 3 * WaitCensus::kSlot;
  at(e.chips[0].slots, Wait::compute) = WaitCensus::kSlot;
  const Stack s = e.first();
  CHECK(s[launch] == 100);
  CHECK(s[issue] == 300);
  CHECK(s[flush] == 50);
  CHECK(s[coherence] == 20);
  CHECK(s[balance] == 130);
  CHECK(s[no_warp] == doctest::Approx(375));
  CHECK(s[compute] == doctest::Approx(125));
  CHECK(s.total() == doctest::Approx(1100));
}

TEST_CASE("the chip that drains last waits for the controller, and the others for it") {
  Example e;
  e.chips[0].span[static_cast<std::size_t>(Span::waiting)] = 120;
  e.chips[1].span[static_cast<std::size_t>(Span::waiting)] = 40;
  for (WaitCensus& c : e.chips) c.span[static_cast<std::size_t>(Span::flushing)] = 50;
  const auto s = bottleneck_stack(e.machine, {0, 100, 1100}, e.chips);
  CHECK(s[0][flush] == 90);
  CHECK(s[0][balance] == 110);  // 80 for the other chip, and 30 in which it is done
  CHECK(s[1][flush] == 90);
}

TEST_CASE("a chip alone waits for nobody but the controller") {
  Example e;
  e.machine.neighbours = {{}};
  e.chips.assign(1, WaitCensus(1));
  e.chips[0].span[static_cast<std::size_t>(Span::running)] = 800;
  e.chips[0].span[static_cast<std::size_t>(Span::waiting)] = 120;
  CHECK(e.first()[flush] == 120);
  CHECK(e.first()[balance] == 80);
}

TEST_CASE("loads that are in no queue are on their way, in proportion to the unloaded latencies") {
  Example e;
  e.chips[0].outstanding[0] = 80;
  at(e.chips[0], 0, PacketUse::load, Wait::dram) = 20;
  at(e.chips[1], 0, PacketUse::load, Wait::link) = 20;  // its answer, on the way back
  at(e.chips[1], 1, PacketUse::load, Wait::slice) = 1000;
  const Stack s = e.first();
  CHECK(s[dram] == doctest::Approx(125));
  CHECK(s[link_in] == doctest::Approx(125));
  CHECK(s[link_out] == 0);
  CHECK(s[slice] == doctest::Approx(250 * 0.75));
  CHECK(s[response] == doctest::Approx(250 * 0.25));
}

TEST_CASE("full MSHRs are the limit where what is under way does not queue, and what it queues for where it does") {
  Example e;
  at(e.chips[0].slots, Wait::memory) = 0;
  at(e.chips[0].slots, Wait::l1_mshr) = WaitCensus::kSlot;
  e.chips[0].outstanding[0] = 100;
  CHECK(e.first()[mshr] == doctest::Approx(500));
  at(e.chips[0], 0, PacketUse::load, Wait::response) = 100;
  CHECK(e.first()[response] == doctest::Approx(500));
  CHECK(e.first()[mshr] == doctest::Approx(0));
  e.chips[0].outstanding[0] = 400;
  CHECK(e.first()[response] == doctest::Approx(125));
  CHECK(e.first()[mshr] == doctest::Approx(375));
}

TEST_CASE("a slice without MSHRs waits for memory as far as memory's reads take longer than its latency") {
  Example e;
  e.chips[0].outstanding[0] = 100;
  at(e.chips[0], 0, PacketUse::load, Wait::llc_mshr) = 100;
  e.chips[0].memory_reads = 10, e.chips[0].memory_owes = 500;
  CHECK(e.first()[mshr] == doctest::Approx(500));
  e.chips[0].memory_owes = 2000;
  CHECK(e.first()[dram] == doctest::Approx(375));
  CHECK(e.first()[mshr] == doctest::Approx(125));
}

TEST_CASE("a slice whose MSHRs are held by fetches waits for what these queue for") {
  Example e;
  e.chips[0].outstanding[0] = 200;
  at(e.chips[0], 0, PacketUse::load, Wait::llc_mshr) = 100;
  at(e.chips[0], 0, PacketUse::load, Wait::fetch) = 100;
  e.chips[0].outstanding[2] = 100;
  at(e.chips[0], 0, PacketUse::fetch, Wait::link) = 60;
  const Stack s = e.first();
  CHECK(s[link_out] == doctest::Approx(300));
  CHECK(s[link_in] == doctest::Approx(100));  // on their way
  CHECK(s[mshr] == doctest::Approx(100));
}

TEST_CASE("a link without credits waits for what the next chip's buffers wait for") {
  Example e;
  e.chips[0].outstanding[0] = 100;
  at(e.chips[0], 0, PacketUse::load, Wait::request_credit) = 100;
  CHECK(e.first()[link_out] == doctest::Approx(500));
  at(e.chips[1].arrived[0], Wait::slice) = 30;
  at(e.chips[1].arrived[0], Wait::link) = 10;
  at(e.chips[1].arrived[1], Wait::response) = 1000;  // the other class
  CHECK(e.first()[slice] == doctest::Approx(375));
  CHECK(e.first()[link_out] == doctest::Approx(125));
}

TEST_CASE("who waits for a slice's fetch waits for what fetches wait for") {
  Example e;
  e.chips[0].outstanding[0] = 100;
  at(e.chips[0], 0, PacketUse::load, Wait::fetch) = 100;
  e.chips[0].outstanding[2] = 10;
  at(e.chips[1], 0, PacketUse::fetch, Wait::dram) = 8;
  const Stack s = e.first();
  CHECK(s[dram] == doctest::Approx(400));
  CHECK(s[link_in] == doctest::Approx(100));
}

TEST_CASE("a run that is stopped early has what fits, and a kernel without looks is unseen") {
  Example e;
  e.chips[0].slots = {};
  CHECK(e.first()[unseen] == doctest::Approx(500));
  const Stack s = bottleneck_stack(e.machine, {0, 100, 500}, e.chips)[1];
  CHECK(s[balance] == 0);
  CHECK(s.total() == doctest::Approx(500));
  CHECK(bottleneck_stack(e.machine, {500, 500, 500}, e.chips)[0].total() == 0);
}

TEST_CASE("more MSHRs are said to save no more than the busiest resource leaves unused") {
  Stack s;
  s[mshr] = 600, s[link_out] = 100;
  bound_mshrs(s, 1000, link_out, 0.4);
  CHECK(s[mshr] == 600);
  bound_mshrs(s, 1000, link_out, 0.95);
  CHECK(s[mshr] == doctest::Approx(50));
  CHECK(s[link_out] == doctest::Approx(650));
}

TEST_CASE("unseen kernels are taken to be as the chip's others, and stay unseen where there are none") {
  StackResult stack(2, std::vector<Stack>(2));
  stack[0][0][dram] = 300, stack[0][0][slice] = 100, stack[0][0][launch] = 50, stack[0][0][issue] = 70;
  stack[1][0][unseen] = 40, stack[1][0][issue] = 7;
  stack[1][1][unseen] = 40, stack[1][1][launch] = 60;
  fill_unseen(stack);
  CHECK(stack[1][0][dram] == 30);
  CHECK(stack[1][0][slice] == 10);
  CHECK(stack[1][0][issue] == 7);
  CHECK(stack[1][0][unseen] == 0);
  CHECK(stack[1][1][unseen] == 40);
}

TEST_CASE("means are over the chips that have stacks") {
  Stack some;
  some[issue] = 3;
  CHECK(chips_with_stacks({}) == 1);
  CHECK(chips_with_stacks({{some, {}, {}}, {{}, some, {}}}) == 2);
}

TEST_CASE("censuses survive being flattened") {
  Example e;
  std::uint64_t next = 1;
  e.chips[1].each([&](std::uint64_t& x) { x = next++; });
  const auto back = unflatten(flatten(e.chips), 2);
  REQUIRE(back.size() == 2);
  CHECK(flatten(back) == flatten(e.chips));
  CHECK(back[1].packets[1][2].back() == next - 1);
}

TEST_CASE("a warp that is done waits where its chip's stores are, and not where loads are") {
  Example e;
  at(e.chips[0].slots, Wait::memory) = 0;
  at(e.chips[0].slots, Wait::stores) = WaitCensus::kSlot;
  e.chips[0].outstanding[0] = 100, e.chips[0].outstanding[1] = 100;
  at(e.chips[0], 0, PacketUse::load, Wait::dram) = 100;
  at(e.chips[0], 0, PacketUse::store, Wait::slice) = 100;
  const Stack s = e.first();
  CHECK(s[slice] == doctest::Approx(500));
  CHECK(s[dram] == 0);
}
