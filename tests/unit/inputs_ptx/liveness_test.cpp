#include "inputs/ptx/liveness.hpp"

#include <set>
#include <string>

#include "ptx_text.hpp"

using namespace atl::ptx;
using namespace atl::ptx::test;

namespace {

using Names = std::set<std::string>;

Names unset(const Function& f) {
  Names names;
  seen_unset(f).each([&](std::uint32_t r) { names.insert(f.registers[r].name); });
  return names;
}
Names unset(const std::string& body) {
  const Module m = parse_text(kernel_text(".param .u64 p", body));
  return unset(m.functions[m.find_function("k")]);
}

}  // namespace

TEST_CASE("registers hold what a set is given, across words") {
  RegisterSet a(130), b(130);
  for (const std::uint32_t r : {0u, 63u, 64u, 129u}) a.add(r);
  b.add(5), b.add(64);
  a.remove(63), a.add(b);
  std::set<std::uint32_t> found;
  a.each([&](std::uint32_t r) { found.insert(r); });
  CHECK(found == std::set<std::uint32_t>{0, 5, 64, 129});
  CHECK(a.has(129));
  CHECK_FALSE(a.has(63));
}

TEST_CASE("what every way sets before it reads is not seen unset") {
  CHECK(unset("mov.u32 %r1,7; add.u32 %r2,%r1,%r1; ret;").empty());
  CHECK(unset("setp.eq.u32 %p1,%r1,0; @%p1 bra A; mov.u32 %r2,1; bra B;\nA: mov.u32 %r2,2;\nB: add.u32 %r3,%r2,1; ret;") ==
        Names{"%r1"});
}

TEST_CASE("one way that reads first is enough, round a loop or past a guard") {
  CHECK(unset("mov.u32 %r1,0; setp.eq.u32 %p1,%r1,0; @%p1 bra B; mov.u32 %r2,1;\nB: add.u32 %r3,%r2,1; ret;") ==
        Names{"%r2"});
  CHECK(unset("mov.u32 %r1,9;\nL: add.u32 %r3,%r2,1; mov.u32 %r2,%r1; setp.eq.u32 %p1,%r3,0; @%p1 bra L; ret;") ==
        Names{"%r2"});
  CHECK(unset("mov.u32 %r1,9; setp.eq.u32 %p1,%r1,0; @%p1 mov.u32 %r2,1; add.u32 %r3,%r2,1; ret;") == Names{"%r2"});
}

TEST_CASE("matrices take registers of lanes that may not be there, shuffles do not") {
  CHECK(unset("mov.u32 %r1,1; shfl.sync.idx.b32 %r2,%r1,0,31,-1; ret;").empty());
  CHECK(unset("mov.u32 %r1,1; movmatrix.sync.aligned.m8n8.trans.b16 %r2,%r1; ret;") == Names{"%r1", "%r2"});
}

TEST_CASE("a function gets its parameters from the call and returns what it may not have set") {
  const Module m = parse_text(
      ".func (.reg .b32 %out) f(.reg .b32 %in)\n{\n.reg .pred %p<2>;\nsetp.eq.u32 %p1,%in,0; @%p1 ret;\nmov.u32 %out,%in; "
      "ret;\n}");
  CHECK(unset(m.functions[m.find_function("f")]) == Names{"%out"});
}
