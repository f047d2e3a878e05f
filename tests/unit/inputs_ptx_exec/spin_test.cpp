#include <doctest/doctest.h>

#include "harness.hpp"
#include "inputs/ptx/record_sink.hpp"

using namespace atl::ptx;

// What a recorder hears of warps that wait for others.
namespace {

/// Counts what is executed where.
class Listener final : public RecordSink {
 public:
  void begin_kernel(const LaunchSpec&, const exec::Image&, const Device&) override {}
  bool wants(std::uint64_t) override { return true; }
  void events(std::uint64_t, std::uint32_t, std::span<const WarpEvent> all, std::span<const std::uint64_t> a) override {
    for (const WarpEvent& e : all) ++times[e.id];
    addresses += a.size();
  }
  void end_cta(std::uint64_t) override {}
  void end_kernel() override {}
  std::map<std::uint32_t, std::uint64_t> times;  // by instruction
  std::uint64_t addresses = 0;
};

struct Waited {
  LaunchStats stats;
  Listener heard;
  std::vector<std::uint32_t> x;
};

Waited run(const std::string& body, std::uint32_t grid, Schedule schedule) {
  Harness h(kHeader + ".visible .entry k(.param .u64 px)\n{ .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<8>;\n" +
            "ld.param.u64 %rd1,[px]; mov.u32 %r1,%ctaid.x; mov.u32 %r2,0;\n" + body + "\nret; }");
  Waited o;
  o.x.resize(16);
  LaunchSpec s = h.spec("k", grid, 1);
  s.schedule = schedule;
  h.set(s, h.buffer(o.x));
  o.stats = execute(s, h.device, &o.heard);
  return o;
}

// Block 0 waits for block 1, which counts to 1000 first. Instruction 4 is the poll.
const std::string kHandOver =
    "setp.ne.u32 %p1,%r1,0; @%p1 bra WORK;\n"
    "WAIT: ld.acquire.gpu.global.u32 %r3,[%rd1]; setp.eq.u32 %p2,%r3,0; @%p2 bra WAIT; bra DONE;\n"
    "WORK: add.u32 %r2,%r2,1; setp.lt.u32 %p2,%r2,1000; @%p2 bra WORK; mov.u32 %r4,7; st.release.gpu.global.u32 "
    "[%rd1],%r4;\n"
    "DONE: st.global.u32 [%rd1+4],%r3;";

}  // namespace

TEST_CASE("of a wait, one poll that found nothing and the one that saw the change are recorded") {
  for (const Schedule schedule : {Schedule::long_turns, Schedule::interleaved}) {
    const Waited o = run(kHandOver, 2, schedule);
    CHECK(o.heard.times.at(5) == 2);
    CHECK(o.stats.repeated_polls > 10);
    CHECK(o.stats.warp_instructions > 3000 + 3 * o.stats.repeated_polls);  // it was executed all the same
    CHECK(o.heard.addresses == 2 + 1 + 2);
  }
}

TEST_CASE("a lock that is taken by a failing compare-and-swap is a wait as well") {
  const Waited o =
      run("TRY: atom.global.cas.b32 %r3,[%rd1],0,1; setp.ne.u32 %p1,%r3,0; @%p1 bra TRY;\n"
          "WORK: add.u32 %r2,%r2,1; setp.lt.u32 %p2,%r2,500; @%p2 bra WORK; ld.volatile.global.u32 %r5,[%rd1+4]; add.u32 "
          "%r5,%r5,1; st.volatile.global.u32 [%rd1+4],%r5; atom.global.exch.b32 %r6,[%rd1],0;",
          4, Schedule::interleaved);
  CHECK(o.x[1] == 4);
  CHECK(o.stats.repeated_polls > 100);
  CHECK(o.heard.times.at(3) <= 4 * 4 * 2);
}

TEST_CASE("a loop that polls and does something else each time is recorded whole") {
  // It counts: %r2 differs in each round.
  const Waited o = run("LOOP: ld.volatile.global.u32 %r3,[%rd1]; add.u32 %r2,%r2,1; setp.lt.u32 %p1,%r2,100; @%p1 bra LOOP;",
                       1, Schedule::interleaved);
  CHECK(o.heard.times.at(3) == 100);
  CHECK(o.stats.repeated_polls == 0);
  const Waited stores =
      run("LOOP: ld.volatile.global.u32 %r3,[%rd1]; st.global.u32 [%rd1+8],%r3; "
          "atom.global.add.u32 %r4,[%rd1+4],1; setp.lt.u32 %p1,%r4,99; mov.u32 %r4,0; @%p1 bra LOOP;",
          1, Schedule::interleaved);
  CHECK(stores.heard.times.at(3) == 100);
}

TEST_CASE("an atomic that changes nothing is a poll only if its result is read") {
  // Block 0 waits for block 1 by a plain load, which is none.
  const auto polls = [](const std::string& atomic) {
    const Waited o = run("setp.ne.u32 %p1,%r1,0; @%p1 bra WORK;\nWAIT: " + atomic +
                             " ld.global.u32 %r3,[%rd1]; setp.eq.u32 %p2,%r3,0; @%p2 bra WAIT; bra DONE;\n"
                             "WORK: add.u32 %r2,%r2,1; setp.lt.u32 %p2,%r2,1000; @%p2 bra WORK; st.global.u32 [%rd1],7;\n"
                             "DONE: st.global.u32 [%rd1+4],%r3;",
                         2, Schedule::interleaved);
    return o.stats.repeated_polls;
  };
  CHECK(polls("atom.global.add.u32 %r5,[%rd1+8],%r4; mov.u32 %r6,%r5;") > 10);
  CHECK(polls("atom.global.add.u32 %r5,[%rd1+8],%r4;") == 0);
  CHECK(polls("red.global.add.u32 [%rd1+8],%r4;") == 0);
}
