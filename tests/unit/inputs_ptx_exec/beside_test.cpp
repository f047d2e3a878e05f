#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "harness.hpp"

using namespace atl::ptx;
using U32 = std::vector<std::uint32_t>;
using State = Execution::State;

// Kernels that are executed side by side, a turn each.
namespace {

// Waits until the cell has the lowest bit `mine`, then counts it up: `rounds` times. `out`: the sum of what it saw.
const std::string kPlay = kHeader + R"(
.visible .entry play(.param .u64 pcell, .param .u64 pout, .param .u32 pmine, .param .u32 prounds)
{
  .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1,[pcell]; ld.param.u64 %rd2,[pout]; ld.param.u32 %r1,[pmine]; ld.param.u32 %r2,[prounds];
  mov.u32 %r3,0;
ROUND:
  ld.volatile.global.u32 %r4,[%rd1]; and.b32 %r5,%r4,1; setp.ne.u32 %p1,%r5,%r1; @%p1 bra ROUND;
  add.u32 %r3,%r3,%r4; add.u32 %r6,%r4,1; st.volatile.global.u32 [%rd1],%r6;
  sub.u32 %r2,%r2,1; setp.ne.u32 %p2,%r2,0; @%p2 bra ROUND;
  st.global.u32 [%rd2],%r3;
  ret;
}
.visible .entry work(.param .u64 pout, .param .u32 pn)
{
  .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1,[pout]; ld.param.u32 %r1,[pn]; ld.volatile.global.u32 %r2,[%rd1];
LOOP:
  add.u32 %r2,%r2,%r1; sub.u32 %r1,%r1,1; setp.ne.u32 %p1,%r1,0; @%p1 bra LOOP;
  st.global.u32 [%rd1],%r2;
  ret;
}
.visible .entry timed(.param .u64 pcell)
{
  .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1,[pcell]; mov.u64 %rd2,%clock64;
WAIT:
  mov.u64 %rd3,%clock64; sub.s64 %rd3,%rd3,%rd2; setp.gt.s64 %p1,%rd3,4000000; @%p1 bra END;
  ld.volatile.global.u32 %r1,[%rd1]; setp.eq.u32 %p2,%r1,0; @%p2 bra WAIT;
END:
  ret;
}
.visible .entry vote(.param .u64 pcell, .param .u64 pout)
{
  .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1,[pcell]; ld.param.u64 %rd2,[pout]; mov.u32 %r2,%tid.x;
WAIT:
  mov.u32 %r1,0; setp.ne.u32 %p1,%r2,0; @%p1 bra MEET; ld.volatile.global.u32 %r1,[%rd1];
MEET:
  setp.ne.u32 %p1,%r1,0; barrier.cta.red.or.pred.aligned %p2,0,%p1; @!%p2 bra WAIT;
  atom.global.add.u32 %r3,[%rd2],1;
  ret;
}
.visible .entry hand_on(.param .u64 pcell, .param .u64 pout)
{
  .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<6>; .shared .b32 v;
  ld.param.u64 %rd1,[pcell]; ld.param.u64 %rd2,[pout]; mov.u32 %r2,%tid.x; setp.ne.u32 %p1,%r2,0;
WAIT:
  @%p1 bra MEET; ld.volatile.global.u32 %r1,[%rd1]; st.shared.u32 [v],%r1;
MEET:
  bar.sync 0; ld.shared.u32 %r3,[v]; bar.sync 0; setp.eq.u32 %p2,%r3,0; @%p2 bra WAIT;
  atom.global.add.u32 %r4,[%rd2],%r3;
  ret;
})";

/// Two of the kernels on one cell, in either schedule.
struct Two {
  explicit Two(Schedule with) : schedule(with) { h.buffer(cell), h.buffer(out); }
  Execution play(std::uint32_t mine, std::uint32_t rounds) {
    LaunchSpec s = h.spec("play", 1, 1);
    h.set(s, cell.data(), out.data() + mine, mine, rounds);
    s.schedule = schedule;
    return {std::move(s), h.device, nullptr};
  }

  Schedule schedule;
  Harness h{kPlay};
  U32 cell = U32(1), out = U32(2);
};

State until_it_rests(Execution& e) {
  for (;;)
    if (const State state = e.turn(); state == State::done || state == State::polls) return state;
}

}  // namespace

TEST_CASE("two kernels that are executed turn by turn wait for each other") {
  for (const Schedule schedule : kSchedules) {
    Two two(schedule);
    Execution odd = two.play(1, 20), even = two.play(0, 20);
    bool odd_done = false, even_done = false;
    for (unsigned n = 0; n < 100'000 && !(odd_done && even_done); ++n) {
      if (!odd_done) odd_done = odd.turn() == State::done;
      if (!even_done) even_done = even.turn() == State::done;
    }
    CHECK(odd_done);
    CHECK(even_done);
    CHECK(two.cell[0] == 40);
    CHECK(two.out[0] == 380);  // 0 + 2 + ... + 38
    CHECK(two.out[1] == 400);
  }
}

TEST_CASE("a kernel that waits says so, goes on when something has changed, and can be ended with kernel and line") {
  for (const Schedule schedule : kSchedules) {
    Two two(schedule);
    Execution odd = two.play(1, 2);
    REQUIRE(until_it_rests(odd) == State::polls);
    for (unsigned n = 0; n < 100'000 && !odd.stuck(); ++n) CHECK(odd.turn() != State::moved);
    CHECK(odd.stuck());
    odd.look_again();
    CHECK_FALSE(odd.stuck());
    REQUIRE(until_it_rests(odd) == State::polls);
    CHECK_THROWS_WITH_AS(odd.raise_deadlock(), doctest::Contains("kernel play, block (0, 0, 0)"), ExecutionError);
    two.cell[0] = 1;  // by the program
    odd.look_again();
    REQUIRE(until_it_rests(odd) == State::polls);
    CHECK(two.cell[0] == 2);
    two.cell[0] = 3;
    odd.others_moved();
    CHECK(until_it_rests(odd) == State::done);
    CHECK(two.out[1] == 4);
  }
}

TEST_CASE("a second look at a kernel that waits takes a fraction of the turns of the first") {
  for (const Schedule schedule : kSchedules) {
    Two two(schedule);
    Execution odd = two.play(1, 1);
    const auto turns = [&] {
      for (unsigned n = 1;; ++n)
        if (odd.turn() == State::polls) return n;
    };
    const unsigned first = turns();
    odd.look_again();
    CHECK(turns() < first / 4);
    odd.others_moved();
    CHECK(turns() >= first - 1);
  }
}

TEST_CASE("a kernel that computes for long without storing does not seem to wait") {
  for (const Schedule schedule : kSchedules) {
    Two two(schedule);
    LaunchSpec s = two.h.spec("work", 1, 32);
    two.h.set(s, two.out.data(), 200'000u);
    s.schedule = schedule;
    Execution work(std::move(s), two.h.device, nullptr);
    // Its first access is one of those that loops poll with; what comes later decides.
    bool stuck = false;
    for (State state = State::runs; state != State::done; state = work.turn()) {
      if (state == State::polls && stuck) FAIL("it computes");
      stuck = state == State::polls;
      if (stuck) work.others_moved();
    }
    CHECK(two.out[0] == 20000100000u % (std::uint64_t{1} << 32));
  }
}

TEST_CASE("a kernel that polls until a time has come may be set aside, but is not stuck, and ends") {
  for (const Schedule schedule : kSchedules) {
    Two two(schedule);
    LaunchSpec s = two.h.spec("timed", 1, 1);
    two.h.set(s, two.cell.data());
    s.schedule = schedule;
    Execution timed(std::move(s), two.h.device, nullptr);
    REQUIRE(until_it_rests(timed) == State::polls);
    CHECK_FALSE(timed.stuck());
    for (State state = State::polls; state != State::done; state = timed.turn()) REQUIRE_FALSE(timed.stuck());
  }
}

TEST_CASE("a kernel whose warps meet after each poll waits like one that only polls, and one seed gives one course") {
  for (const Schedule schedule : kSchedules)
    for (const std::string kernel : {"vote", "hand_on"}) {
      CAPTURE(kernel);
      std::uint64_t executed[2] = {};
      for (std::uint64_t& instructions : executed) {
        Two two(schedule);
        LaunchSpec s = two.h.spec(kernel, 2, 128);
        two.h.set(s, two.cell.data(), two.out.data());
        s.schedule = schedule, s.schedule_seed = 3;
        Execution waits(std::move(s), two.h.device, nullptr);
        REQUIRE(until_it_rests(waits) == State::polls);
        CHECK(waits.stuck());
        CHECK_THROWS_WITH_AS(waits.raise_deadlock(), doctest::Contains(("kernel " + kernel + ", block (0, 0, 0)").c_str()),
                             ExecutionError);
        waits.look_again();
        CHECK_FALSE(waits.stuck());
        REQUIRE(until_it_rests(waits) == State::polls);
        two.cell[0] = 1;
        waits.look_again();
        CHECK(until_it_rests(waits) == State::done);
        CHECK(two.out[0] == 256);
        instructions = waits.stats().warp_instructions;
      }
      CHECK(executed[0] == executed[1]);
    }
}

TEST_CASE("two kernels whose warps meet after each poll are both seen to wait, side by side") {
  for (const Schedule schedule : kSchedules) {
    Two two(schedule);
    std::vector<std::unique_ptr<Execution>> both;
    for (const std::string kernel : {"vote", "hand_on"}) {
      LaunchSpec s = two.h.spec(kernel, 2, 128);
      two.h.set(s, two.cell.data(), two.out.data());
      s.schedule = schedule;
      both.push_back(std::make_unique<Execution>(std::move(s), two.h.device, nullptr));
    }
    bool wait = false;
    for (unsigned n = 0; n < 1'000'000 && !wait; ++n) {
      bool moved = false;
      wait = true;
      for (const auto& e : both) {
        const State state = e->turn();
        moved |= state == State::moved, wait &= state == State::polls;
      }
      if (moved)
        for (const auto& e : both) e->others_moved();
    }
    CHECK(wait);
  }
}
