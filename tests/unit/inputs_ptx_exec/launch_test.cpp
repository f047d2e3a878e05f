#include <doctest/doctest.h>

#include "harness.hpp"

using namespace atl::ptx;
using U32 = std::vector<std::uint32_t>;

namespace {

const std::string kSquares = kHeader + R"(.visible .entry squares(.param .u64 p)
{
  .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1,[p]; mov.u32 %r1,%ctaid.x; mov.u32 %r2,%ntid.x; mov.u32 %r3,%tid.x; mad.lo.s32 %r4,%r1,%r2,%r3;
  mul.wide.u32 %rd2,%r4,4; add.s64 %rd3,%rd1,%rd2; mul.lo.s32 %r5,%r4,%r4; st.global.u32 [%rd3],%r5; ret;
})";

std::string message(const LaunchSpec& spec, Device& device) {
  return atl::ptx::message([&] { execute(spec, device); });
}

}  // namespace

TEST_CASE("blocks that cannot learn of each other give the same result on several threads") {
  U32 results[2];
  for (const unsigned threads : {1u, 4u}) {
    Harness h(kSquares);
    U32& out = results[threads / 4];
    out.resize(64 * 50);
    LaunchSpec s = h.spec("squares", 50, 64);
    s.threads = threads;
    h.set(s, h.buffer(out));
    CHECK(independent_ctas(s, h.device));
    CHECK(execute(s, h.device).warp_instructions == 50 * 2 * 10);
  }
  CHECK(results[0] == results[1]);
  CHECK(results[0][100] == 10000);
}

TEST_CASE("on several threads the error of the first failing block is reported") {
  for (const unsigned threads : {1u, 3u}) {
    Harness h(kSquares);
    U32 out(64 * 20);
    LaunchSpec s = h.spec("squares", 40, 64);
    s.threads = threads;
    h.set(s, h.buffer(out));
    CHECK(message(s, h.device).find("block (20, 0, 0), thread (0, 0, 0)") != std::string::npos);
  }
}

TEST_CASE("dynamic shared memory lies behind the static one and has the size of the launch") {
  const std::string text = kHeader + R"(
.extern .shared .align 16 .b8 dynamic[];
.visible .entry k(.param .u64 p)
{
  .shared .align 4 .b8 fixed[20]; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1,[p]; mov.u32 %r1,dynamic; mov.u32 %r2,fixed; sub.s32 %r3,%r1,%r2; mov.u32 %r4,%dynamic_smem_size;
  st.shared.u32 [%r1+60],%r4; st.global.u32 [%rd1],%r3; st.global.u32 [%rd1+4],%r4; ret;
})";
  Harness h(text);
  U32 out(2);
  LaunchSpec s = h.spec("k", 1, 1);
  h.set(s, h.buffer(out));
  s.dynamic_shared = 64;
  CHECK(shared_bytes(s) == 32 + 64);
  execute(s, h.device);
  CHECK(out == U32{32, 64});
  s.dynamic_shared = 60;
  CHECK(message(s, h.device).find("of shared memory, which has 92 bytes") != std::string::npos);
}

TEST_CASE("impossible launches are refused") {
  Harness h(kSquares);
  U32 out(64);
  LaunchSpec s = h.spec("squares", 1, 2048);
  h.set(s, h.buffer(out));
  CHECK(message(s, h.device).find("2048 threads per block") != std::string::npos);
  s.block = {32, 0, 1};
  CHECK(message(s, h.device).find("is 0") != std::string::npos);
  s.block = {32, 1, 1};
  s.params.resize(4);
  CHECK(message(s, h.device).find("4 bytes of parameters, 8 expected") != std::string::npos);
}

TEST_CASE("threads know their place in blocks and grids of three dimensions") {
  const std::string text = kHeader + R"(.visible .entry k(.param .u64 p)
{
  .reg .b32 %r<20>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1,[p]; mov.u32 %r1,%ctaid.x; mov.u32 %r2,%ctaid.y; mov.u32 %r3,%ctaid.z; mov.u32 %r4,%nctaid.x; mov.u32 %r5,%nctaid.y;
  mad.lo.s32 %r6,%r3,%r5,%r2; mad.lo.s32 %r6,%r6,%r4,%r1;
  mov.u32 %r7,%tid.x; mov.u32 %r8,%tid.y; mov.u32 %r9,%tid.z; mov.u32 %r10,%ntid.x; mov.u32 %r11,%ntid.y; mov.u32 %r12,%ntid.z;
  mad.lo.s32 %r13,%r9,%r11,%r8; mad.lo.s32 %r13,%r13,%r10,%r7; mul.lo.s32 %r14,%r10,%r11; mul.lo.s32 %r14,%r14,%r12;
  mad.lo.s32 %r15,%r6,%r14,%r13; mul.wide.u32 %rd2,%r15,4; add.s64 %rd3,%rd1,%rd2; st.global.u32 [%rd3],%r15; ret;
})";
  Harness h(text);
  U32 out(2 * 3 * 2 * 5 * 3 * 2);
  LaunchSpec s = h.spec("k", 1, 1);
  s.grid = {2, 3, 2}, s.block = {5, 3, 2};
  h.set(s, h.buffer(out));
  execute(s, h.device);
  for (std::uint32_t n = 0; n < out.size(); ++n) CHECK(out[n] == n);
}

TEST_CASE("blocks are dealt out among SMs by their number, and shared memory is a multiple of its unit") {
  Harness h(kHeader + R"(.visible .entry k(.param .u64 po) {
.reg .b32 %r<8>; .reg .b64 %rd<5>; .shared .align 4 .b8 s[100];
mov.u32 %r0,s; ld.param.u64 %rd1,[po]; mov.u32 %r1,%ctaid.x; mul.wide.u32 %rd2,%r1,24; add.s64 %rd3,%rd1,%rd2;
mov.u32 %r2,%smid; st.global.u32 [%rd3],%r2; mov.u32 %r3,%nsmid; st.global.u32 [%rd3+4],%r3;
mov.u32 %r4,%total_smem_size; st.global.u32 [%rd3+8],%r4;
mov.u32 %r5,%aggr_smem_size; st.global.u32 [%rd3+12],%r5;
mov.u32 %r6,%pm7; st.global.u32 [%rd3+16],%r6; mov.u64 %rd4,%pm0_64; cvt.u32.u64 %r7,%rd4; st.global.u32 [%rd3+20],%r7; ret; })");
  LaunchSpec spec = h.spec("k", 7, 1);
  spec.sms = 3, spec.dynamic_shared = 60, spec.shared_reserved = 512;
  for (const std::uint32_t unit : {128u, 256u}) {
    spec.shared_unit = unit;
    std::vector<std::uint32_t> out(42, 99);
    h.set(spec, h.buffer(out));
    execute(spec, h.device);
    for (std::uint32_t cta = 0; cta < 7; ++cta) {
      CHECK(out[6 * cta] == cta % 3);
      CHECK(out[6 * cta + 1] == 3);
      CHECK(out[6 * cta + 2] == 256);
      CHECK(out[6 * cta + 3] == 768);
      CHECK(out[6 * cta + 4] == 0);
      CHECK(out[6 * cta + 5] == 0);
    }
    h.device.memory.remove(reinterpret_cast<std::uint64_t>(out.data()));
  }
}

TEST_CASE("griddepcontrol changes nothing, because the launch before has ended") {
  Harness h(kHeader + R"(.visible .entry k(.param .u64 p)
{
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  griddepcontrol.wait;
  ld.param.u64 %rd1,[p]; mov.u32 %r1,5;
  griddepcontrol.launch_dependents;
  st.global.u32 [%rd1],%r1; ret;
})");
  U32 out(1);
  h.run("k", 1, 1, h.buffer(out));
  CHECK(out[0] == 5);
}

TEST_CASE("a launch knows nothing of those before it: registers and local memory that nobody has set are 0") {
  Harness h(kHeader + R"(.visible .entry leave(.param .u64 p)
{
  .reg .b32 %r<9>; .reg .b64 %rd<3>; .local .align 4 .b8 there[16];
  ld.param.u64 %rd1,[p]; mov.u32 %r1,7; mov.u32 %r2,7; mov.u32 %r3,7; mov.u32 %r4,7; mov.u32 %r8,7;
  st.local.u32 [there],%r1; st.local.u32 [there+4],%r2; st.global.u32 [%rd1],%r1; ret;
}
.visible .entry look(.param .u64 p)
{
  .reg .b32 %r<9>; .reg .b64 %rd<3>; .local .align 4 .b8 there[16];
  ld.param.u64 %rd1,[p]; ld.local.u32 %r5,[there]; ld.local.u32 %r6,[there+4];
  add.u32 %r7,%r1,%r2; add.u32 %r7,%r7,%r3; add.u32 %r7,%r7,%r5; add.u32 %r7,%r7,%r6; add.u32 %r7,%r7,%r8;
  red.global.add.u32 [%rd1],%r7; ret;
})");
  for (const Schedule schedule : kSchedules)
    for (const unsigned threads : {1u, 2u}) {
      U32 out(1);
      const std::uint64_t address = h.buffer(out);
      for (const char* kernel : {"leave", "look"}) {
        LaunchSpec s = h.spec(kernel, 8, 64);
        h.set(s, address);
        s.schedule = schedule, s.threads = threads;
        execute(s, h.device);
        CHECK(out[0] == 7);
      }
      h.device.memory.remove(address);
    }
}

TEST_CASE("what a launch on one GPU found of memory is not taken to be known on another") {
  Harness h(kHeader + R"(.visible .entry k(.param .u64 p)
{
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1,[p]; ld.global.u32 %r1,[%rd1]; st.global.u32 [%rd1],%r1; ret;
})");
  U32 data(1);
  const auto address = reinterpret_cast<std::uint64_t>(data.data());
  h.device.memory.add({address, 4, "data", 0});
  h.device.load(h.module(), {}, 1);
  LaunchSpec s = h.spec("k", 1, 32);
  h.set(s, address);
  s.device = 0, s.visible = 1;
  execute(s, h.device);
  s.device = 1, s.visible = 2;
  CHECK(message(s, h.device).find("to which it has no peer access") != std::string::npos);
}

TEST_CASE("an instruction that cannot be executed ends the kernel that comes to it, by its name") {
  for (const std::string spelled :
       {"wgmma.fence.sync.aligned", "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16",
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes",
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes",
        "mma.sp.sync.aligned.m16n8k16", "tensormap.replace.tile.global_address.global.b1024.b64"}) {
    const Module m = parse(kHeader + ".visible .entry k(.param .u64 p)\n{ .reg .pred %p<2>; .reg .b64 %rd<2>;\n" +
                               "ld.param.u64 %rd1,[p]; setp.eq.u64 %p1,%rd1,0;\n@%p1 " + spelled + " %rd1;\nret; }",
                           "test.ptx", Unsupported::keep);
    Device device;
    device.load(m);
    LaunchSpec s;
    s.module = &m, s.kernel = m.find_function("k"), s.params.resize(8);
    CHECK(message(s, device).find("thread (0, 0, 0), test.ptx:7: instruction " + spelled + " is not supported") !=
          std::string::npos);
    s.params[0] = std::byte{1};  // nobody comes to it
    CHECK(message(s, device) == "no error");
  }
}
