#include "ptx_text.hpp"

using namespace atl::ptx;
using namespace atl::ptx::test;

TEST_CASE("registers are numbered from 0 at their first use, and inner declarations hide outer ones") {
  const Function f = parse_body("mov.u32 %r7, 1;\n{ .reg .b64 %r7; mov.u64 %r7, 2; }\nmov.u32 %r7, 3;");
  CHECK(f.code[0].dst[0].index == 0);
  CHECK(f.code[1].dst[0].index == 1);
  CHECK(f.code[2].dst[0].index == 0);
  REQUIRE(f.registers.size() == 2);
  CHECK(f.registers[0].name == "%r7");
  CHECK(f.registers[0].type == Type::b32);
  CHECK(f.registers[1].type == Type::b64);
}

TEST_CASE("literals become the bits of the operand's type") {
  CHECK(parse_one("mov.f32 %f1, 0f3F800000;").src[0].value == 0x3F800000);
  CHECK(parse_one("mov.f64 %fd1, 0d3FF0000000000000;").src[0].value == 0x3FF0000000000000);
  CHECK(parse_one("add.f64 %fd1, %fd2, 0f3F800000;").src[1].value == 0x3FF0000000000000);
  CHECK(parse_one("cvt.rn.f64.f32 %fd1, 0f3F800000;").src[0].value == 0x3F800000);
  CHECK(parse_one("add.f32 %f1, %f2, 0.5;").src[1].value == 0x3F000000);
  CHECK(parse_one("add.f32 %f1, %f2, -0.5;").src[1].value == 0xBF000000);
  CHECK(parse_one("add.f32 %f1, %f2, 5.0e-1;").src[1].value == 0x3F000000);
  CHECK(parse_one("add.f32 %f1, %f2, 0.05E+1;").src[1].value == 0x3F000000);
  CHECK(static_cast<std::uint64_t>(parse_one("mov.f64 %fd1, -0d3FF0000000000000;").src[0].value) == 0xBFF0000000000000u);
  CHECK_THROWS_AS(parse_one("mov.u32 %r1, 1.5;"), atl::InputError);
  CHECK(parse_one("mov.f64 %fd1, 1.0;").src[0].value == 0x3FF0000000000000);
  CHECK(parse_one("createpolicy.fractional.L2::evict_first.b64 %rd1, 1.0;").src[0].value == 0x3FF0000000000000);
  for (const char* half : {".5", "5.e-1", "5e-1", "0.05E1"})
    CHECK(parse_one("mov.f64 %fd1, " + std::string(half) + ";").src[0].value == 0x3FE0000000000000);
  CHECK(parse_one("add.f32 %f1, %f2, 2.;").src[1].value == 0x40000000);
  CHECK(parse_one("mov.f32 %f1, 1e1;").src[0].value == 0x41200000);
  CHECK(parse_one("mov.u32 %r1, 0x1e1;").src[0].value == 0x1e1);
  CHECK_THROWS_WITH_AS(parse_one("mov.u32 %r1, 1e1;"), doctest::Contains("1e1"), atl::InputError);
  CHECK_THROWS_WITH_AS(parse_one("mov.f64 %fd1, 1.0x;"), doctest::Contains("found '1.0x'"), atl::InputError);
  CHECK(parse_one("add.s32 %r1, %r2, -5;").src[1].value == -5);
  CHECK(parse_one("mov.u64 %rd1, 0xFFFFFFFFFFFFFFFFU;").src[0].value == -1);
}

TEST_CASE("an address is a base with a byte offset") {
  const Instruction i = parse_one("ld.global.u32 %r1, [%rd1+-8];");
  CHECK(i.src[0].memory);
  CHECK(i.src[0].is(Operand::reg));
  CHECK(i.src[0].value == -8);
  const Instruction absolute = parse_one("st.shared.u32 [16], %r1;");
  CHECK(absolute.src[0].is(Operand::imm));
  CHECK(absolute.src[0].value == 16);
  CHECK(absolute.src[1].is(Operand::reg));
}

TEST_CASE("vector operands list their elements in order, with sinks and literals") {
  const Function f = parse_body("ld.global.v2.f32 {%f1, _}, [%rd1];\nst.global.v2.b32 [%rd1], {%r1, 7};");
  const Operand& loaded = f.code[0].dst[0];
  REQUIRE(loaded.is(Operand::vector));
  REQUIRE(loaded.count == 2);
  CHECK(f.elements[loaded.index].is(Operand::reg));
  CHECK(f.elements[loaded.index + 1].is(Operand::none));
  CHECK(f.elements[f.code[1].src[1].index + 1].value == 7);
}

TEST_CASE("guards, second predicates, negated predicates and special registers") {
  const Function f = parse_body(
      "@!%p1 setp.lt.and.s32 %p2|%p3, %r1, %r2, !%p4;\nmov.u32 %r1, %ctaid.y;\nmov.u32 %r1, %envreg2;\nmov.u32 %r1, "
      "WARP_SZ;");
  const Instruction& i = f.code[0];
  CHECK(f.registers[i.guard].name == "%p1");
  CHECK(i.guard_negated);
  CHECK(f.registers[i.dst[1].index].name == "%p3");
  CHECK(i.src[2].negated);
  CHECK(f.code[1].src[0].index == static_cast<unsigned>(Special::ctaid_y));
  CHECK(f.code[2].src[0].index == static_cast<unsigned>(Special::envreg));
  CHECK(f.code[2].src[0].value == 2);
  CHECK(f.code[3].src[0].index == static_cast<unsigned>(Special::warp_size));
}

TEST_CASE("a texture access has handle and coordinates as sources") {
  const Function f = parse_body("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];");
  CHECK(f.code[0].geometry == Geometry::d2);
  CHECK(f.code[0].dst[0].count == 4);
  CHECK(f.code[0].src[0].is(Operand::reg));
  CHECK(f.code[0].src[1].count == 2);
  CHECK(f.code[0].sources == 2);
}
