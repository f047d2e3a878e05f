#include <doctest/doctest.h>

#include <numeric>

#include "harness.hpp"

using namespace atl::ptx;
using I32 = std::vector<std::int32_t>;

static I32 iota(std::size_t n) {
  I32 v(n);
  std::iota(v.begin(), v.end(), 0);
  return v;
}
static I32 run(const std::string& body) { return evaluate<std::int32_t>("s32", "s32", body, iota(40)); }
template <class F> static I32 expect(F f) {
  I32 v = iota(40);
  for (std::int32_t& x : v) x = f(x);
  return v;
}

TEST_CASE("nested branches give each lane its own way, and lanes meet again behind them") {
  const std::string body = R"(
    mov.s32 %d, 0; and.b32 %r5,%a,1; and.b32 %r6,%a,2; setp.ne.s32 %p1,%r5,0; setp.ne.s32 %p2,%r6,0;
    @%p1 bra ODD;
      @%p2 bra EVEN2; add.s32 %d,%d,1; bra MEET1;
      EVEN2: add.s32 %d,%d,2;
      MEET1: add.s32 %d,%d,10; bra MEET;
    ODD:
      @!%p2 bra ODD0; add.s32 %d,%d,3; bra MEET;
      ODD0: add.s32 %d,%d,4;
    MEET: activemask.b32 %r7; popc.b32 %r8,%r7; mad.lo.s32 %d,%r8,1000,%d;)";
  CHECK(run(body) == expect([](int x) {
          const int lanes = x < 32 ? 32 : 8, way = x % 2 == 0 ? (x & 2 ? 12 : 11) : (x & 2 ? 3 : 4);
          return lanes * 1000 + way;
        }));
}

TEST_CASE("a loop runs as often as each lane says, with breaks to another place") {
  const std::string body = R"(
    mov.s32 %d, 0; mov.s32 %r5, 0;
    LOOP: setp.ge.s32 %p1,%r5,%a; @%p1 bra OUT;
      add.s32 %r5,%r5,1; add.s32 %d,%d,%r5;
      setp.gt.s32 %p2,%d,100; @%p2 bra BIG;
      bra LOOP;
    BIG: add.s32 %d,%d,100000;
    OUT: activemask.b32 %r7; popc.b32 %r8,%r7; mad.lo.s32 %d,%r8,1000,%d;)";
  CHECK(run(body) == expect([](int x) {
          int sum = 0;
          for (int i = 1; i <= x; ++i)
            if ((sum += i) > 100) {
              sum += 100000;
              break;
            }
          return sum + (x < 32 ? 32 : 8) * 1000;
        }));
}

TEST_CASE("lanes that return early leave the others alone") {
  const std::string body = R"(
    mov.s32 %d, 7; st.global.s32 [%rd10],%d;
    setp.lt.s32 %p1,%a,10; @%p1 ret;
    mov.s32 %r5, 0;
    L: add.s32 %r5,%r5,1; setp.eq.s32 %p2,%r5,%a; @%p2 exit; setp.lt.s32 %p3,%r5,20; @%p3 bra L;
    mov.s32 %d, %r5;)";
  CHECK(run(body) == expect([](int x) { return x <= 20 ? 7 : 20; }));
}

TEST_CASE("an indexed branch takes each lane to its label") {
  const std::string body = R"(
    and.b32 %r5,%a,3; T: .branchtargets A0, A1, A2, A1;
    brx.idx %r5, T;
    A0: mov.s32 %d,10; bra E; A1: mov.s32 %d,11; bra E; A2: mov.s32 %d,12;
    E: activemask.b32 %r7; popc.b32 %r8,%r7; mad.lo.s32 %d,%r8,1000,%d;)";
  CHECK(run(body) == expect([](int x) { return (x < 32 ? 32000 : 8000) + (x % 4 == 0 ? 10 : x % 4 == 2 ? 12 : 11); }));
}

TEST_CASE("functions recurse, and pointers call what each lane chose") {
  const std::string text = kHeader + R"(
.func (.param .b32 r) twice(.param .b32 x) { .reg .b32 %r<4>; ld.param.u32 %r1,[x]; shl.b32 %r2,%r1,1; st.param.b32 [r],%r2; ret; }
.func (.param .b32 r) sum(.param .b32 x)
{
  .reg .pred %p; .reg .b32 %r<6>;
  ld.param.u32 %r1,[x]; mov.u32 %r4,0; setp.eq.s32 %p,%r1,0; @%p bra END;
  add.s32 %r2,%r1,-1;
  { .param .b32 a; st.param.b32 [a],%r2; .param .b32 b; call.uni (b), sum, (a); ld.param.b32 %r3,[b]; }
  add.s32 %r4,%r3,%r1;
  END: st.param.b32 [r],%r4; ret;
}
.global .align 8 .u64 table[2] = {twice, sum};
.visible .entry k(.param .u64 po)
{
  .reg .b32 %r<8>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1,[po]; mov.u32 %r1,%tid.x; and.b32 %r2,%r1,1;
  mov.u64 %rd2,table; mul.wide.u32 %rd3,%r2,8; add.s64 %rd4,%rd2,%rd3; ld.global.u64 %rd5,[%rd4];
  { .param .b32 a; st.param.b32 [a],%r1; .param .b32 b;
    proto : .callprototype (.param .b32 _) _ (.param .b32 _);
    call (b), %rd5, (a), proto; ld.param.b32 %r3,[b]; }
  mul.wide.u32 %rd6,%r1,4; add.s64 %rd7,%rd1,%rd6; st.global.u32 [%rd7],%r3; ret;
})";
  Harness h(text);
  I32 out(32);
  h.run("k", 1, 32, h.buffer(out));
  for (int t = 0; t < 32; ++t) CHECK(out[t] == (t % 2 == 0 ? 2 * t : t * (t + 1) / 2));
}

TEST_CASE("lanes of a warp may wait for a lock that another lane holds") {
  const std::string text = kHeader + R"(
.visible .entry k(.param .u64 pl, .param .u64 pc)
{
  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1,[pl]; ld.param.u64 %rd2,[pc];
  SPIN: atom.global.cas.b32 %r1,[%rd1],0,1; setp.ne.s32 %p,%r1,0; @%p bra SPIN;
  ld.volatile.global.u32 %r2,[%rd2]; add.s32 %r2,%r2,1; st.volatile.global.u32 [%rd2],%r2;
  membar.gl; atom.global.exch.b32 %r3,[%rd1],0; ret;
})";
  Harness h(text);
  I32 lock(1), count(1);
  h.run("k", 1, 4, h.buffer(lock), h.buffer(count));
  CHECK(count[0] == 4);
}
