#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

#include "harness.hpp"
#include "inputs/ptx/access_check.hpp"

using namespace atl::ptx;

// Thread-block clusters: addresses in each other's shared memory, and barriers of all their threads.
namespace {

/// Each thread puts 1000 * CTA + thread into its shared memory and reads that of the CTA with the next rank.
const std::string kNeighbours = kHeader + R"(
.visible .entry k(.param .u64 pout, .param .u64 pplace)
{
  .reg .pred %p<4>; .reg .b32 %r<40>; .reg .b64 %rd<8>; .shared .align 4 .b32 mine[64];
  ld.param.u64 %rd1,[pout]; ld.param.u64 %rd2,[pplace];
  mov.u32 %r1,%tid.x; mov.u32 %r2,%ctaid.x; mov.u32 %r3,%ctaid.y; mov.u32 %r4,%nctaid.x; mad.lo.u32 %r5,%r3,%r4,%r2;
  mad.lo.u32 %r6,%r5,1000,%r1; mov.u32 %r7,mine; shl.b32 %r8,%r1,2; add.u32 %r9,%r7,%r8; st.shared.u32 [%r9],%r6;
  barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;
  mov.u32 %r10,%cluster_ctarank; mov.u32 %r11,%cluster_nctarank; add.u32 %r12,%r10,1; rem.u32 %r13,%r12,%r11;
  mapa.shared::cluster.u32 %r14,%r9,%r13; ld.shared::cluster.u32 %r15,[%r14];
  getctarank.shared::cluster.u32 %r16,%r14; setp.ne.u32 %p1,%r16,%r13; @%p1 trap;
  cvt.u64.u32 %rd3,%r14; cvta.shared.u64 %rd3,%rd3; isspacep.shared::cluster %p2,%rd3; isspacep.shared::cta %p3,%rd3;
  @!%p2 trap; @%p3 trap;
  mad.lo.u32 %r17,%r5,64,%r1; mul.wide.u32 %rd4,%r17,4; add.u64 %rd5,%rd1,%rd4; st.global.u32 [%rd5],%r15;
  barrier.cluster.arrive; barrier.cluster.wait;
  setp.ne.u32 %p1,%r1,0; @%p1 bra END;
  mov.u32 %r20,%clusterid.x; mov.u32 %r21,%clusterid.y; mov.u32 %r22,%nclusterid.x; mov.u32 %r23,%cluster_ctaid.x;
  mov.u32 %r24,%cluster_ctaid.y; mov.u32 %r25,%cluster_nctaid.y; mov.pred %p2,%is_explicit_cluster; selp.u32 %r26,1,0,%p2;
  mad.lo.u32 %r27,%r20,10,%r21; mad.lo.u32 %r27,%r27,10,%r22; mad.lo.u32 %r27,%r27,10,%r23; mad.lo.u32 %r27,%r27,10,%r24;
  mad.lo.u32 %r27,%r27,10,%r25; mad.lo.u32 %r27,%r27,10,%r26;
  mul.wide.u32 %rd6,%r5,4; add.u64 %rd7,%rd2,%rd6; st.global.u32 [%rd7],%r27;
  END: ret;
})";

/// One thread of each of two CTAs runs this; %rank is its CTA's, `word` a 64-bit word of shared memory.
void run_pair(const std::string& body, Schedule schedule = Schedule::long_turns, std::uint32_t grid = 2) {
  Harness h(kHeader + ".visible .entry k()\n{ .reg .pred %p; .reg .b32 %r<8>, %rank; .reg .b64 %rd<8>;" +
            " .shared .align 8 .b64 word; mov.u32 %rank,%cluster_ctarank; setp.eq.u32 %p,%rank,0;\n" + body + "\nret; }");
  LaunchSpec s = h.spec("k", grid, 1);
  s.cluster = {2, 1, 1}, s.schedule = schedule;
  execute(s, h.device);
}

}  // namespace

TEST_CASE("CTAs of a cluster read each other's shared memory, whatever the shape of cluster and grid") {
  for (const Schedule schedule : kSchedules) {
    Harness h(kNeighbours);
    std::vector<std::uint32_t> out(8 * 64), place(8);
    LaunchSpec s = h.spec("k", 4, 64);
    s.grid = {4, 2, 1}, s.cluster = {2, 2, 1}, s.schedule = schedule;
    h.set(s, h.buffer(out), h.buffer(place));
    execute(s, h.device);
    for (std::uint32_t cta = 0; cta < 8; ++cta) {
      const std::uint32_t x = cta % 4, y = cta / 4, rank = x % 2 + 2 * y, next = (rank + 1) % 4;
      const std::uint32_t neighbour = x / 2 * 2 + next % 2 + 4 * (next / 2);
      for (std::uint32_t t = 0; t < 64; ++t) CHECK(out[cta * 64 + t] == neighbour * 1000 + t);
      // clusterid x and y, nclusterid.x, cluster_ctaid x and y, cluster_nctaid.y, is_explicit_cluster
      CHECK(place[cta] == x / 2 * 1000000 + 2 * 10000 + x % 2 * 1000 + y * 100 + 2 * 10 + 1);
    }
  }
}

TEST_CASE("a launch without a cluster has clusters of one") {
  Harness h(kHeader + R"(
.visible .entry k(.param .u64 pout)
{ .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<4>; .shared .align 4 .b32 word;
  ld.param.u64 %rd1,[pout]; mov.u32 %r1,%ctaid.x; st.shared.u32 [word],%r1;
  barrier.cluster.arrive; barrier.cluster.wait;
  mov.u32 %r2,%cluster_nctarank; mov.u32 %r3,word; mapa.shared::cluster.u32 %r4,%r3,0; ld.shared::cluster.u32 %r5,[%r4];
  mad.lo.u32 %r6,%r2,100,%r5; mul.wide.u32 %rd2,%r1,4; add.u64 %rd3,%rd1,%rd2; st.global.u32 [%rd3],%r6; ret; })");
  std::vector<std::uint32_t> out(3);
  h.run("k", 3, 1, h.buffer(out));
  CHECK(out == std::vector<std::uint32_t>{100, 101, 102});
}

TEST_CASE("threads that have arrived and exited, or exit without, are not waited for") {
  for (const Schedule schedule : kSchedules) {
    CHECK_NOTHROW(run_pair("@%p barrier.cluster.arrive; @%p exit; barrier.cluster.arrive; barrier.cluster.wait;", schedule));
    CHECK_NOTHROW(run_pair("@%p exit; barrier.cluster.arrive; barrier.cluster.wait;", schedule));
  }
}

TEST_CASE("what a cluster cannot do is told") {
  const auto fails = [](const std::string& body, const char* why, std::uint32_t grid = 2) {
    CHECK_THROWS_WITH_AS(run_pair(body, Schedule::interleaved, grid), doctest::Contains(why), ExecutionError);
  };
  fails("mov.u32 %r1,0; mapa.shared::cluster.u32 %r2,%r1,2;", "mapa names block 2 of a cluster of 2");
  fails("", "a grid of 3 blocks cannot be divided into clusters of 2", 3);
  fails("barrier.cluster.wait;", "without having arrived");
  fails("barrier.cluster.arrive; barrier.cluster.arrive;", "a second time");
  fails("@%p barrier.cluster.arrive; @%p barrier.cluster.wait; L: @!%p ld.volatile.shared.u32 %r1,[word]; @!%p bra L;",
        "never arrive");
  // The one that is read has ended long before.
  fails(
      "@%p exit; mov.u32 %r1,100; L: sub.u32 %r1,%r1,1; setp.ne.u32 %p,%r1,0; @%p nanosleep.u32 1; @%p bra L;"
      "mov.u32 %r2,word; mapa.shared::cluster.u32 %r3,%r2,0; ld.shared::cluster.u32 %r4,[%r3];",
      "of block 0 of its cluster, which has ended");
}

TEST_CASE("elect.sync gives the lowest lane of the mask") {
  Harness h(kHeader + R"(
.visible .entry k(.param .u64 pout)
{ .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1,[pout]; mov.u32 %r1,%tid.x; setp.lt.u32 %p1,%r1,5; @%p1 exit;
  elect.sync %r2|%p2,0xffffffe0; selp.u32 %r3,100,0,%p2; add.u32 %r4,%r2,%r3;
  mul.wide.u32 %rd2,%r1,4; add.u64 %rd3,%rd1,%rd2; st.global.u32 [%rd3],%r4; ret; })");
  std::vector<std::uint32_t> out(32);
  h.run("k", 1, 32, h.buffer(out));
  for (unsigned l = 5; l < 32; ++l) CHECK(out[l] == (l == 5 ? 105 : 5));
}

TEST_CASE("cooperative_groups counts across a cluster, and no race is seen") {
  std::ifstream in(ATOLL_SOURCE_DIR "/tests/unit/inputs_ptx_exec/fixtures/cluster_90.ptx");
  REQUIRE(in.good());
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  for (const Schedule schedule : kSchedules) {
    Harness h(text);
    std::vector<std::int32_t> values(1000), counts(64), expected(64);
    for (unsigned n = 0; n < 1000; ++n) values[n] = static_cast<std::int32_t>(n * n % 64), ++expected[n * n % 64];
    AccessCheck check;
    LaunchSpec s = h.spec("count", 4, 96);  // the kernel itself says that its clusters have two
    s.schedule = schedule, s.check = &check;
    h.set(s, h.buffer(values), 1000, h.buffer(counts));
    execute(s, h.device);
    CHECK(counts == expected);
    CHECK(check.races().empty());
  }
}
