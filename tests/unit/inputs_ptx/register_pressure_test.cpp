#include "inputs/ptx/register_pressure.hpp"

#include "ptx_text.hpp"

using namespace atl::ptx;
using namespace atl::ptx::test;

namespace {

std::uint32_t registers(const std::string& text) {
  const Module m = parse_text(text);
  return estimate_registers(m, m.find_function("k"));
}
/// n words are loaded, and only then stored: n + `more` registers at once. The address of the parameter p is free, that of
/// a thread takes two registers.
std::string loads(unsigned n, const std::string& type = "u32", const std::string& reg = "%r") {
  std::string text = "ld.param.u64 %rd1,[p]; cvta.to.global.u64 %rd2,%rd1;\n";
  for (unsigned i = 0; i < n; ++i) text += "ld.global." + type + " " + reg + std::to_string(i) + ",[%rd2];\n";
  for (unsigned i = 0; i < n; ++i) text += "st.global." + type + " [%rd2]," + reg + std::to_string(i) + ";\n";
  return text + "ret;";
}
const std::string kPointer = ".param .u64 p";

std::string entry(const std::string& tuning, const std::string& body) {
  const std::string text = kernel_text(kPointer, body);
  const std::size_t brace = text.find('{');
  return text.substr(0, brace) + tuning + text.substr(brace);
}

}  // namespace

TEST_CASE("registers are what is alive at a time, in eights, and 16 at least") {
  CHECK(registers(kernel_text(kPointer, loads(1))) == 16);
  CHECK(registers(kernel_text(kPointer, loads(16))) == 16);
  CHECK(registers(kernel_text(kPointer, loads(17))) == 24);
  CHECK(registers(kernel_text(kPointer, loads(24))) == 24);
}

TEST_CASE("a value of 64 bits takes two registers, one of 16 bits takes one, a predicate none") {
  CHECK(registers(kernel_text(kPointer, loads(9, "f64", "%fd"))) == 24);
  CHECK(registers(kernel_text(kPointer, loads(8, "f64", "%fd"))) == 16);
  const std::string predicates =
      "setp.eq.u32 %p1,%r1,0; setp.eq.u32 %p2,%r2,0; setp.eq.u32 %p3,%r3,0;\n@%p1 ret;\n@%p2 ret;\n";
  CHECK(registers(kernel_text(kPointer, predicates + loads(16) + "@%p3 ret;\nret;")) == 16);
}

TEST_CASE("literals and parameters are operands, values that are used again are registers") {
  const std::string literal = "mov.u32 %r28,7;\n", sum = "ld.param.u64 %rd3,[p]; ld.global.u32 %r28,[%rd3];\n";
  const std::string use = "st.global.u32 [%rd2],%r28;\nret;";
  CHECK(registers(kernel_text(kPointer, literal + loads(16).substr(0, loads(16).size() - 4) + use)) == 16);
  CHECK(registers(kernel_text(kPointer, sum + loads(16).substr(0, loads(16).size() - 4) + use)) == 24);
}

TEST_CASE("what a loop carries is alive in all of it, and a branch counts its worse side") {
  // 14 words are carried round; inside, three more are alive at once.
  std::string before = "ld.param.u64 %rd1,[p];\n", after;
  for (unsigned i = 0; i < 14; ++i) {
    before += "ld.global.u32 %r" + std::to_string(i) + ",[%rd1];\n";
    after += "st.global.u32 [%rd1],%r" + std::to_string(i) + ";\n";
  }
  const auto loop = [&](unsigned inside) {
    std::string body = "LOOP:\n";
    for (unsigned i = 0; i < inside; ++i) body += "ld.global.u32 %r" + std::to_string(20 + i) + ",[%rd1];\n";
    for (unsigned i = 0; i < inside; ++i) body += "st.global.u32 [%rd1],%r" + std::to_string(20 + i) + ";\n";
    return kernel_text(kPointer, before + body + "setp.eq.u32 %p1,%r0,0;\n@%p1 bra LOOP;\n" + after + "ret;");
  };
  CHECK(registers(loop(2)) == 16);
  CHECK(registers(loop(3)) == 24);
  const std::string branch = "@%p1 bra ELSE;\nmov.u32 %r1,%tid.x; st.global.u32 [0],%r1; bra END;\nELSE:\n";
  CHECK(registers(kernel_text(kPointer, branch + loads(17).substr(0, loads(17).size() - 4) + "END:\nret;")) == 24);
}

TEST_CASE("a callee's registers come on top of what is alive across the call") {
  const std::string callee = ".visible .func f(.param .b64 p) {\n.reg .b32 %r<30>; .reg .b64 %rd<9>;\n" + loads(10) + "}\n";
  const auto caller = [&](unsigned n) {
    const std::string text = loads(n);
    const std::size_t stores = text.find("st.global");
    return callee +
           kernel_text(kPointer, text.substr(0, stores) + "{ .param .b64 x; st.param.b64 [x+0],%rd1; call.uni f,(x); }\n" +
                                     text.substr(stores));
  };
  // f: its pointer comes in a register (2; %rd2 is a copy of it), and 10 words.
  CHECK(registers(caller(4)) == 16);
  CHECK(registers(caller(5)) == 24);
  CHECK(registers(caller(12)) == 24);
  CHECK(registers(caller(13)) == 32);
}

TEST_CASE("launch bounds limit the registers") {
  CHECK(registers(entry("", loads(30))) == 32);
  CHECK(registers(entry(".maxnreg 24\n", loads(30))) == 24);
  CHECK(registers(entry(".maxntid 1024, 1, 1\n.minnctapersm 2\n", loads(30))) == 32);
  CHECK(registers(entry(".maxntid 1024, 1, 1\n.minnctapersm 3\n", loads(30))) == 16);  // 65536 / 3072 = 21
  CHECK(registers(entry(".maxntid 512\n.minnctapersm 5\n", loads(30))) == 24);         // 65536 / 2560 = 25
}

TEST_CASE("a launch has no more registers than its CTAs may have") {
  CHECK(registers_at_launch(200, 1024) == 64);
  CHECK(registers_at_launch(200, 256) == 200);
  CHECK(registers_at_launch(200, 1000) == 64);  // whole warps
}
