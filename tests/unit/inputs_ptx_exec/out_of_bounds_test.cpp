#include "inputs/ptx/out_of_bounds.hpp"

#include <doctest/doctest.h>

#include "harness.hpp"

using namespace atl::ptx;

// Accesses beyond allocations, where they are to be borne with.
namespace {

const std::string kBeyond = kHeader + R"(
.visible .entry k(.param .u64 px, .param .u64 po, .param .u32 shift)
{
  .reg .b32 %r<8>; .reg .b64 %rd<8>; .shared .align 4 .b8 small[64];
  ld.param.u64 %rd1,[px]; ld.param.u64 %rd2,[po]; ld.param.u32 %r1,[shift]; mov.u32 %r2,%tid.x;
  add.s32 %r3,%r2,%r1; mul.wide.s32 %rd3,%r3,4; add.s64 %rd4,%rd1,%rd3; mul.wide.s32 %rd5,%r2,4; add.s64 %rd6,%rd2,%rd5;
  ld.global.u32 %r4,[%rd4];
  st.global.u32 [%rd6],%r4;
  mov.u32 %r5,99; st.global.u32 [%rd4],%r5;
  atom.global.add.u32 %r6,[%rd4],1;
  mov.u32 %r7,small; mad.lo.u32 %r7,%r3,4,%r7; st.shared.u32 [%r7],%r5; ret;
})";

struct Run {
  OutOfBounds outside;
  std::vector<std::uint32_t> x = std::vector<std::uint32_t>(32, 5), out = std::vector<std::uint32_t>(32, 1);
  void operator()(std::int32_t shift, bool tolerate) {
    // Allocations with a gap between them, as an arena leaves it.
    Harness h(kBeyond);
    LaunchSpec s = h.spec("k", 1, 32);
    if (tolerate) s.outside = &outside;
    h.set(s, h.buffer(x, "x"), h.buffer(out, "out"), shift);
    execute(s, h.device);
  }
};

}  // namespace

TEST_CASE("an access out of bounds ends the launch, unless it is to be borne with") {
  Run run;
  CHECK_THROWS_AS(run(-4, false), ExecutionError);
}

TEST_CASE("loads out of bounds give 0, stores and atomics do nothing, and each instruction is told once with its count") {
  Run run;
  std::vector<std::uint32_t> guarded(96, 5);  // an allocation in the middle of memory that must stay as it is
  Harness h(kBeyond);
  LaunchSpec s = h.spec("k", 1, 32);
  s.outside = &run.outside;
  const std::uint64_t x = reinterpret_cast<std::uint64_t>(guarded.data()) + 128;
  h.device.memory.add({x, 128, "x"});
  h.set(s, x, h.buffer(run.out, "out"), std::int32_t{-4});
  execute(s, h.device);
  for (unsigned n = 0; n < 32; ++n) CHECK(run.out[n] == (n < 4 ? 0 : 5));
  for (unsigned n = 0; n < 96; ++n) CHECK(guarded[n] == (n >= 32 && n < 60 ? 100 : 5));
  const auto sites = run.outside.sites();
  REQUIRE(sites.size() == 4);
  CHECK(sites[0].count == 4);
  CHECK(!sites[0].writes);
  const std::string said = text_of(sites[0]);
  CHECK(said.find("kernel k, test.ptx:10: 4 loads out of bounds gave 0; the first in block 0, thread 0: 4 bytes at 0x") ==
        0);
  CHECK(said.find("16 bytes before x") != said.npos);
  CHECK(text_of(sites[1]).find("4 stores out of bounds were dropped") != said.npos);
  CHECK(text_of(sites[3]).find("of shared memory, which has 64") != said.npos);
}

TEST_CASE("what lies beyond shared memory is borne with by generic addresses as well, beside lanes in global memory") {
  // Even lanes read shared memory from its last two words on, odd ones their word of x.
  Harness h(kHeader + R"(
.visible .entry k(.param .u64 px, .param .u64 po)
{
  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<8>; .shared .align 4 .b8 small[64];
  ld.param.u64 %rd1,[px]; ld.param.u64 %rd2,[po]; mov.u32 %r1,%tid.x; mul.wide.u32 %rd3,%r1,4;
  mov.u64 %rd4,small; cvta.shared.u64 %rd4,%rd4; mov.u32 %r2,7; st.u32 [%rd4+56],%r2; st.u32 [%rd4+60],%r2;
  add.s64 %rd5,%rd1,%rd3; add.s64 %rd6,%rd4,56; add.s64 %rd6,%rd6,%rd3;
  and.b32 %r3,%r1,1; setp.eq.u32 %p,%r3,0; selp.b64 %rd5,%rd6,%rd5,%p;
  ld.u32 %r4,[%rd5];
  st.u32 [%rd5],%r2;
  add.s64 %rd7,%rd2,%rd3; st.global.u32 [%rd7],%r4; ret;
})");
  OutOfBounds outside;
  std::vector<std::uint32_t> x(32, 5), out(32, 1);
  LaunchSpec s = h.spec("k", 1, 32);
  h.set(s, h.buffer(x, "x"), h.buffer(out, "out"));
  CHECK_THROWS_WITH_AS(execute(s, h.device), doctest::Contains("--tolerate-oob lets it pass"), ExecutionError);
  s.outside = &outside;
  execute(s, h.device);
  for (unsigned n = 0; n < 32; ++n) CHECK(out[n] == (n == 0 ? 7 : n % 2 == 0 ? 0 : 5));
  for (unsigned n = 0; n < 32; ++n) CHECK(x[n] == (n % 2 == 0 ? 5 : 7));
  const auto sites = outside.sites();
  REQUIRE(sites.size() == 2);
  const std::string said = text_of(sites[0]);
  CHECK(said.find("15 loads out of bounds gave 0; the first in block 0, thread 2: 4 bytes at 0x40, of shared memory") !=
        said.npos);
  CHECK(text_of(sites[1]).find("15 stores out of bounds were dropped") != said.npos);
}

TEST_CASE("an address far from every allocation ends the launch in any case") {
  Run run;
  CHECK_THROWS_AS(run(-400'000'000, true), ExecutionError);
}
