#include <doctest/doctest.h>

#include <numeric>

#include "harness.hpp"

namespace atl::ptx::warp_test {
using U32 = std::vector<std::uint32_t>;

static U32 run(const std::string& body) {
  U32 lanes(32);
  std::iota(lanes.begin(), lanes.end(), 0);
  return evaluate<std::uint32_t>("u32", "u32", body, lanes);
}
template <class F> static U32 expect(F f) {
  U32 v;
  for (unsigned x = 0; x < 32; ++x) v.push_back(static_cast<std::uint32_t>(f(x)));
  return v;
}

TEST_CASE("shfl moves values between lanes, and keeps its own where there is none") {
  CHECK(run("shfl.sync.down.b32 %d|%p1,%a,4,31,-1;") == expect([](unsigned x) { return x + 4 < 32 ? x + 4 : x; }));
  CHECK(run("shfl.sync.up.b32 %d,%a,3,0,-1;") == expect([](unsigned x) { return x >= 3 ? x - 3 : x; }));
  CHECK(run("shfl.sync.bfly.b32 %d,%a,5,31,-1;") == expect([](unsigned x) { return x ^ 5; }));
  CHECK(run("shfl.sync.idx.b32 %d,%a,7,31,-1;") == expect([](unsigned) { return 7; }));
  CHECK(run("shfl.sync.idx.b32 %d,%a,2,0x181F,-1;") == expect([](unsigned x) { return (x & ~7u) + 2; }));
  CHECK(run("shfl.sync.down.b32 %r5|%p1,%a,4,31,-1; selp.u32 %d,1,0,%p1;") == expect([](unsigned x) { return x + 4 < 32; }));
}

TEST_CASE("vote, match, activemask and redux see the lanes that execute them") {
  CHECK(run("setp.lt.u32 %p1,%a,5; vote.sync.ballot.b32 %d,%p1,-1;") == expect([](unsigned) { return 0x1F; }));
  CHECK(run("setp.lt.u32 %p1,%a,5; vote.sync.any.pred %p2,%p1,-1; vote.sync.all.pred %p3,%p1,-1; selp.u32 %r5,1,0,%p2; "
            "selp.u32 %r6,2,0,%p3; or.b32 %d,%r5,%r6;") == expect([](unsigned) { return 1; }));
  CHECK(run("and.b32 %r5,%a,1; match.any.sync.b32 %d,%r5,-1;") ==
        expect([](unsigned x) { return x % 2 == 0 ? 0x55555555u : 0xAAAAAAAAu; }));
  CHECK(run("match.all.sync.b32 %r5|%p1,%a,-1; selp.u32 %d,1,0,%p1;") == expect([](unsigned) { return 0; }));
  CHECK(run("mov.u32 %d,0; setp.lt.u32 %p1,%a,8; @%p1 activemask.b32 %d;") ==
        expect([](unsigned x) { return x < 8 ? 0xFFu : 0u; }));
  CHECK(run("redux.sync.add.s32 %d,%a,-1;") == expect([](unsigned) { return 496; }));
  CHECK(run("redux.sync.max.u32 %d,%a,-1;") == expect([](unsigned) { return 31; }));
}

static const std::string kReverse = kHeader + R"(
.visible .entry k(.param .u64 po)
{
  .shared .align 4 .b8 s[512]; .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1,[po]; mov.u32 %r1,%tid.x; mov.u32 %r2,%ntid.x; shl.b32 %r3,%r1,2;
  mov.u32 %r4,s; add.s32 %r5,%r4,%r3; st.shared.u32 [%r5],%r1;
  bar.sync 0;
  sub.s32 %r6,%r2,%r1; add.s32 %r6,%r6,-1; shl.b32 %r7,%r6,2; add.s32 %r8,%r4,%r7; ld.shared.u32 %r9,[%r8];
  setp.lt.u32 %p1,%r1,50; bar.red.popc.u32 %r10,0,%p1; mad.lo.s32 %r9,%r10,1000,%r9;
  mul.wide.u32 %rd2,%r1,4; add.s64 %rd3,%rd1,%rd2; st.global.u32 [%rd3],%r9; ret;
})";

TEST_CASE("warps of a block meet at barriers, which may count predicates") {
  Harness h(kReverse);
  U32 out(100);
  h.run("k", 1, 100, h.buffer(out));
  for (unsigned t = 0; t < 100; ++t) CHECK(out[t] == 50000 + 99 - t);
}

TEST_CASE("threads that reach the same barrier on different ways pass it together") {
  const std::string text = kHeader + R"(
.visible .entry k(.param .u64 po)
{
  .shared .align 4 .b8 s[256]; .reg .pred %p; .reg .b32 %r<12>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1,[po]; mov.u32 %r1,%tid.x; shl.b32 %r2,%r1,2; mov.u32 %r3,s; add.s32 %r4,%r3,%r2;
  setp.lt.u32 %p,%r1,16; @%p bra LOW;
  st.shared.u32 [%r4],1; bar.sync 0; bra END;
  LOW: st.shared.u32 [%r4],2; bar.sync 0;
  END: xor.b32 %r5,%r2,64; add.s32 %r6,%r3,%r5; ld.shared.u32 %r7,[%r6];
  mul.wide.u32 %rd2,%r1,4; add.s64 %rd3,%rd1,%rd2; st.global.u32 [%rd3],%r7; ret;
})";
  Harness h(text);
  U32 out(32);
  h.run("k", 1, 32, h.buffer(out));
  for (unsigned t = 0; t < 32; ++t) CHECK(out[t] == (t < 16 ? 1 : 2));
}

TEST_CASE("sums of f32 flush subnormals in global memory and keep them in shared memory, whatever the address") {
  Harness h(kHeader + R"(.visible .entry k(.param .u64 out, .param .u32 a, .param .u32 b) {
.shared .align 4 .b32 s[4]; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<8>; .reg .pred %p;
ld.param.u64 %rd1,[out]; ld.param.f32 %f1,[a]; ld.param.f32 %f2,[b]; mov.u32 %r1,%tid.x;
setp.ne.u32 %p,%r1,0;
mov.u64 %rd2,s; cvta.shared.u64 %rd3,%rd2; add.s64 %rd5,%rd1,16; selp.b64 %rd4,%rd3,%rd5,%p;  // lane 1: to s, lane 0: global
@!%p st.global.f32 [%rd1],%f1; @!%p st.global.f32 [%rd1+4],%f1;
st.f32 [%rd4],%f1; @%p st.shared.f32 [s+4],%f1;
@!%p atom.global.add.f32 %f3,[%rd1],%f2;
@!%p red.global.add.f32 [%rd1+4],%f2;
atom.add.f32 %f3,[%rd4],%f2;
@%p atom.shared.add.f32 %f3,[s+4],%f2;
bar.sync 0;
@%p ld.shared.f32 %f4,[s]; @%p st.global.f32 [%rd1+8],%f4;
@%p ld.shared.f32 %f5,[s+4]; @%p st.global.f32 [%rd1+12],%f5;
ret; })");
  const auto sums = [&](std::uint32_t a, std::uint32_t b) {
    std::vector<std::uint32_t> out(5);
    h.run("k", 1, 2, h.buffer(out), a, b);
    h.device.memory.remove(reinterpret_cast<std::uint64_t>(out.data()));
    return out;
  };
  using U = std::vector<std::uint32_t>;
  CHECK(sums(0, 0x00400000) == U{0, 0, 0x00400000, 0x00400000, 0});                                      // an operand
  CHECK(sums(0x00800000, 0x80C00000) == U{0x80000000, 0x80000000, 0x80400000, 0x80400000, 0x80000000});  // a sum
  CHECK(sums(0x80000001, 0x80000000) == U{0x80000000, 0x80000000, 0x80000001, 0x80000001, 0x80000000});  // what was there
  CHECK(sums(0x3F800000, 0x3F800000) == U(5, 0x40000000));
}

TEST_CASE("sums of f64 and of halves keep subnormals in global memory") {
  Harness h(kHeader + R"(.visible .entry k(.param .u64 out) {
.reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f64 %fd<3>; .reg .b16 %h<3>;
ld.param.u64 %rd1,[out]; mov.u64 %rd2,5; mov.b64 %fd1,%rd2; red.global.add.f64 [%rd1],%fd1;
mov.u32 %r1,0x00010003; red.global.add.noftz.f16x2 [%rd1+8],%r1; red.global.add.noftz.bf16x2 [%rd1+12],%r1;
ret; })");
  std::vector<std::uint64_t> out(2);
  h.run("k", 1, 1, h.buffer(out));
  CHECK(out == std::vector<std::uint64_t>{5, 0x0001000300010003});
}

TEST_CASE("atomics under contention lose no update and return each old value once") {
  const std::string text = kHeader + R"(
.visible .entry k(.param .u64 pc, .param .u64 po)
{
  .reg .b32 %r<12>; .reg .b64 %rd<8>; .reg .f32 %f<3>;
  ld.param.u64 %rd1,[pc]; ld.param.u64 %rd2,[po]; mov.u32 %r1,%tid.x; mov.u32 %r2,%ctaid.x; mov.u32 %r3,%ntid.x; mad.lo.s32 %r4,%r2,%r3,%r1;
  atom.global.add.u32 %r5,[%rd1],1;
  red.global.max.u32 [%rd1+4],%r4; red.global.add.f32 [%rd1+8],0f3F800000; atom.global.inc.u32 %r6,[%rd1+12],6;
  red.global.or.b32 [%rd1+16],%r4; atom.global.min.s32 %r7,[%rd1+20],-3; red.global.add.u64 [%rd1+24],2;
  mul.wide.u32 %rd3,%r5,4; add.s64 %rd4,%rd2,%rd3; st.global.u32 [%rd4],%r5; ret;
})";
  Harness h(text);
  U32 cell(8), out(256, 99999);
  h.run("k", 4, 64, h.buffer(cell), h.buffer(out));
  for (unsigned n = 0; n < 256; ++n) CHECK(out[n] == n);
  CHECK(cell == U32{256, 255, 0x43800000, 256 % 7, 255, static_cast<std::uint32_t>(-3), 512, 0});
}

TEST_CASE("blocks that wait for each other take turns, launched cooperatively or not, however they look at memory") {
  for (const std::string poll : {"ld.volatile.global.u32", "ld.global.cg.u32", "ld.acquire.gpu.global.u32",
                                 "ld.relaxed.gpu.global.u32", "ld.global.cv.u32"}) {
    CAPTURE(poll);
    const std::string text = kHeader + R"(
.visible .entry k(.param .u64 pc, .param .u32 pn)
{
  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1,[pc]; ld.param.u32 %r1,[pn]; atom.global.add.u32 %r2,[%rd1],1;
  WAIT: )" + poll + R"( %r3,[%rd1]; setp.lt.u32 %p,%r3,%r1; @%p bra WAIT;
  red.global.add.u32 [%rd1+4],1; ret;
})";
    for (const bool cooperative : {false, true})
      for (const Schedule schedule : {Schedule::long_turns, Schedule::interleaved}) {
        Harness h(text);
        U32 cell(2);
        LaunchSpec s = h.spec("k", 9, 1);
        s.cooperative = cooperative, s.schedule = schedule, s.threads = 2;
        h.set(s, h.buffer(cell), 9u);
        execute(s, h.device);
        CHECK(cell == U32{9, 9});
      }
  }
}

}  // namespace atl::ptx::warp_test
