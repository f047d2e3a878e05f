#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "harness.hpp"

using namespace atl::ptx;
using U32 = std::vector<std::uint32_t>;

// Where blocks can see each other's stores: in what order, and what happens if all of them wait.
namespace {

const std::string kShift = kHeader + R"(
.visible .entry shift(.param .u64 px)
{
  .reg .b32 %r<4>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1,[px]; mov.u32 %r1,%ctaid.x; mul.wide.u32 %rd2,%r1,4; add.s64 %rd3,%rd1,%rd2;
  ld.volatile.global.u32 %r2,[%rd3]; st.volatile.global.u32 [%rd3+4],%r2; ret;
}
.visible .entry ticket(.param .u64 pc, .param .u64 po)
{
  .reg .b32 %r<4>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1,[pc]; ld.param.u64 %rd2,[po]; mov.u32 %r1,%ctaid.x;
  atom.global.add.u32 %r2,[%rd1],1; mul.wide.u32 %rd3,%r1,4; add.s64 %rd4,%rd2,%rd3; st.global.u32 [%rd4],%r2; ret;
})";

U32 run(const std::string& kernel, Schedule schedule, std::uint64_t seed, U32 x, std::uint32_t resident = 0) {
  Harness h(kShift);
  U32 counter(1);
  LaunchSpec s = h.spec(kernel, static_cast<std::uint32_t>(x.size() - 1), 1);
  s.schedule = schedule, s.schedule_seed = seed, s.resident_ctas = resident;
  if (kernel == "shift")
    h.set(s, h.buffer(x));
  else
    h.set(s, h.buffer(counter), h.buffer(x));
  execute(s, h.device);
  return x;
}

std::string error_of(const std::string& body, Schedule schedule, std::uint32_t grid) {
  Harness h(kHeader + ".visible .entry k(.param .u64 pc)\n{ .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;\n" +
            "ld.param.u64 %rd1,[pc];\n" + body + "\nret; }");
  U32 cell(4);
  LaunchSpec s = h.spec("k", grid, 64);
  s.schedule = schedule;
  h.set(s, h.buffer(cell));
  try {
    execute(s, h.device);
  } catch (const ExecutionError& e) {
    CHECK(e.kind() == ExecutionError::Kind::deadlock);
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("in long turns a value travels through all blocks; interleaved, each block sees what was there before") {
  U32 x(65), moved(65);
  std::iota(x.begin(), x.end(), 100);
  for (unsigned n = 0; n < 65; ++n) moved[n] = n == 0 ? 100 : 99 + n;
  CHECK(run("shift", Schedule::long_turns, 0, x) == U32(65, 100));
  for (const std::uint64_t seed : {0, 1, 2}) CHECK(run("shift", Schedule::interleaved, seed, x) == moved);
}

TEST_CASE("blocks that are not resident begin when others have ended") {
  U32 x(65);
  std::iota(x.begin(), x.end(), 100);
  // One at a time, each sees what the last one stored.
  CHECK(run("shift", Schedule::interleaved, 3, x, 1) == U32(65, 100));
}

TEST_CASE("blocks that the device holds and that all wait for each other all begin, whatever memory they take") {
  // A barrier of the grid. Local memory of 256 KiB a thread, 16 MiB a block: 16 of them are what memory is meant to hold.
  Harness h(kHeader + R"(
.visible .entry k(.param .u64 pc, .param .u32 pn)
{ .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>; .local .align 4 .b8 stack[262144];
  ld.param.u64 %rd1,[pc]; ld.param.u32 %r3,[pn]; mov.u32 %r1,%tid.x; st.local.u32 [stack],%r1;
  setp.ne.u32 %p1,%r1,0; @%p1 bra MEET;
  atom.global.add.u32 %r2,[%rd1],1;
WAIT: ld.volatile.global.u32 %r4,[%rd1]; setp.lt.u32 %p2,%r4,%r3; @%p2 bra WAIT;
MEET: bar.sync 0; ret;
})");
  for (const Schedule schedule : {Schedule::long_turns, Schedule::interleaved}) {
    U32 arrived(1);
    LaunchSpec s = h.spec("k", 24, 64);
    s.schedule = schedule, s.resident_ctas = 24;
    h.set(s, h.buffer(arrived), std::uint32_t{24});
    execute(s, h.device);
    CHECK(arrived[0] == 24);
    s.resident_ctas = 8;  // on a GPU they would wait for ever
    arrived[0] = 0;
    CHECK_THROWS_AS(execute(s, h.device), ExecutionError);
  }
}

TEST_CASE("the order of interleaved blocks repeats with its seed, and is another with another one") {
  const U32 order = run("ticket", Schedule::interleaved, 7, U32(65));
  CHECK(run("ticket", Schedule::interleaved, 7, U32(65)) == order);
  CHECK(run("ticket", Schedule::interleaved, 8, U32(65)) != order);
  U32 sorted(order.begin(), order.end() - 1), all(64);
  std::iota(all.begin(), all.end(), 0);
  CHECK(sorted != all);
  std::sort(sorted.begin(), sorted.end());
  CHECK(sorted == all);
}

TEST_CASE("a launch in which nothing but polling goes on ends with kernel, line and blocks, instead of running for ever") {
  for (const Schedule schedule : {Schedule::long_turns, Schedule::interleaved})
    for (const std::string poll : {"ld.volatile.global.u32", "ld.global.cg.u32", "ld.acquire.gpu.global.u32"}) {
      CAPTURE(poll);
      const std::string said = error_of("WAIT: " + poll + " %r1,[%rd1]; setp.eq.u32 %p1,%r1,0; @%p1 bra WAIT;", schedule, 3);
      CHECK(said.find("kernel k, block (0, 0, 0)") != said.npos);
      CHECK(said.find("test.ptx:7") != said.npos);
      CHECK(said.find("polls memory that nobody changes any more") != said.npos);
      CHECK(said.find("blocks 0, 1, 2 of 3 wait") != said.npos);
    }
}

TEST_CASE("a lock that is never given back is polling as well; a wait for the clock is none") {
  CHECK(error_of("WAIT: atom.global.cas.b32 %r1,[%rd1],0,1; setp.ne.u32 %p1,%r1,0; @%p1 bra WAIT;", Schedule::long_turns, 1)
            .find("block 0 of 1 waits") != std::string::npos);
  CHECK(error_of("mov.u64 %rd2,%clock64; WAIT: mov.u64 %rd3,%clock64; sub.s64 %rd3,%rd3,%rd2; setp.lt.s64 %p1,%rd3,3000000; "
                 "@%p1 bra WAIT;",
                 Schedule::long_turns, 1)
            .empty());
}

TEST_CASE("a wait for a clock ends whatever time it waits for, as time passes faster where nothing else goes on") {
  for (const Schedule schedule : {Schedule::long_turns, Schedule::interleaved})
    for (const char* clock : {"%clock64", "%globaltimer"}) {
      const std::string read = "mov.u64 %rd2," + std::string(clock) + "; WAIT: mov.u64 %rd3," + clock;
      CHECK(
          error_of(read + "; sub.s64 %rd3,%rd3,%rd2; setp.lt.s64 %p1,%rd3,2000000000; @%p1 bra WAIT;", schedule, 2).empty());
    }
}

TEST_CASE("what has been waited for has passed for the next launch, too") {
  Harness h(kHeader + R"(
.visible .entry k(.param .u64 px, .param .u64 cycles)
{
  .reg .pred %p<2>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1,[px]; ld.param.u64 %rd4,[cycles]; mov.u64 %rd2,%globaltimer;
  WAIT: mov.u64 %rd3,%globaltimer; sub.s64 %rd5,%rd3,%rd2; setp.lt.s64 %p1,%rd5,%rd4; @%p1 bra WAIT;
  st.global.u64 [%rd1],%rd3; ret;
})");
  std::vector<std::uint64_t> time(1);
  const auto run = [&](std::uint64_t cycles) {
    LaunchSpec s = h.spec("k", 1, 32);
    h.set(s, h.buffer(time), cycles);
    execute(s, h.device);
    return time[0];
  };
  const std::uint64_t first = run(1'000'000'000);
  CHECK(first >= 1'000'000'000);
  CHECK(run(1) > first);
}

TEST_CASE("warps that use volatile shared memory leave a barrier in step: one may count on the pace of another") {
  // A reduction whose last halving but one has no barrier behind it, as many of the time before __syncwarp have.
  Harness h(kHeader + R"(
.visible .entry k(.param .u64 px)
{
  .shared .align 4 .b32 s[128];
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1,[px]; mov.u32 %r1,%tid.x; shl.b32 %r2,%r1,2; mov.u32 %r3,s; add.u32 %r3,%r3,%r2;
  st.volatile.shared.u32 [%r3],%r1; bar.sync 0;
  setp.ge.u32 %p1,%r1,64; @%p1 ret;
  ld.volatile.shared.u32 %r4,[%r3]; ld.volatile.shared.u32 %r5,[%r3+256]; add.u32 %r4,%r4,%r5;
  st.volatile.shared.u32 [%r3],%r4;
  setp.ge.u32 %p2,%r1,32; @%p2 ret;
  ld.volatile.shared.u32 %r4,[%r3]; ld.volatile.shared.u32 %r5,[%r3+128]; add.u32 %r4,%r4,%r5;
  mul.wide.u32 %rd2,%r1,4; add.s64 %rd3,%rd1,%rd2; st.global.u32 [%rd3],%r4; ret;
})");
  for (const Schedule schedule : {Schedule::long_turns, Schedule::interleaved}) {
    U32 sums(32);
    LaunchSpec s = h.spec("k", 1, 128);
    s.schedule = schedule;
    h.set(s, h.buffer(sums));
    execute(s, h.device);
    for (std::uint32_t t = 0; t < 32; ++t) CHECK(sums[t] == 4 * t + 192);
  }
}

TEST_CASE("who reads volatile memory for long, and does something else with it each time, does not wait") {
  // A chain of pointers, a sum, and polls that give up after a while: each of more loads than those of a loop that waits.
  const std::string count = "add.u32 %r4,%r4,1; setp.lt.u32 %p1,%r4,40000; @%p1 bra NEXT; st.global.u32 [%rd1+4],%r5;";
  for (const Schedule schedule : {Schedule::long_turns, Schedule::interleaved})
    for (const std::string body :
         {"mov.u64 %rd2,%rd1; mul.wide.u32 %rd3,%r1,0; NEXT: ld.global.cg.u32 %r5,[%rd2]; and.b32 %r1,%r4,1; mad.wide.u32 "
          "%rd2,%r1,4,%rd1; ",
          "NEXT: ld.volatile.global.u32 %r1,[%rd1+12]; add.u32 %r5,%r5,%r1; ",
          "NEXT: ld.acquire.gpu.global.u32 %r5,[%rd1]; setp.ne.u32 %p1,%r5,0; @%p1 ret; "}) {
      CAPTURE(body);
      CHECK(error_of("mov.u32 %r1,0; mov.u32 %r4,0; mov.u32 %r5,0; " + body + count, schedule, 1).empty());
    }
}

TEST_CASE("a function that polls for its caller's loop is no wait, unless that loop is one") {
  Harness h(kHeader + R"(
.func (.param .b32 out) look(.param .b64 at)
{
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1,[at]; ld.volatile.global.u32 %r1,[%rd1]; st.param.b32 [out],%r1; ret;
}
.visible .entry k(.param .u64 px, .param .u32 rounds)
{
  .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1,[px]; ld.param.u32 %r4,[rounds]; mov.u32 %r2,0; mov.u32 %r3,0;
NEXT:
  { .param .b64 a; .param .b32 o; st.param.b64 [a],%rd1; call (o),look,(a); ld.param.b32 %r1,[o]; }
  add.u32 %r2,%r2,%r1; setp.ne.u32 %p1,%r4,0; selp.u32 %r5,1,0,%p1; add.u32 %r3,%r3,%r5;
  setp.lt.u32 %p1,%r3,%r4; @%p1 bra NEXT; setp.eq.u32 %p1,%r4,0; @%p1 bra NEXT;
  st.global.u32 [%rd1+4],%r3; ret;
})");
  for (const Schedule schedule : {Schedule::long_turns, Schedule::interleaved}) {
    U32 cell(4);
    LaunchSpec s = h.spec("k", 1, 32);
    s.schedule = schedule;
    h.set(s, h.buffer(cell), std::uint32_t{40'000});
    execute(s, h.device);
    CHECK(cell[1] == 40'000);
    LaunchSpec waits = h.spec("k", 1, 32);
    waits.schedule = schedule;
    h.set(waits, h.buffer(cell), std::uint32_t{0});
    CHECK_THROWS_WITH_AS(execute(waits, h.device), doctest::Contains("polls memory that nobody changes any more"),
                         ExecutionError);
  }
}

namespace {

// Thread 0 polls; the block meets and goes on as one, with what it has got.
const std::string kMeetByVote =
    "mov.u32 %r2,%tid.x; WAIT: mov.u32 %r1,0; setp.ne.u32 %p1,%r2,0; @%p1 bra MEET; ld.volatile.global.u32 %r1,[%rd1];\n"
    "MEET: setp.ne.u32 %p1,%r1,0; barrier.cta.red.or.pred.aligned %p2,0,%p1; @!%p2 bra WAIT;";
const std::string kMeetByStore =
    ".shared .b32 v; mov.u32 %r2,%tid.x; setp.ne.u32 %p1,%r2,0;\n"
    "WAIT: @%p1 bra MEET; ld.volatile.global.u32 %r1,[%rd1]; st.shared.u32 [v],%r1;\n"
    "MEET: bar.sync 0; ld.shared.u32 %r3,[v]; bar.sync 0; setp.eq.u32 %p2,%r3,0; @%p2 bra WAIT;";

}  // namespace

TEST_CASE("blocks that poll and meet at a barrier after each poll stand still like those that only poll") {
  for (const Schedule schedule : kSchedules)
    for (const std::string& body :
         std::vector<std::string>{kMeetByVote, kMeetByStore,
                                  "WAIT: ld.volatile.global.u32 %r1,[%rd1]; st.global.u32 [%rd1+4],%r1; setp.eq.u32 "
                                  "%p1,%r1,0; @%p1 bra WAIT;"}) {
      CAPTURE(body);
      const std::string said = error_of(body, schedule, 3);
      CHECK(said.find("kernel k, block (0, 0, 0)") != said.npos);
      CHECK(said.find("polls memory that nobody changes any more") != said.npos);
      CHECK(said.find("blocks 0, 1, 2 of 3 wait") != said.npos);
    }
}

TEST_CASE("a block that polls and meets goes on when one that had not begun stores what it waits for") {
  const std::string set =
      "mov.u32 %r5,%ctaid.x; setp.ne.u32 %p1,%r5,2; @%p1 bra OTHERS; mov.u32 %r6,1; st.volatile.global.u32 [%rd1],%r6; "
      "ret;\n"
      "OTHERS: ";
  for (const std::string& body : {kMeetByVote, kMeetByStore}) CHECK(error_of(set + body, Schedule::long_turns, 3).empty());
}

TEST_CASE("who polls, meets, and counts or computes in registers or shared memory gets on") {
  const std::string end = "bar.sync 0; add.u32 %r4,%r4,1; setp.lt.u32 %p1,%r4,70000; @%p1 bra NEXT; ret;";
  for (const Schedule schedule : kSchedules)
    for (const std::string look : {"ld.volatile.global.u32 %r1,[%rd1]; st.global.u32 [%rd1+4],%r1;",
                                   "mov.u32 %r5,%tid.x; setp.ge.u32 %p1,%r5,32; @%p1 bra MEET; ld.volatile.global.u32 "
                                   "%r1,[%rd1]; MEET: bar.sync 1;"})
      CHECK(error_of("mov.u32 %r4,0; NEXT: " + look + end, schedule, 2).empty());
  const std::string shared =
      ".shared .b32 v; mov.u32 %r2,%tid.x; setp.ne.u32 %p1,%r2,0; @%p1 bra NEXT; mov.u32 %r1,0; st.shared.u32 [v],%r1;\n"
      "NEXT: bar.sync 0; @%p1 bra MEET; ld.volatile.shared.u32 %r1,[v]; add.u32 %r1,%r1,1; st.volatile.shared.u32 [v],%r1;\n"
      "MEET: bar.sync 0; ld.shared.u32 %r3,[v]; setp.lt.u32 %p2,%r3,70000; @%p2 bra NEXT;";
  for (const Schedule schedule : kSchedules) CHECK(error_of(shared, schedule, 2).empty());
}
