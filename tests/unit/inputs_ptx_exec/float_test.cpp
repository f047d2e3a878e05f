#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "harness.hpp"
#include "inputs/ptx/exec_narrow.hpp"

using namespace atl::ptx;
using F32 = std::vector<float>;
using F64 = std::vector<double>;
using U32 = std::vector<std::uint32_t>;
using U16 = std::vector<std::uint16_t>;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();
constexpr float kTiny = 1e-40F;  // subnormal

static U32 bits(const F32& v) {
  U32 r;
  for (const float f : v) r.push_back(std::bit_cast<std::uint32_t>(f));
  return r;
}
static F32 f32(const std::string& body, const F32& a, const F32& b = {}, const F32& c = {}) {
  return evaluate<float>("f32", "f32", body, a, b, c);
}
static F64 f64(const std::string& body, const F64& a, const F64& b = {}, const F64& c = {}) {
  return evaluate<double>("f64", "f64", body, a, b, c);
}

TEST_CASE("every half in both places, with others of all kinds, gives what one rounding of the exact result gives" *
          doctest::test_suite("stress")) {
  using H = lane::F16;
  constexpr unsigned kAll = 1u << 16;
  const auto model = [](const std::string& op, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const double x = H::widen(a), y = H::widen(b), z = H::widen(c);
    const double exact = op == "add" ? x + y : op == "sub" ? x - y : op == "mul" ? x * y : lane::fma_odd(x, y, z);
    return H::round(exact, lane::Round::rn);
  };
  U32 others{0,      0x8000, 1,      0x83FF, 0x0400, 0x3C00, 0xBC01, 0x3555,
             0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0xFD55, 0x1400, 0x9401};
  std::uint32_t seed = 7;
  while (others.size() < 40) others.push_back((seed = seed * 1664525 + 1013904223) >> 16);
  for (const std::string op : {"add", "sub", "mul", "fma.rn"}) {
    Harness h(elementwise("b32", "b32", op + ".f16x2 %d,%a,%b" + (op == "fma.rn" ? ",%c;" : ";")));
    U32 a(kAll), b(kAll), c(kAll), d(kAll);
    const std::uint64_t at[] = {h.buffer(d), h.buffer(a), h.buffer(b), h.buffer(c)};
    std::size_t wrong = 0;
    for (std::size_t n = 0; n < others.size(); ++n) {
      const std::uint32_t other = others[n], third = others[(n * 7 + 3) % others.size()];
      for (std::uint32_t v = 0; v < kAll; ++v)
        a[v] = v | other << 16, b[v] = other | v << 16, c[v] = third | (v ^ 0x5A5A) << 16;
      h.run("k", kAll / 1024, 1024, at[0], at[1], at[2], at[3]);
      for (std::uint32_t v = 0; v < kAll; ++v) {
        const std::string name = op.substr(0, 3);
        const std::uint32_t low = model(name, v, other, third), high = model(name, other, v, v ^ 0x5A5A);
        wrong += d[v] != (low | high << 16);
      }
    }
    CAPTURE(op);
    CHECK(wrong == 0);
  }
}

TEST_CASE("additions round to nearest even, towards zero, down and up") {
  const F32 a{1, -1}, b{0x1p-25F, -0x1p-25F};
  const float above = std::nextafter(1.0F, 2.0F);
  CHECK(f32("add.rn.f32 %d,%a,%b;", a, b) == F32{1, -1});
  CHECK(f32("add.rz.f32 %d,%a,%b;", a, b) == F32{1, -1});
  CHECK(f32("add.rm.f32 %d,%a,%b;", a, b) == F32{1, -above});
  CHECK(f32("add.rp.f32 %d,%a,%b;", a, b) == F32{above, -1});
  CHECK(f64("add.rp.f64 %d,%a,%b;", {1}, {0x1p-60}) == F64{std::nextafter(1.0, 2.0)});
}

TEST_CASE("fma rounds once, in the direction it names") {
  const float x = 1 + 0x1p-12F;
  CHECK(f32("fma.rn.f32 %d,%a,%b,%c;", {x}, {x}, {-1}) == F32{std::fma(x, x, -1.0F)});
  for (const float y : {1.1F, 1.3F, 1.7F}) {
    const double exact = double{y} * y;
    const auto nearest = static_cast<float>(exact);
    CHECK(f32("fma.rz.f32 %d,%a,%b,%c;", {y}, {y}, {0}) == F32{nearest > exact ? std::nextafter(nearest, 0.0F) : nearest});
  }
  CHECK(f32("fma.rm.f32 %d,%a,%b,%c;", {1}, {1}, {-0x1p-30F})[0] < 1);
}

TEST_CASE(".sat clamps to [0, 1] and turns NaN into 0") {
  CHECK(f32("add.sat.f32 %d,%a,%b;", {2, -2, 0.25F, kNaN}, {0, 0, 0, 0}) == F32{1, 0, 0.25F, 0});
  CHECK(f32("cvt.sat.f32.f32 %d,%a;", {2, -2, 0.25F, kNaN}) == F32{1, 0, 0.25F, 0});
  CHECK(evaluate<float>("f32", "s32", "cvt.rn.sat.f32.s32 %d,%a;", std::vector<std::int32_t>{5, -3, 0, 1}) ==
        F32{1, 0, 0, 1});
  CHECK(evaluate<float>("f32", "u64", "cvt.rn.sat.f32.u64 %d,%a;", std::vector<std::uint64_t>{~std::uint64_t{0}, 0}) ==
        F32{1, 0});
}

TEST_CASE("comparisons of halves flush with .ftz, and of pairs take the boolean operand for either half") {
  const auto set = [](const std::string& form, std::uint32_t a, std::uint32_t b, const std::string& p = "") {
    return evaluate<std::uint32_t>("b32", "b32", "setp.ne.u32 %p1,%a,%a; set." + form + " %d,%a,%b" + p + ";", U32{a},
                                   U32{b})[0];
  };
  constexpr std::uint32_t kOnes = 0x3C003C00, kTiny = 0x00010001;
  CHECK(set("gt.f16x2.f16x2", kOnes, 0) == kOnes);
  CHECK(set("gt.and.f16x2.f16x2", kOnes, 0, ",%p1") == 0);
  CHECK(set("gt.or.f16x2.f16x2", 0, kOnes, ",!%p1") == kOnes);
  CHECK(set("gt.xor.u32.f16x2", kOnes, 0, ",!%p1") == 0);
  CHECK(set("gt.u32.f16x2", kTiny, 0) == ~0u);
  CHECK(set("gt.ftz.u32.f16x2", kTiny, 0) == 0);
  const auto setp = [](const char* form) {
    return evaluate<std::uint32_t>("u32", "b16", std::string("setp.") + form + " %p1,%a,%b; selp.u32 %d,1,0,%p1;", U16{1},
                                   U16{0});
  };
  CHECK(setp("gt.f16") == U32{1});
  CHECK(setp("gt.ftz.f16") == U32{0});
}

TEST_CASE("64-bit integers become halves with one rounding") {
  using I64 = std::vector<std::int64_t>;
  constexpr std::int64_t k62 = std::int64_t{1} << 62, k54 = std::int64_t{1} << 54;
  CHECK(evaluate<std::uint16_t>("b16", "s64", "cvt.rn.bf16.s64 %d,%a;", I64{k62 + k54, k62 + k54 + 1, -k62 - k54 - 1, 3}) ==
        U16{0x5E80, 0x5E81, 0xDE81, 0x4040});
  CHECK(evaluate<std::uint16_t>("b16", "u64", "cvt.rz.bf16.u64 %d,%a;", I64{k62 + 2 * k54 - 1, k62 + 2 * k54}) ==
        U16{0x5E80, 0x5E81});
}

TEST_CASE(".satfinite makes infinities the largest number of the format, and leaves what is within it") {
  const F32 v{5, 1e6F, -1e6F, std::numeric_limits<float>::infinity(), kNaN, 0.5F};
  CHECK(evaluate<std::uint16_t>("b16", "f32", "cvt.rn.satfinite.f16.f32 %d,%a;", v) ==
        U16{0x4500, 0x7BFF, 0xFBFF, 0x7BFF, 0x7FFF, 0x3800});
  CHECK(evaluate<std::uint16_t>("b16", "f32", "cvt.rn.f16.f32 %d,%a;", v) ==
        U16{0x4500, 0x7C00, 0xFC00, 0x7C00, 0x7FFF, 0x3800});
  CHECK(evaluate<std::uint16_t>("b16", "f32", "cvt.rn.relu.satfinite.bf16.f32 %d,%a;", F32{3.4e38F, -3.4e38F, 5}) ==
        U16{0x7F7F, 0, 0x40A0});
  CHECK(evaluate<std::uint16_t>("b16", "f32", "cvt.rn.relu.f16.f32 %d,%a;", F32{-0.0F, -1, kNaN, 5}) ==
        U16{0, 0, 0x7FFF, 0x4500});
  CHECK(evaluate<std::uint32_t>("b32", "f32", "cvt.rn.satfinite.f16x2.f32 %d,%a,%b;", F32{1e6F, 5}, F32{-1e6F, 0.5F}) ==
        U32{0x7BFFFBFF, 0x45003800});
}

TEST_CASE(".ftz flushes subnormal operands and results to zero of the same sign") {
  CHECK(f32("add.f32 %d,%a,%b;", {kTiny}, {0}) == F32{kTiny});
  CHECK(bits(f32("add.ftz.f32 %d,%a,%b;", {kTiny, -kTiny}, {0, -0.0F})) == bits({0, -0.0F}));
  CHECK(f32("mul.ftz.f32 %d,%a,%b;", {1e-30F}, {1e-10F}) == F32{0});
  CHECK(evaluate<std::uint32_t>("u32", "f32", "setp.eq.ftz.f32 %p1,%a,0f00000000; selp.u32 %d,1,0,%p1;", F32{kTiny}) ==
        U32{1});
}

TEST_CASE("slct.ftz flushes what it compares, so that a negative subnormal counts as zero") {
  const std::vector<std::uint32_t> c{0x807FFFFF, 0x80000001, 0x80000000, 0x80800000, 0x7FC00000, 1};
  const std::string body = ".f32.f32 %d,0f40000000,0f40400000,%a;";
  const auto of = [&](const std::string& ftz) { return evaluate<float>("f32", "f32", "slct" + ftz + body, c); };
  CHECK(of(".ftz") == std::vector<float>{2, 2, 2, 3, 3, 2});
  CHECK(of("") == std::vector<float>{3, 3, 2, 3, 3, 2});
}

TEST_CASE("arithmetic gives the canonical NaN, min and max prefer numbers") {
  CHECK(bits(f32("add.f32 %d,%a,%b;", {kInf, kNaN}, {-kInf, 1})) == U32{0x7FFFFFFF, 0x7FFFFFFF});
  CHECK(f32("min.f32 %d,%a,%b;", {kNaN, 1, 3}, {2, kNaN, 2}) == F32{2, 1, 2});
  CHECK(bits(f32("min.f32 %d,%a,%b;", {0.0F}, {-0.0F})) == bits({-0.0F}));
  CHECK(bits(f32("max.f32 %d,%a,%b;", {-0.0F}, {0.0F})) == bits({0.0F}));
  CHECK(bits(f32("max.NaN.f32 %d,%a,%b;", {kNaN}, {1})) == U32{0x7FFFFFFF});
}

TEST_CASE("division, reciprocal and square root are exact to the last bit") {
  CHECK(f32("div.rn.f32 %d,%a,%b;", {1, 1, 0}, {3, 0, 5}) == F32{1.0F / 3, kInf, 0});
  CHECK(f32("sqrt.rn.f32 %d,%a;", {2}) == F32{std::sqrt(2.0F)});
  CHECK(f64("div.rn.f64 %d,%a,%b;", {1}, {3}) == F64{1.0 / 3});
  CHECK(f64("rcp.rn.f64 %d,%a;", {7}) == F64{1.0 / 7});
  const auto word = std::bit_cast<std::uint64_t>(f64("rcp.approx.ftz.f64 %d,%a;", {3})[0]);
  CHECK((word & 0xFFFFFFFF) == 0);
  CHECK(std::bit_cast<double>(word) == doctest::Approx(1.0 / 3).epsilon(1e-6));
}

TEST_CASE("approximate functions are right to a few units in the last place, special cases exactly") {
  CHECK(f32("ex2.approx.f32 %d,%a;", {3, -1})[0] == 8);
  CHECK(f32("lg2.approx.f32 %d,%a;", {8})[0] == 3);
  CHECK(f32("sin.approx.f32 %d,%a;", {1})[0] == doctest::Approx(std::sin(1.0)));
  CHECK(f32("cos.approx.f32 %d,%a;", {1})[0] == doctest::Approx(std::cos(1.0)));
  CHECK(f32("rsqrt.approx.f32 %d,%a;", {4, 0}) == F32{0.5F, kInf});
  CHECK(f32("tanh.approx.f32 %d,%a;", {0.5F})[0] == doctest::Approx(std::tanh(0.5)));
  CHECK(f32("div.approx.f32 %d,%a,%b;", {4, 1}, {2, 0x1.8p127F}) == F32{2, 0});
  CHECK(f32("copysign.f32 %d,%a,%b;", {-1}, {3}) == F32{-3});
}

TEST_CASE("testp tells the kinds of numbers apart") {
  const F32 v{1, kInf, kNaN, kTiny};
  const auto test = [&](const std::string& kind) {
    return evaluate<std::uint32_t>("u32", "f32", "testp." + kind + ".f32 %p1,%a; selp.u32 %d,1,0,%p1;", v);
  };
  CHECK(test("finite") == U32{1, 0, 0, 1});
  CHECK(test("infinite") == U32{0, 1, 0, 0});
  CHECK(test("notanumber") == U32{0, 0, 1, 0});
  CHECK(test("subnormal") == U32{0, 0, 0, 1});
}

TEST_CASE("NaN converts to 0 between 32 bits, and to the highest bit where the source or the integer has 64") {
  const F32 f{kNaN};
  const F64 d{std::numeric_limits<double>::quiet_NaN()};
  constexpr std::uint64_t k64 = std::uint64_t{1} << 63;
  CHECK(evaluate<std::uint64_t>("s64", "f32", "cvt.rzi.s64.f32 %d,%a;", f) == std::vector<std::uint64_t>{k64});
  CHECK(evaluate<std::uint64_t>("u64", "f32", "cvt.rni.u64.f32 %d,%a;", f) == std::vector<std::uint64_t>{k64});
  CHECK(evaluate<std::uint64_t>("s64", "f64", "cvt.rzi.s64.f64 %d,%a;", d) == std::vector<std::uint64_t>{k64});
  CHECK(evaluate<std::uint32_t>("s32", "f64", "cvt.rzi.s32.f64 %d,%a;", d) == U32{0x80000000});
  CHECK(evaluate<std::uint32_t>("u32", "f64", "cvt.rmi.u32.f64 %d,%a;", d) == U32{0x80000000});
  CHECK(evaluate<std::uint32_t>("u32", "f32", "cvt.rzi.u32.f32 %d,%a;", f) == U32{0});
}

TEST_CASE("conversions to integers clamp, round as they say, and turn NaN into 0") {
  const F32 v{1.5F, -1.5F, 2.5F, 1e20F, -1e20F, kNaN};
  using I = std::vector<std::int32_t>;
  constexpr std::int32_t kMin = std::numeric_limits<std::int32_t>::min(), kMax = std::numeric_limits<std::int32_t>::max();
  CHECK(evaluate<std::int32_t>("s32", "f32", "cvt.rni.s32.f32 %d,%a;", v) == I{2, -2, 2, kMax, kMin, 0});
  CHECK(evaluate<std::int32_t>("s32", "f32", "cvt.rzi.s32.f32 %d,%a;", v) == I{1, -1, 2, kMax, kMin, 0});
  CHECK(evaluate<std::int32_t>("s32", "f32", "cvt.rmi.s32.f32 %d,%a;", v) == I{1, -2, 2, kMax, kMin, 0});
  CHECK(evaluate<std::int32_t>("s32", "f32", "cvt.rpi.s32.f32 %d,%a;", v) == I{2, -1, 3, kMax, kMin, 0});
  CHECK(evaluate<std::uint32_t>("u32", "f32", "cvt.rzi.u32.f32 %d,%a;", F32{-1, 5e9F, 3.9F}) == U32{0, ~0u, 3});
  CHECK(evaluate<std::int64_t>("s64", "f64", "cvt.rzi.s64.f64 %d,%a;", F64{1e30, -2.7}) ==
        std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max(), -2});
}

TEST_CASE("conversions between integers extend, cut or saturate") {
  CHECK(evaluate<std::int32_t>("s32", "s32", "cvt.s32.s8 %d,%a;", std::vector<std::int32_t>{0x1FF, 0x7F}) ==
        std::vector<std::int32_t>{-1, 127});
  CHECK(evaluate<std::int64_t>("s64", "s32", "cvt.s64.s32 %d,%a;", std::vector<std::int32_t>{-2}) ==
        std::vector<std::int64_t>{-2});
  CHECK(evaluate<std::uint64_t>("u64", "u32", "cvt.u64.u32 %d,%a;", U32{~0u}) == std::vector<std::uint64_t>{0xFFFFFFFF});
  CHECK(evaluate<std::uint32_t>("u32", "s32", "cvt.sat.u8.s32 %d,%a;", std::vector<std::int32_t>{300, -5, 7}) ==
        U32{255, 0, 7});
}

TEST_CASE("integers of one and two bytes lie in registers of two, four and eight") {
  using I64 = std::vector<std::int64_t>;
  const U16 half{0x80FE, 0x017F};
  CHECK(evaluate<std::uint16_t>("b16", "b16", "cvt.u16.u8 %d,%a;", half) == U16{0xFE, 0x7F});
  CHECK(evaluate<std::uint16_t>("b16", "b16", "cvt.s16.s8 %d,%a;", half) == U16{0xFFFE, 0x7F});
  CHECK(evaluate<std::uint32_t>("u32", "b16", "cvt.u32.u8 %d,%a;", half) == U32{0xFE, 0x7F});
  CHECK(evaluate<std::uint32_t>("u32", "b16", "cvt.s32.s8 %d,%a;", half) == U32{~1u, 0x7F});
  CHECK(evaluate<std::uint32_t>("u32", "b16", "cvt.s32.s16 %d,%a;", half) == U32{0xFFFF80FE, 0x017F});
  CHECK(evaluate<std::int64_t>("s64", "b16", "cvt.s64.s8 %d,%a;", half) == I64{-2, 0x7F});
  CHECK(evaluate<std::int64_t>("s64", "b16", "cvt.u64.u16 %d,%a;", half) == I64{0x80FE, 0x017F});
  // A signed byte in an unsigned half: the register above the half stays empty.
  CHECK(evaluate<std::uint32_t>("u32", "b16", "cvt.u16.s8 %d,%a;", half) == U32{0xFFFE, 0x7F});
  const U32 word{0x123480FE, 0x7F};
  CHECK(evaluate<std::uint16_t>("b16", "u32", "cvt.u16.u32 %d,%a;", word) == U16{0x80FE, 0x7F});
  CHECK(evaluate<std::uint32_t>("u32", "u32", "cvt.s8.s32 %d,%a;", word) == U32{~1u, 0x7F});
  CHECK(evaluate<std::uint32_t>("u32", "s64", "cvt.s16.s64 %d,%a;", I64{0x1280FE, 5}) == U32{0xFFFF80FE, 5});
}

TEST_CASE("conversions between float formats and from integers round in every direction") {
  CHECK(evaluate<float>("f32", "f64", "cvt.rn.f32.f64 %d,%a;", F64{0.1}) == F32{0.1F});
  CHECK(evaluate<float>("f32", "f64", "cvt.rz.f32.f64 %d,%a;", F64{0.1})[0] < 0.1F);
  CHECK(evaluate<float>("f32", "s32", "cvt.rn.f32.s32 %d,%a;", std::vector<std::int32_t>{16777217}) == F32{16777216});
  CHECK(evaluate<float>("f32", "s32", "cvt.rp.f32.s32 %d,%a;", std::vector<std::int32_t>{16777217}) == F32{16777218});
  CHECK(f32("cvt.rmi.f32.f32 %d,%a;", {-1.5F, 1.5F}) == F32{-2, 1});
  CHECK(f32("cvt.rni.f32.f32 %d,%a;", {2.5F, 3.5F}) == F32{2, 4});
}

TEST_CASE("half precision rounds to nearest even, overflows to infinity and keeps subnormals") {
  CHECK(
      evaluate<std::uint16_t>("b16", "f32", "cvt.rn.f16.f32 %d,%a;", F32{1, 65504, 65520, 0x1p-24F, 0x1p-25F, 2049, kNaN}) ==
      U16{0x3C00, 0x7BFF, 0x7C00, 1, 0, 0x6800, 0x7FFF});
  CHECK(evaluate<std::uint16_t>("b16", "f32", "cvt.rn.bf16.f32 %d,%a;", F32{1, 1.00390625F, 1.01171875F}) ==
        U16{0x3F80, 0x3F80, 0x3F82});
  CHECK(evaluate<float>("f32", "b16", "cvt.f32.f16 %d,%a;", U16{0x3C00, 1, 0xC000}) == F32{1, 0x1p-24F, -2});
  CHECK(evaluate<std::uint16_t>("b16", "b16", "fma.rn.f16 %d,%a,%b,%c;", U16{0x4000}, U16{0x4200}, U16{0x3C00}) ==
        U16{0x4700});
  CHECK(evaluate<std::uint32_t>("b32", "b32", "add.f16x2 %d,%a,%b;", U32{0x3C004000}, U32{0x3C003C00}) == U32{0x40004200});
  CHECK(evaluate<std::uint32_t>("b32", "f32", "cvt.rn.f16x2.f32 %d,%a,%b;", F32{1}, F32{2}) == U32{0x3C004000});
}

TEST_CASE("every half value survives widening and rounding") {
  for (std::uint32_t h = 0; h < 0x7C01; ++h) {
    CHECK(lane::F16::round(lane::F16::widen(h), lane::Round::rn) == h);
    CHECK(lane::F16::round(lane::F16::widen(h | 0x8000), lane::Round::rz) == (h | 0x8000));
  }
}

TEST_CASE("unordered comparisons are true for NaN") {
  const F32 a{1, kNaN}, b{2, 2};
  const auto compare = [&](const std::string& c) {
    return evaluate<std::uint32_t>("u32", "f32", "setp." + c + ".f32 %p1,%a,%b; selp.u32 %d,1,0,%p1;", a, b);
  };
  CHECK(compare("lt") == U32{1, 0});
  CHECK(compare("ltu") == U32{1, 1});
  CHECK(compare("ne") == U32{1, 0});
  CHECK(compare("neu") == U32{1, 1});
  CHECK(compare("num") == U32{1, 0});
  CHECK(compare("nan") == U32{0, 1});
}

TEST_CASE("what lies between two halves is rounded to one of them, in every direction") {
  using F16 = lane::F16;
  using enum lane::Round;
  unsigned wrong = 0;
  for (std::uint32_t low = 0; low + 1 < F16::kInf; ++low) {
    const std::uint32_t high = low + 1, even = low + (low & 1);
    const double a = F16::widen(low), b = F16::widen(high), middle = (a + b) / 2;
    const std::uint32_t mantissa = low & 0x3FF, exponent = low >> 10;
    wrong += a != std::ldexp(exponent != 0 ? mantissa + 1024 : mantissa, std::max(static_cast<int>(exponent), 1) - 25);
    const auto gives = [&](double v, lane::Round mode, std::uint32_t half) { wrong += F16::round(v, mode) != half; };
    gives(a, rn, low), gives(middle, rn, even), gives(middle, rna, high);
    gives(std::nextafter(middle, a), rn, low), gives(std::nextafter(middle, b), rn, high);
    gives(std::nextafter(a, b), rp, high), gives(std::nextafter(b, a), rm, low), gives(std::nextafter(b, a), rz, low);
    gives(-std::nextafter(a, b), rm, F16::kSign | high), gives(-std::nextafter(b, a), rp, F16::kSign | low);
  }
  CHECK(wrong == 0);
  CHECK(F16::round(1e300, rz) == F16::kInf - 1);
  CHECK(F16::round(-1e300, rn) == (F16::kSign | F16::kInf));
  CHECK(F16::round(5e-324, rn) == 0);
  CHECK(F16::round(5e-324, rp) == 1);
}
