#include "ptx_text.hpp"

using namespace atl::ptx;
using namespace atl::ptx::test;

TEST_CASE("kernel parameters stand at offsets 0 4 8 16 32 44 48 in a block of 56 bytes") {
  const Module m = parse_text(kernel_text(
      ".param .u32 a, .param .u32 b, .param .align 1 .b8 c[1], .param .align 16 .b8 d[16], .param .align 4 .b8 e[12],"
      ".param .align 1 .b8 f[3], .param .u64 .ptr .global .align 1 g",
      "ld.param.u64 %rd1, [g];\nret;"));
  const Function& k = m.functions.at(0);
  std::vector<std::uint32_t> offsets;
  for (const Param& p : k.params) offsets.push_back(p.offset);
  CHECK(offsets == std::vector<std::uint32_t>{0, 4, 8, 16, 32, 44, 48});
  CHECK(k.param_block == 56);
  CHECK(k.params[6].align == 8);
  CHECK(k.code[0].src[0].is(Operand::param));
  CHECK(k.code[0].src[0].value == 48);
}

TEST_CASE("an initialiser holds bytes, and relocations where addresses stand") {
  const Module m = parse_text(
      ".func f();\n"
      ".global .align 4 .u32 a = 7;\n"
      ".global .align 4 .b8 list[8] = {1, 255, -1};\n"
      ".global .align 8 .f64 d[2] = {0d3FF0000000000000};\n"
      ".global .align 8 .u64 t[3] = {f, generic(a)+4, 9};\n"
      ".global .align 8 .b8 masked[8] = {0xFF(list), 0xFF00(list), 0xFF0000(list), 0xFF000000(list), 0xFF00000000(list),"
      "0xFF0000000000(list), 0xFF000000000000(list), 0xFF00000000000000(list)};\n"
      ".visible .global .attribute(.managed) .align 4 .u32 mg = 3;\n");
  CHECK(variable(m, "a").init == std::vector<std::uint8_t>{7, 0, 0, 0});
  CHECK(variable(m, "list").init == std::vector<std::uint8_t>{1, 255, 255});
  CHECK(variable(m, "list").size == 8);
  CHECK(variable(m, "d").init.size() == 8);
  const Variable& t = variable(m, "t");
  REQUIRE(t.relocations.size() == 2);
  CHECK(t.relocations[0].function);
  CHECK(m.functions[t.relocations[0].index].address_taken);
  CHECK(t.relocations[1].generic);
  CHECK(t.relocations[1].offset == 8);
  CHECK(t.relocations[1].addend == 4);
  CHECK(t.init[16] == 9);
  REQUIRE(variable(m, "masked").relocations.size() == 1);
  CHECK(variable(m, "masked").relocations[0].size == 8);
  CHECK(variable(m, "mg").managed);
}

TEST_CASE("local memory is one frame, and parameters of calls reuse their part of the frame") {
  const Module m = parse_text(
      ".func (.param .b32 r) f(.param .b64 x);\n" +
      kernel_text(
          ".param .u64 p",
          ".local .align 16 .b8 depot[20]; .local .align 8 .b8 more[8];\n"
          "mov.u64 %rd1, depot;\nmov.u64 %rd2, more;\n"
          "{ .param .b64 a; .param .b32 r; st.param.b64 [a+0], %rd1; call.uni (r), f, (a); ld.param.b32 %r1, [r]; }\n"
          "{ .param .b64 a; .param .b32 r; st.param.b64 [a+0], %rd2; call.uni (r), f, (a); }\n"));
  const Function& k = function(m, "k");
  CHECK(k.local_frame == 32);
  CHECK(k.local_align == 16);
  CHECK(k.code[1].src[0].value == 24);
  CHECK(k.param_frame == 20);  // 8 of the kernel, 8 + 4 of a call
  CHECK(k.code[2].src[0].value == k.code[5].src[0].value);
  CHECK(k.code[2].src[0].index != k.code[5].src[0].index);
  REQUIRE(k.calls.size() == 2);
  CHECK(k.calls[0].callee == m.find_function("f"));
  CHECK(k.calls[0].arguments[0].value == 8);
  CHECK(k.calls[0].results[0].value == 16);
}

TEST_CASE("dynamic shared memory begins behind the static variables of the kernel and of what it calls") {
  const Module m = parse_text(
      ".extern .shared .align 16 .b8 dynamic[];\n.shared .align 4 .b8 unused[400];\n"
      ".func f() { .reg .b32 %a; .shared .align 4 .b8 inner[12]; ld.shared.u32 %a, [inner]; ret; }\n" +
      kernel_text(
          "", ".shared .align 8 .b8 own[5];\nst.shared.u32 [own], %r1;\nst.shared.u32 [dynamic+4], %r1;\ncall.uni f, ();"));
  const Function& k = function(m, "k");
  REQUIRE(k.shared.size() == 3);
  CHECK(m.variables[k.shared[0].variable].name == "inner");
  CHECK(k.shared[0].offset == 0);
  CHECK(m.variables[k.shared[1].variable].name == "own");
  CHECK(k.shared[1].offset == 16);
  CHECK(m.variables[k.shared[2].variable].name == "dynamic");
  CHECK(k.shared[2].offset == 32);
  CHECK(k.shared_bytes == 32);
}

TEST_CASE("an indirect call knows its prototype") {
  const Module m = parse_text(
      kernel_text("",
                  "{ .param .b64 a; .param .b32 r; prototype_0 : .callprototype (.param .b32 _) _ (.param .b64 _);\n"
                  "call (r), %rd1, (a), prototype_0; }"));
  const Call& c = m.functions[0].calls.at(0);
  CHECK(c.callee == kNone);
  CHECK(c.through.is(Operand::reg));
  REQUIRE(c.argument_types.size() == 1);
  CHECK(c.argument_types[0].size == 8);
  CHECK(c.result_types.at(0).size == 4);
}

TEST_CASE("a directive and its type may stand without a blank between, as in NVIDIA's cuda_fp16.hpp") {
  const Module m =
      parse_text(kernel_text(".param.u64 p", "{.reg.b32 a;.reg.f16x2 b, c;.shared.align 4.b8 s[8];mov.b32 a, 1;}\nret;"));
  const Function& k = m.functions.at(0);
  CHECK(k.params[0].type == Type::u64);
  CHECK(k.code[0].op == Op::mov);
  CHECK(m.variables.at(0).size == 8);
}
