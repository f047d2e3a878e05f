#include <doctest/doctest.h>

#include <limits>

#include "harness.hpp"

using namespace atl::ptx;
using U32 = std::vector<std::uint32_t>;
using I32 = std::vector<std::int32_t>;
using U64 = std::vector<std::uint64_t>;

constexpr std::int32_t kMin = std::numeric_limits<std::int32_t>::min(), kMax = std::numeric_limits<std::int32_t>::max();

TEST_CASE("integer addition wraps, and saturates with .sat") {
  const I32 a{kMax, kMin, 5}, b{1, -1, 6};
  CHECK(evaluate<std::int32_t>("s32", "s32", "add.s32 %d,%a,%b;", a, b) == I32{kMin, kMax, 11});
  CHECK(evaluate<std::int32_t>("s32", "s32", "add.sat.s32 %d,%a,%b;", a, b) == I32{kMax, kMin, 11});
  CHECK(evaluate<std::int32_t>("s32", "s32", "sub.sat.s32 %d,%a,%b;", I32{kMin, 3}, I32{1, 5}) == I32{kMin, -2});
}

TEST_CASE("mul takes the low, the high or the whole product") {
  const I32 a{-3, kMax, kMin}, b{7, kMax, 2};
  CHECK(evaluate<std::int32_t>("s32", "s32", "mul.lo.s32 %d,%a,%b;", a, b) == I32{-21, 1, 0});
  CHECK(evaluate<std::int32_t>("s32", "s32", "mul.hi.s32 %d,%a,%b;", a, b) == I32{-1, 0x3FFFFFFF, -1});
  CHECK(evaluate<std::int64_t>("s64", "s32", "mul.wide.s32 %d,%a,%b;", a, b) ==
        std::vector<std::int64_t>{-21, std::int64_t{kMax} * kMax, std::int64_t{kMin} * 2});
  CHECK(evaluate<std::uint32_t>("u32", "u32", "mul.hi.u32 %d,%a,%b;", U32{~0u}, U32{~0u}) == U32{0xFFFFFFFE});
  CHECK(evaluate<std::uint64_t>("u64", "u64", "mul.hi.u64 %d,%a,%b;", U64{~0ull}, U64{~0ull}) == U64{~0ull - 1});
  CHECK(evaluate<std::int32_t>("s32", "s32", "mul24.lo.s32 %d,%a,%b;", I32{0x00FFFFFF}, I32{2}) == I32{-2});
  CHECK(evaluate<std::uint32_t>("u32", "u32", "mad24.lo.u32 %d,%a,%b,%c;", U32{0x01FFFFFF}, U32{2}, U32{1}) ==
        U32{0x1FFFFFF});
}

TEST_CASE("division truncates towards zero, and division by zero does not stop the program") {
  const I32 a{-7, 7, kMin, 5}, b{2, -2, -1, 0};
  CHECK(evaluate<std::int32_t>("s32", "s32", "div.s32 %d,%a,%b;", a, b) == I32{-3, -3, kMin, -1});
  CHECK(evaluate<std::int32_t>("s32", "s32", "rem.s32 %d,%a,%b;", a, b) == I32{-1, 1, 0, 5});
  CHECK(evaluate<std::uint64_t>("u64", "u64", "div.u64 %d,%a,%b;", U64{~0ull}, U64{10}) == U64{1844674407370955161ull});
}

TEST_CASE("shift amounts clamp instead of wrapping") {
  CHECK(evaluate<std::uint32_t>("b32", "b32", "shl.b32 %d,%a,%b;", U32{1, 1, 1}, U32{31, 32, 33}) == U32{0x80000000u, 0, 0});
  CHECK(evaluate<std::int32_t>("s32", "s32", "shr.s32 %d,%a,%b;", I32{-8, -8, 8}, I32{1, 40, 40}) == I32{-4, -1, 0});
  CHECK(evaluate<std::uint32_t>("b32", "b32", "shf.l.wrap.b32 %d,%a,%b,%c;", U32{0x80000000u}, U32{1}, U32{33}) == U32{3});
  CHECK(evaluate<std::uint32_t>("b32", "b32", "shf.r.clamp.b32 %d,%a,%b,%c;", U32{7}, U32{9}, U32{64}) == U32{9});
}

TEST_CASE("bit fields are taken and put with clamped positions") {
  CHECK(evaluate<std::uint32_t>("u32", "u32", "bfe.u32 %d,%a,%b,%c;", U32{0xABCD1234, 0xABCD1234}, U32{8, 28}, U32{8, 8}) ==
        U32{0x12, 0xA});
  CHECK(evaluate<std::int32_t>("s32", "s32", "bfe.s32 %d,%a,%b,%c;", I32{0xF0, 0x70}, I32{4, 4}, I32{4, 4}) == I32{-1, 7});
  CHECK(evaluate<std::uint32_t>("b32", "b32", "bfi.b32 %d,%a,%b,4,8;", U32{0xFFF}, U32{0}) == U32{0xFF0});
  CHECK(evaluate<std::uint32_t>("b32", "b32", "bmsk.clamp.b32 %d,%a,%b;", U32{4, 30, 40}, U32{8, 8, 3}) ==
        U32{0xFF0, 0xC0000000u, 0});
}

TEST_CASE("bits are counted, found and reversed") {
  const U32 a{0, 1, 0x80000000u, 0x00F0};
  CHECK(evaluate<std::uint32_t>("u32", "b32", "popc.b32 %d,%a;", a) == U32{0, 1, 1, 4});
  CHECK(evaluate<std::uint32_t>("u32", "b32", "clz.b32 %d,%a;", a) == U32{32, 31, 0, 24});
  CHECK(evaluate<std::uint32_t>("u32", "b32", "brev.b32 %d,%a;", a) == U32{0, 0x80000000u, 1, 0x0F000000});
  CHECK(evaluate<std::uint32_t>("u32", "u32", "bfind.u32 %d,%a;", a) == U32{~0u, 0, 31, 7});
  CHECK(evaluate<std::uint32_t>("u32", "u32", "bfind.shiftamt.u32 %d,%a;", a) == U32{~0u, 31, 0, 24});
  CHECK(evaluate<std::uint32_t>("u32", "b64", "clz.b64 %d,%a;", U64{1, 0}) == U32{63, 64});
}

TEST_CASE("lop3 follows its table and prmt its selector") {
  const U32 a{0xF0F0F0F0u}, b{0xCCCCCCCCu}, c{0xAAAAAAAAu};
  CHECK(evaluate<std::uint32_t>("b32", "b32", "lop3.b32 %d,%a,%b,%c,0x80;", a, b, c) == U32{a[0] & b[0] & c[0]});
  CHECK(evaluate<std::uint32_t>("b32", "b32", "lop3.b32 %d,%a,%b,%c,0x96;", a, b, c) == U32{a[0] ^ b[0] ^ c[0]});
  CHECK(evaluate<std::uint32_t>("b32", "b32", "prmt.b32 %d,%a,%b,0x7650;", U32{0x33221100}, U32{0x77665544}) ==
        U32{0x77665500});
  CHECK(evaluate<std::uint32_t>("b32", "b32", "prmt.b32 %d,%a,%b,0x88C8;", U32{0x00000080}, U32{0x7F}) == U32{0xFFFF00FF});
}

namespace {

__extension__ using Wide = unsigned __int128;

/// One whole warp and a part of one; each limb is often one at which carries begin or go on.
U64 limbs(std::uint64_t seed) {
  U64 v(45);
  for (std::uint64_t& x : v) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    x = seed >> 62 == 0 ? 0 : seed >> 62 == 1 ? ~0ull : seed ^ seed >> 31;
  }
  return v;
}

}  // namespace

TEST_CASE("prmt takes a selector of the instruction as it takes that of a register") {
  U32 a, b;
  for (const std::uint64_t v : limbs(4))
    a.push_back(static_cast<std::uint32_t>(v)), b.push_back(static_cast<std::uint32_t>(v >> 32));
  for (const std::uint32_t selector : {0x3210u, 0x7654u, 0x30212u, 0x9180u, 0xFEDCu, 0x4444u, 0x0B7Fu}) {
    const std::string literal = "prmt.b32 %d,%a,%b," + std::to_string(selector) + ";";
    CHECK(evaluate<std::uint32_t>("b32", "b32", literal, a, b) ==
          evaluate<std::uint32_t>("b32", "b32", "prmt.b32 %d,%a,%b,%c;", a, b, U32(a.size(), selector)));
  }
}

TEST_CASE("carry chains of whole and partial warps agree with arithmetic in 128 bits") {
  const U64 a = limbs(1), b = limbs(2), c = limbs(3);
  const auto gives = [&](const std::string& body, std::uint64_t (*expected)(std::uint64_t, std::uint64_t, std::uint64_t)) {
    const U64 d = evaluate<std::uint64_t>("u64", "u64", body, a, b, c);
    for (std::size_t n = 0; n < a.size(); ++n) CHECK(d[n] == expected(a[n], b[n], c[n]));
  };
  using Limb = std::uint64_t;
  // The upper halves of (c, a) + (a, b) and (c, a) - (b, c), and what goes on to a third limb.
  gives("add.cc.u64 %rd11,%a,%b; addc.u64 %d,%c,%a;",
        [](Limb x, Limb y, Limb z) { return static_cast<Limb>(((Wide{z} << 64 | x) + (Wide{x} << 64 | y)) >> 64); });
  gives("sub.cc.u64 %rd11,%a,%c; subc.u64 %d,%c,%b;",
        [](Limb x, Limb y, Limb z) { return static_cast<Limb>(((Wide{z} << 64 | x) - (Wide{y} << 64 | z)) >> 64); });
  gives("add.cc.u64 %rd11,%a,%b; addc.cc.u64 %rd12,%c,%c; addc.u64 %d,%a,0;", [](Limb x, Limb y, Limb z) {
    const Wide middle = Wide{z} + z + static_cast<Limb>((Wide{x} + y) >> 64);
    return x + static_cast<Limb>(middle >> 64);
  });
  gives("mad.lo.cc.u64 %rd11,%a,%b,%c; madc.hi.u64 %d,%a,%b,%c;",
        [](Limb x, Limb y, Limb z) { return static_cast<Limb>((Wide{x} * y + z) >> 64) + z; });
  // Both limbs of a product of 64 bits from halves of 32.
  const std::string product =
      "mov.b64 {%r5,%r6},%a; mov.b64 {%r7,%r8},%b; mov.b64 {%r9,%r10},%c;"
      "mad.lo.cc.u32 %r9,%r5,%r7,%r9; madc.hi.cc.u32 %r10,%r5,%r7,%r10; addc.u32 %r11,0,0;"
      "mad.lo.cc.u32 %r10,%r6,%r7,%r10; madc.hi.u32 %r11,%r6,%r7,%r11; mov.b64 %d,{%r10,%r11};";
  gives(product,
        [](Limb x, Limb y, Limb z) { return static_cast<Limb>((Wide{x} * static_cast<std::uint32_t>(y) + z) >> 32); });
}

TEST_CASE("a carry stays with lanes that do not take part") {
  // Where c is 0 the flag is cleared again, which leaves the other lanes with theirs.
  const std::string body = "add.cc.u32 %r5,%a,%b; setp.eq.u32 %p1,%c,0; @%p1 add.cc.u32 %r6,0,0; addc.u32 %d,0,0;";
  CHECK(evaluate<std::uint32_t>("u32", "u32", body, U32{~0u, ~0u, 1, ~0u}, U32{1, 1, 1, 1}, U32{1, 0, 1, 5}) ==
        U32{1, 0, 0, 1});
}

TEST_CASE("carry chains add and subtract 128-bit numbers") {
  const std::string body = "add.cc.u64 %rd11,%a,%b; addc.u64 %d,%c,0;";
  CHECK(evaluate<std::uint64_t>("u64", "u64", body, U64{~0ull, 1}, U64{1, 1}, U64{7, 7}) == U64{8, 7});
  CHECK(evaluate<std::uint32_t>("u32", "u32", "sub.cc.u32 %r5,%a,%b; subc.u32 %d,%c,0;", U32{0, 5}, U32{1, 1}, U32{7, 7}) ==
        U32{6, 7});
  CHECK(evaluate<std::uint32_t>("u32", "u32", "mad.lo.cc.u32 %r5,%a,%b,%c; madc.hi.u32 %d,%a,%b,0;", U32{~0u}, U32{2},
                                U32{2}) == U32{2});
}

TEST_CASE("sums and differences share one flag, which is 1 where a difference did not borrow") {
  CHECK(evaluate<std::uint32_t>("u32", "u32", "sub.cc.u32 %r5,%a,%b; addc.u32 %d,0,0;", U32{5, 1, 3}, U32{1, 5, 3}) ==
        U32{1, 0, 1});
  CHECK(evaluate<std::uint32_t>("u32", "u32", "add.cc.u32 %r5,%a,%b; subc.u32 %d,%c,0;", U32{~0u, 1}, U32{1, 1},
                                U32{7, 7}) == U32{7, 6});
  // 5 - 5 borrows nothing, and then 0 - 0 with a borrow does; the other way round the second does not borrow.
  const std::string twice = "sub.cc.u32 %r5,%a,%b; subc.cc.u32 %r6,%c,0; addc.u32 %d,0,0;";
  CHECK(evaluate<std::uint32_t>("u32", "u32", twice, U32{5, 4, 4}, U32{5, 5, 5}, U32{0, 0, 1}) == U32{1, 0, 1});
  CHECK(evaluate<std::uint64_t>("u64", "u64", "sub.cc.u64 %rd11,%a,%b; addc.u64 %d,%c,0;", U64{0, 9}, U64{1, 1},
                                U64{7, 7}) == U64{7, 8});
}

TEST_CASE("sad, dp4a, min, max, abs and neg treat the sign as their type says") {
  CHECK(evaluate<std::int32_t>("s32", "s32", "sad.s32 %d,%a,%b,%c;", I32{-5, 9}, I32{5, 4}, I32{1, 1}) == I32{11, 6});
  CHECK(evaluate<std::int32_t>("s32", "s32", "dp4a.s32.s32 %d,%a,%b,%c;", I32{0x01FF0203}, I32{0x01010101}, I32{10}) ==
        I32{10 + 1 - 1 + 2 + 3});
  // Two halfwords with the lower, or the upper, two bytes.
  CHECK(evaluate<std::int32_t>("s32", "s32", "dp2a.lo.s32.s32 %d,%a,%b,%c;", I32{-100 << 16 | 1000}, I32{0x0403FE01},
                               I32{10}) == I32{10 + 1000 + 200});
  CHECK(evaluate<std::int32_t>("s32", "s32", "dp2a.hi.s32.u32 %d,%a,%b,%c;", I32{-100 << 16 | 1000}, I32{-0x00030000},
                               I32{10}) == I32{10 + 1000 * 0xFD - 100 * 0xFF});
  CHECK(evaluate<std::uint32_t>("u32", "u32", "max.u32 %d,%a,%b;", U32{~0u}, U32{1}) == U32{~0u});
  CHECK(evaluate<std::int32_t>("s32", "s32", "max.s32 %d,%a,%b;", I32{-1}, I32{1}) == I32{1});
  CHECK(evaluate<std::int32_t>("s32", "s32", "abs.s32 %d,%a;", I32{kMin, -4}) == I32{kMin, 4});
}

TEST_CASE("comparisons select, with slct by sign and set as a mask") {
  CHECK(evaluate<std::uint32_t>("u32", "u32", "setp.lt.u32 %p1,%a,%b; selp.u32 %d,1,0,%p1;", U32{1, ~0u}, U32{2, 0}) ==
        U32{1, 0});
  CHECK(evaluate<std::uint32_t>("u32", "s32", "setp.lt.s32 %p1,%a,%b; selp.u32 %d,1,0,%p1;", I32{1, -1}, I32{2, 0}) ==
        U32{1, 1});
  CHECK(evaluate<std::uint32_t>("u32", "s32",
                                "setp.gt.s32 %p2,%b,0; setp.eq.and.s32 %p1|%p3,%a,%b,%p2; selp.u32 %r5,1,0,%p1; selp.u32 "
                                "%r6,2,0,%p3; or.b32 %d,%r5,%r6;",
                                I32{1, 0, 3}, I32{1, 0, 4}) == U32{1, 0, 2});
  CHECK(evaluate<std::int32_t>("s32", "s32", "slct.s32.s32 %d,%a,%b,%c;", I32{1, 1}, I32{2, 2}, I32{0, -1}) == I32{1, 2});
  CHECK(evaluate<std::uint32_t>("u32", "s32", "set.ge.u32.s32 %d,%a,%b;", I32{1, -1}, I32{0, 0}) == U32{~0u, 0});
}

TEST_CASE("min and max with .relu are at least 0") {
  using I = std::vector<std::int32_t>;
  CHECK(evaluate<std::int32_t>("s32", "s32", "max.relu.s32 %d,%a,%b;", I{-5, 4}, I{-3, -9}) == I{0, 4});
  CHECK(evaluate<std::int32_t>("s32", "s32", "min.relu.s32 %d,%a,%b;", I{-5, 4, 7}, I{-3, -9, 9}) == I{0, 0, 7});
  const U32 a{0xFFFB0007, 0x80000001}, b{0xFFFD0009, 0x7FFF8000};  // (-5, 7) and (-3, 9); (-32768, 1) and (32767, -32768)
  CHECK(evaluate<std::uint32_t>("b32", "b32", "max.s16x2.relu %d,%a,%b;", a, b) == U32{0x00000009, 0x7FFF0001});
  CHECK(evaluate<std::uint32_t>("b32", "b32", "min.relu.s16x2 %d,%a,%b;", a, b) == U32{0x00000007, 0});
}
