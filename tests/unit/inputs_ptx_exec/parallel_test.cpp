#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "harness.hpp"
#include "inputs/ptx/record.hpp"

using namespace atl;
using namespace atl::ptx;
using U32 = std::vector<std::uint32_t>;

namespace {

/// Every block works as long as its number says: 1000 x (number % 7) times around the loop, so that they end out of order.
/// Then out[i] = i; the last block of a launch with `bad` set stores outside.
const std::string kUneven = kHeader + R"(.visible .entry uneven(.param .u64 p, .param .u32 bad)
{
  .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1,[p]; ld.param.u32 %r10,[bad]; mov.u32 %r1,%ctaid.x; mov.u32 %r2,%ntid.x; mov.u32 %r3,%tid.x;
  mad.lo.s32 %r4,%r1,%r2,%r3; rem.u32 %r5,%r1,7; mul.lo.u32 %r5,%r5,1000; mul.wide.u32 %rd2,%r4,4; add.s64 %rd3,%rd1,%rd2;
LOOP:
  setp.eq.u32 %p1,%r5,0; @%p1 bra OUT; sub.u32 %r5,%r5,1; st.global.u32 [%rd3],%r5; bra LOOP;
OUT:
  setp.le.u32 %p2,%r10,%r1; @%p2 add.s64 %rd3,%rd3,1048576;
  st.global.u32 [%rd3],%r4; ret;
})";

struct Kept final : RecordOutput {
  void begin_kernel(const KernelInfo&) override {}
  void add_cta(const CtaProgram& c, const CtaColumns&) override { ops.push_back(c.ops.size()); }
  void end_kernel(std::uint64_t count) override { ended = count; }
  std::vector<std::size_t> ops;
  std::uint64_t ended = 0;
};

struct Uneven {
  explicit Uneven(unsigned threads, std::uint32_t bad = 1000) : h(kUneven), out(64 * 60) {
    spec = h.spec("uneven", 60, 64);
    spec.threads = threads;
    h.set(spec, h.buffer(out), bad);
  }
  Harness h;
  U32 out;
  LaunchSpec spec;
};

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string trace_of(const U32& out, unsigned threads) {
  const std::string path = "parallel_test.h5";
  Uneven u(threads);
  // The same addresses each time, as the device arena gives them.
  u.h.set(u.spec, reinterpret_cast<std::uint64_t>(out.data()), std::uint32_t{1000});
  u.h.device.memory.add({reinterpret_cast<std::uint64_t>(out.data()), out.size() * 4, "out"});
  {
    TraceWriter writer(path, {"", ""});
    TraceOutput output(writer);
    Recorder recorder(output);
    execute(u.spec, u.h.device, &recorder);
    CHECK(recorder.counts().ctas == 60);
    writer.finish();
  }
  std::string bytes = bytes_of(path);
  std::remove(path.c_str());
  return bytes;
}

/// out[i] = what local memory and a register hold that the thread has not set yet. Then it sets them, for whoever takes
/// over what the block ran in.
const std::string kUnset = kHeader + R"(.visible .entry k(.param .u64 p)
{
  .local .align 4 .b8 stack[64];
  .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1,[p]; mov.u32 %r1,%ctaid.x; mov.u32 %r2,%ntid.x; mov.u32 %r3,%tid.x;
  mad.lo.s32 %r4,%r1,%r2,%r3; mul.wide.u32 %rd2,%r4,4; add.s64 %rd3,%rd1,%rd2;
  ld.local.u32 %r5,[stack+32]; add.u32 %r6,%r5,%r7; st.global.u32 [%rd3],%r6;
  add.u32 %r7,%r1,1; st.local.u32 [stack+32],%r7; ret;
})";

bool independent(const std::string& body) {
  Harness h(kHeader +
            ".visible .entry k(.param .u64 pa, .param .u64 pb) { .reg .pred %p<4>; .reg .b32 %r<16>; "
            ".reg .b64 %rd<16>; .reg .f32 %f<4>; .reg .b64 %a, %b;\n"
            "ld.param.u64 %a,[pa]; ld.param.u64 %b,[pb]; mov.u32 %r1,%ctaid.x; mul.wide.u32 %rd1,%r1,4;\n"
            "add.s64 %rd2,%a,%rd1; add.s64 %rd3,%b,%rd1;\n" +
            body + "\nret; }");
  return independent_ctas(h.spec("k", 2, 1), h.device);
}

}  // namespace

TEST_CASE("the trace has the same bytes for every number of threads") {
  const U32 out(64 * 60);
  const std::string one = trace_of(out, 1);
  CHECK(one.size() > 10000);
  for (const unsigned threads : {2u, 5u}) CHECK(trace_of(out, threads) == one);
}

TEST_CASE("while recording on several threads the error of the first failing block is reported") {
  for (const unsigned threads : {1u, 2u, 5u}) {
    Uneven u(threads, 41);
    Kept kept;
    Recorder recorder(kept);
    std::string message;
    try {
      execute(u.spec, u.h.device, &recorder);
    } catch (const ExecutionError& e) {
      message = e.what();
    }
    CHECK(message.find("block (41, 0, 0), thread (0, 0, 0)") != std::string::npos);
    CHECK(kept.ops.size() == 41);
    CHECK(kept.ended == 0);
    CHECK(u.out[64 * 41 - 1] == 64 * 41 - 1);
  }
}

TEST_CASE("a sample by ops is the same for every number of threads, and the kernel runs to its end") {
  for (const unsigned threads : {1u, 2u, 5u}) {
    Uneven u(threads);
    Kept kept;
    RecordOptions options;
    options.max_ops = 100'000;  // block n has a little more than 4000 x (n % 7): blocks 0 to 9 make 96,000
    Recorder recorder(kept, options);
    execute(u.spec, u.h.device, &recorder);
    CHECK(kept.ops.size() == 11);
    CHECK(kept.ended == 11);
    std::size_t sum = 0;
    for (std::size_t n = 0; n + 1 < kept.ops.size(); ++n) sum += kept.ops[n];
    CHECK(sum < options.max_ops);
    CHECK(sum + kept.ops.back() >= options.max_ops);
    CHECK(recorder.counts().ops == sum + kept.ops.back());
    CHECK(u.out.back() == 64 * 60 - 1);
  }
}

TEST_CASE("a block finds nothing of those that ran before it on its thread") {
  for (const Schedule schedule : kSchedules)
    for (const unsigned threads : {1u, 3u}) {
      Harness h(kUnset);
      U32 out(500 * 32, 7);
      for (unsigned launch = 0; launch < 2; ++launch) {
        LaunchSpec s = h.spec("k", 500, 32);
        s.threads = threads, s.schedule = schedule;
        h.set(s, h.buffer(out));
        execute(s, h.device);
        CHECK(out == U32(500 * 32, 0));
      }
    }
}

TEST_CASE("atomics of several threads lose nothing") {
  const std::string text = kHeader + R"(.visible .entry k(.param .u64 p)
{
  .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1,[p]; mov.u32 %r1,200;
L: red.global.add.u32 [%rd1],1; sub.u32 %r1,%r1,1; setp.ne.u32 %p1,%r1,0; @%p1 bra L; ret;
})";
  Harness h(text);
  U32 sum(1);
  LaunchSpec s = h.spec("k", 500, 64);
  s.threads = 4;
  h.set(s, h.buffer(sum));
  CHECK(independent_ctas(s, h.device));
  execute(s, h.device);
  CHECK(sum[0] == 500 * 64 * 200);
}

TEST_CASE("which kernels may run their blocks in any order") {
  CHECK(independent("ld.global.u32 %r2,[%rd2]; st.global.u32 [%rd3],%r2;"));
  CHECK(independent("ld.global.nc.u32 %r2,[%rd2]; mul.wide.u32 %rd4,%r2,4; add.s64 %rd4,%b,%rd4; st.global.u8 [%rd4],1;"));
  CHECK(independent("atom.global.add.u32 %r2,[%a],1;"));
  CHECK(independent("atom.shared.cas.b32 %r2,[0],1,2; st.global.u32 [%rd3],%r2;"));
  // What an index from memory leads to may be what another block writes.
  CHECK_FALSE(
      independent("ld.global.u32 %r2,[%rd2]; mul.wide.u32 %rd4,%r2,4; add.s64 %rd4,%b,%rd4; ld.global.u32 %r3,[%rd4];"));
  CHECK_FALSE(
      independent("ld.global.nc.u32 %r2,[%rd2]; mul.wide.u32 %rd4,%r2,4; add.s64 %rd4,%b,%rd4; st.global.u32 [%rd4],%r1;"));
  CHECK_FALSE(
      independent("ld.global.u32 %r2,[%rd2]; mul.wide.u32 %rd4,%r2,4; add.s64 %rd4,%b,%rd4; st.global.u8 [%rd4],1;"));
  // The order shows in the result of an atomic, in rounding, in what is read beside it, in clocks, in volatile accesses.
  CHECK_FALSE(independent("atom.global.add.u32 %r2,[%a],1; st.global.u32 [%rd3],%r2;"));
  CHECK_FALSE(independent("red.global.add.f32 [%a],0f3F800000;"));
  CHECK_FALSE(independent("red.global.add.u32 [%a],1; ld.global.u32 %r2,[%rd2]; st.global.u32 [%rd3],%r2;"));
  CHECK_FALSE(independent("mov.u32 %r2,%clock; st.global.u32 [%rd3],%r2;"));
  CHECK_FALSE(independent("ld.volatile.global.u32 %r2,[%rd2];"));
}

TEST_CASE("a literal is not from memory though its register holds a loaded value elsewhere") {
  const auto counts = [](const std::string& start) {  // %r3 indexes a load, and %r2 is loaded at the end of the loop
    return independent(start +
                       "L: mul.wide.u32 %rd4,%r3,4; add.s64 %rd4,%rd2,%rd4; ld.global.u32 %r2,[%rd4];\n"
                       "add.u32 %r3,%r3,1; setp.lt.u32 %p1,%r3,5; @%p1 bra L; st.global.u32 [%rd3],%r2;");
  };
  CHECK(counts("mov.u32 %r2,0; mov.u32 %r3,%r2;"));
  CHECK(counts("mov.u32 %r2,0; mov.u32 %r4,%r2; mov.u32 %r3,%r4;"));
  // Another write, one that only some threads do, and a block that is reached from elsewhere.
  CHECK_FALSE(counts("mov.u32 %r2,0; ld.global.u32 %r2,[%rd2]; mov.u32 %r3,%r2;"));
  CHECK_FALSE(counts("mov.u32 %r2,0; mov.b64 {%r2,%r4},%rd1; mov.u32 %r3,%r2;"));
  CHECK_FALSE(counts("setp.eq.u32 %p2,%r1,0; @%p2 mov.u32 %r2,0; mov.u32 %r3,%r2;"));
  CHECK_FALSE(counts("mov.u32 %r2,0; K: mov.u32 %r3,%r2; setp.eq.u32 %p2,%r1,0; ld.global.u32 %r2,[%rd2]; @%p2 bra K;"));
  CHECK_FALSE(counts("mov.u32 %r3,%r2; mov.u32 %r2,0;"));
}

TEST_CASE("what the program promises of loads and textures counts where the launch keeps to it") {
  Harness h(kHeader +
            ".visible .entry nc(.param .u64 p) { .reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
            "ld.param.u64 %rd1,[p]; ld.global.nc.u32 %r1,[%rd1]; mul.wide.u32 %rd2,%r1,4; add.s64 %rd3,%rd1,%rd2;\n"
            "ld.global.nc.u32 %r2,[%rd3]; st.global.u32 [%rd1],%r2; ret; }\n"
            ".visible .entry texture(.param .u64 t, .param .u64 p) { .reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
            "ld.param.u64 %rd1,[t]; ld.param.u64 %rd2,[p]; mov.u32 %r1,%ctaid.x;\n"
            "tex.1d.v4.u32.s32 {%r2,%r3,%r4,%r5},[%rd1,{%r1}]; st.global.u32 [%rd2],%r2; ret; }\n");
  LaunchSpec nc = h.spec("nc", 2, 1), texture = h.spec("texture", 2, 1);
  CHECK(independent_ctas(nc, h.device));
  CHECK(independent_ctas(texture, h.device));
  nc.nc_holds = texture.textures_hold = false;
  CHECK_FALSE(independent_ctas(nc, h.device));
  CHECK_FALSE(independent_ctas(texture, h.device));
}
