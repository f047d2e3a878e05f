#include "inputs/ptx/access_check.hpp"

#include <doctest/doctest.h>

#include "harness.hpp"

using namespace atl::ptx;

namespace {

/// Each of 32 threads loads word tid of `in` and stores to word tid + shift of `out`. The load is on line 8, the store on
/// line 9, an atomic on line 10 adds to the first word of `sum`.
struct Copy {
  Copy() : module(parse(text(), "test.ptx")) { device.load(module); }
  static std::string text() {
    return kHeader + R"(.visible .entry copy(.param .u64 in, .param .u64 out, .param .u64 sum, .param .u32 shift) {
.reg .b32 %r<6>; .reg .b64 %rd<12>;
ld.param.u64 %rd1,[in]; ld.param.u64 %rd2,[out]; ld.param.u64 %rd3,[sum]; ld.param.u32 %r1,[shift]; mov.u32 %r2,%tid.x;
mul.wide.u32 %rd4,%r2,4; add.s64 %rd5,%rd1,%rd4; add.s32 %r3,%r2,%r1; mul.wide.s32 %rd6,%r3,4; add.s64 %rd7,%rd2,%rd6;
ld.global.u32 %r4,[%rd5];
st.u32 [%rd7],%r4;
red.global.add.u32 [%rd3],1;
ret; })";
  }
  std::uint64_t buffer(std::vector<std::uint32_t>& v, const std::string& name) {
    const auto address = reinterpret_cast<std::uint64_t>(v.data());
    if (!device.memory.contains(address, 4)) device.memory.add({address, v.size() * 4, name});
    return address;
  }
  /// Marks the load as if the analysis had found it read-only. What is said of the launch; empty: all is well.
  std::string run(std::vector<std::uint32_t>& in, std::vector<std::uint32_t>& out, std::vector<std::uint32_t>& sum,
                  int shift, std::vector<ReadOnlyClaim> claims = {}) {
    for (Instruction& i : module.functions[0].code)
      if (i.op == Op::ld && i.space == Space::global) i.read_only = marked;
    LaunchSpec s;
    s.module = &module, s.kernel = 0, s.block = {32, 1, 1};
    s.params.resize(28);
    const std::uint64_t pointers[] = {buffer(in, "first"), buffer(out, "second"), buffer(sum, "third")};
    std::memcpy(s.params.data(), pointers, sizeof pointers);
    std::memcpy(s.params.data() + 24, &shift, sizeof shift);
    s.check = &check;
    check.expect(std::move(claims));
    try {
      execute(s, device);
    } catch (const ExecutionError& e) {
      CHECK(e.kind() == ExecutionError::Kind::wrong_mark);
      return e.what();
    }
    return {};
  }
  bool marked = true;
  Module module;
  Device device;
  AccessCheck check;
  std::vector<std::uint32_t> a = std::vector<std::uint32_t>(64), b = a, c = a;
};

bool says(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts)
    if (text.find(part) == std::string::npos) {
      MESSAGE(text << " lacks " << part);
      return false;
    }
  return true;
}

}  // namespace

TEST_CASE("marks that hold are counted by warps' loads") {
  Copy k;
  CHECK(k.run(k.a, k.b, k.c, 0) == "");
  k.marked = false;
  CHECK(k.run(k.a, k.a, k.c, 0) == "");
  CHECK(k.check.held());
  CHECK(k.check.counts().launches == 2);
  CHECK(k.check.counts().loads == 2);
  CHECK(k.check.counts().marked == 1);
}

TEST_CASE("a wrong mark on a load is found when the kernel then writes what was read") {
  Copy k;
  CHECK(
      says(k.run(k.a, k.a, k.c, 31), {"kernel copy", "test.ptx:9", "this store changes", "in first", "load at test.ptx:8"}));
  CHECK_FALSE(k.check.held());
}

TEST_CASE("a wrong mark is found to the byte") {
  Copy k;
  CHECK(k.run(k.a, k.a, k.c, 32) == "");                                        // just behind what was read
  CHECK(says(k.run(k.a, k.b, k.a, 0), {"test.ptx:10", "load at test.ptx:8"}));  // by an atomic
}

TEST_CASE("a wrong mark is found when the kernel has written before what is read") {
  // Two blocks in turn: the second reads what the first has written.
  Harness h(kHeader + R"(.visible .entry k(.param .u64 p) {
.reg .b32 %r<4>; .reg .b64 %rd<4>;
ld.param.u64 %rd1,[p]; mov.u32 %r1,%ctaid.x; mul.wide.u32 %rd2,%r1,4; add.s64 %rd3,%rd1,%rd2;
ld.global.nc.u32 %r2,[%rd3];
st.global.u32 [%rd3+4],%r1;
ret; })");
  std::vector<std::uint32_t> v(8);
  AccessCheck check;
  LaunchSpec s = h.spec("k", 2, 1);
  h.set(s, h.buffer(v));
  s.check = &check;
  std::string said;
  try {
    execute(s, h.device);
  } catch (const ExecutionError& e) {
    said = e.what();
  }
  CHECK(says(said, {"block (1, 0, 0)", "test.ptx:7", "store at test.ptx:8", "in buffer", "the program itself promised"}));
}

TEST_CASE("a store into an allocation that was claimed to be read-only is found though nothing was read there") {
  Copy k;
  k.marked = false;
  const ReadOnlyClaim claim{"parameter in", k.buffer(k.b, "second"), 256, {8, 12}};
  CHECK(says(k.run(k.a, k.b, k.c, 0, {claim}),
             {"test.ptx:9", "in second (parameter in)", "only reads (test.ptx:8; test.ptx:12)"}));
  CHECK_FALSE(k.check.held());
  CHECK(k.run(k.a, k.c, k.c, 0, {claim}) == "");
}

TEST_CASE("a launch whose marks do not count, because arguments overlap, cannot break them") {
  Copy k;
  LaunchSpec s;
  s.module = &k.module, s.kernel = 0, s.block = {32, 1, 1}, s.check = &k.check, s.read_only_marks = false;
  s.params.resize(28);
  const std::uint64_t pointers[] = {k.buffer(k.a, "first"), k.buffer(k.a, "first"), k.buffer(k.a, "first")};
  std::memcpy(s.params.data(), pointers, sizeof pointers);
  k.module.functions[0].code[9].read_only = true;
  CHECK_NOTHROW(execute(s, k.device));
  CHECK(k.check.counts().marked == 0);
}

TEST_CASE("a check that may use several threads sees every access of every block") {
  Harness h(kHeader + R"(.visible .entry k(.param .u64 in, .param .u64 out) {
.reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .shared .b32 s[64];
ld.param.u64 %rd1,[in]; ld.param.u64 %rd2,[out]; mov.u32 %r1,%tid.x; mov.u32 %r2,%ctaid.x; mad.lo.s32 %r3,%r2,64,%r1;
mul.wide.u32 %rd3,%r3,4; add.s64 %rd4,%rd1,%rd3; add.s64 %rd5,%rd2,%rd3; shl.b32 %r4,%r1,2; mov.u32 %r7,s;
add.s32 %r4,%r4,%r7; mov.u32 %r5,2000;
L: ld.global.nc.u32 %r6,[%rd4]; st.shared.u32 [%r4],%r6; st.global.u32 [%rd5],%r6;
sub.u32 %r5,%r5,1; setp.ne.u32 %p1,%r5,0; @%p1 bra L; ret; })");
  std::vector<std::uint32_t> in(64 * 100), out(64 * 100);
  AccessCheck check;
  LaunchSpec s = h.spec("k", 100, 64);
  h.set(s, h.buffer(in), h.buffer(out));
  s.check = &check, s.threads = 4;
  CHECK(independent_ctas(s, h.device));
  execute(s, h.device);
  CHECK(check.counts().loads == 100 * 2 * 2000);
  CHECK(check.races().empty());
}
