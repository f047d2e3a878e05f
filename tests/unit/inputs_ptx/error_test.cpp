#include "ptx_text.hpp"

using namespace atl::ptx;
using namespace atl::ptx::test;

TEST_CASE("an unsupported instruction is an error that names file, line and opcode") {
  CHECK(error_of(kernel_text("", "ret;\nwgmma.fence.sync.aligned;")) ==
        "test.ptx:7: unsupported instruction 'wgmma.fence.sync.aligned'");
  CHECK(error_of(kernel_text("", "cvt.rn.satfinite.e2m1x2.f32 %h1, %f1, %f2;")) ==
        "test.ptx:6: unsupported instruction 'cvt.rn.satfinite.e2m1x2.f32' (modifier '.e2m1x2')");
}

TEST_CASE("an unsupported instruction can be kept until a program comes to execute it") {
  const Module m = parse(kHeader + kernel_text("", "@%p1 wgmma.fence.sync.aligned;\nret;"), "x", Unsupported::keep);
  CHECK(m.functions[0].code[0].op == Op::unsupported);
  CHECK(m.functions[0].code[0].guard != kNone);
  CHECK(m.functions[0].spelling(m.functions[0].code[0]) == "wgmma.fence.sync.aligned");
}

TEST_CASE("what cannot be read is named with its line") {
  CHECK(error_of(kernel_text("", "mov.u32 %r1, %x;")) == "test.ptx:6: unknown name '%x'");
  CHECK(error_of(kernel_text("", "mov.u32 %r30, 0;")) == "test.ptx:6: unknown name '%r30'");
  CHECK(error_of(kernel_text("", "\nbra AWAY;")) == "test.ptx:7: there is no label 'AWAY'");
  CHECK(error_of(kernel_text("", "mov.u32 %r1, 1\nret;")) == "test.ptx:7: expected ';', found 'ret'");
  CHECK(error_of(kernel_text("", "@%r1 ret;")) == "test.ptx:6: '%r1' is no predicate register");
  CHECK(error_of(kernel_text("", "add.s32 %r1, %r2;")) == "test.ptx:6: too few operands of 'add.s32'");
  CHECK(error_of(".entry k() {") == "test.ptx:4: expected an instruction, found the end of the text");
  CHECK(error_of(".address_size 32") == "test.ptx:4: only 64-bit addresses are supported");
  CHECK(error_of("/* open") == "test.ptx:4: the comment that begins here has no end");
  CHECK_THROWS_WITH_AS(parse("hello", "a.txt"), "a.txt:1: expected a directive, found 'hello'", atl::InputError);
  CHECK_THROWS_WITH_AS(parse("", "empty"), "empty:1: no .version: this is no PTX", atl::InputError);
}

TEST_CASE("braces that would overflow the stack, and sizes that no memory has, are refused") {
  const std::string open(100'000, '{'), close(100'000, '}');
  CHECK(error_of(kernel_text("", open + close)) == "test.ptx:6: more than 1000 blocks within each other");
  CHECK(error_of(kernel_text("", std::string(1000, '{') + std::string(1000, '}') + "ret;")).empty());
  CHECK(error_of(".global .b32 a[4] = " + open + "1" + close + ";") ==
        "test.ptx:4: values in more than 64 levels of braces");
  CHECK(error_of(".global .b64 a[4611686018427387904][4];") == "test.ptx:4: 'a' is larger than any memory");
  CHECK(error_of(kernel_text("", ".shared .b8 a[1048577];")) == "test.ptx:6: 'a' is more shared memory than an SM has");
}
