#include <doctest/doctest.h>

#include <map>

#include "harness.hpp"
#include "inputs/ptx/record.hpp"

namespace atl::ptx::record_test {

namespace {

/// Memory aligned to 4 KiB, so that accesses can be worked out by hand.
class Aligned {
 public:
  explicit Aligned(std::size_t bytes) : data_(bytes + 4096) {}
  std::uint64_t address() const { return (reinterpret_cast<std::uint64_t>(data_.data()) + 4095) / 4096 * 4096; }

 private:
  std::vector<std::byte> data_;
};

struct Kept final : RecordOutput {
  void begin_kernel(const KernelInfo& k) override { kernels.push_back(k); }
  void add_cta(const CtaProgram& c, const CtaColumns&) override { ctas.push_back(c); }
  void end_kernel(std::uint64_t count) override { ended.push_back(count); }
  std::vector<std::uint64_t> ended;
  std::vector<KernelInfo> kernels;
  std::vector<CtaProgram> ctas;
};

std::vector<atl::Op> memory_ops(const CtaProgram& cta, std::size_t warp) {
  std::vector<atl::Op> found;
  for (std::uint32_t n = 0; n < cta.warps[warp].count; ++n) {
    const atl::Op& op = cta.ops[cta.warps[warp].first + n];
    if (op.kind != OpKind::compute && op.kind != OpKind::exit) found.push_back(op);
  }
  return found;
}
std::vector<Access> accesses(const CtaProgram& cta, const atl::Op& op) {
  return {cta.accesses.begin() + op.first_access, cta.accesses.begin() + op.first_access + op.accesses};
}

const std::string kVectorAdd = kHeader + R"(
.visible .entry vadd(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u32 pn)
{
  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<12>; .reg .f32 %f<4>;
  ld.param.u64 %rd1,[pa]; ld.param.u64 %rd2,[pb]; ld.param.u64 %rd3,[pc]; ld.param.u32 %r1,[pn];
  mov.u32 %r2,%ctaid.x; mov.u32 %r3,%ntid.x; mov.u32 %r4,%tid.x; mad.lo.s32 %r5,%r2,%r3,%r4;
  setp.ge.s32 %p,%r5,%r1; @%p bra END;
  mul.wide.s32 %rd4,%r5,4; add.s64 %rd5,%rd1,%rd4; add.s64 %rd6,%rd2,%rd4; add.s64 %rd7,%rd3,%rd4;
  ld.global.nc.f32 %f1,[%rd5]; ld.global.f32 %f2,[%rd6]; add.f32 %f3,%f1,%f2; st.global.f32 [%rd7],%f3;
  END: ret;
})";

struct VectorAdd {
  VectorAdd() : h(kVectorAdd), a(4096), b(4096), c(4096) {
    for (const Aligned* m : {&a, &b, &c}) h.device.memory.add({m->address(), 4096, "vector"});
    spec = h.spec("vadd", 3, 64);
    h.set(spec, a.address(), b.address(), c.address(), 150);
  }
  Harness h;
  Aligned a, b, c;
  LaunchSpec spec;
};

}  // namespace

TEST_CASE("a recorder gets no events of a warp that fails, since the failing one has no addresses") {
  struct Counted final : RecordSink {
    void begin_kernel(const LaunchSpec&, const exec::Image&, const Device&) override {}
    bool wants(std::uint64_t) override { return true; }
    void events(std::uint64_t, std::uint32_t warp, std::span<const WarpEvent>, std::span<const std::uint64_t> a) override {
      addresses[warp] += a.size();
    }
    void end_cta(std::uint64_t) override { FAIL("no CTA ends"); }
    void end_kernel() override { FAIL("the kernel does not end"); }
    std::map<std::uint32_t, std::size_t> addresses;
  } sink;
  VectorAdd v;
  LaunchSpec spec = v.h.spec("vadd", 1, 64);
  v.h.set(spec, v.a.address(), v.b.address(), v.c.address() + 4096 - 32 * 4, 64);  // the second warp stores outside
  CHECK_THROWS_AS(execute(spec, v.h.device, &sink), ExecutionError);
  CHECK(sink.addresses == std::map<std::uint32_t, std::size_t>{{0, 3}});  // each a row of lanes
}

TEST_CASE("vectorAdd of 150 elements has exactly the accesses worked out by hand") {
  VectorAdd v;
  Kept kept;
  Recorder recorder(kept);
  execute(v.spec, v.h.device, &recorder);
  REQUIRE(kept.ctas.size() == 3);
  CHECK(kept.kernels[0].name == "vadd");
  CHECK(kept.kernels[0].grid[0] == 3);
  for (unsigned cta = 0; cta < 3; ++cta)
    for (unsigned warp = 0; warp < 2; ++warp) {
      const unsigned first = cta * 64 + warp * 32;
      const auto ops = memory_ops(kept.ctas[cta], warp);
      if (first >= 150) {  // all its threads are beyond the end
        CHECK(ops.empty());
        continue;
      }
      REQUIRE(ops.size() == 3);
      const unsigned sectors = first + 32 <= 150 ? 0xF : 0x7;  // the last warp has 22 elements: 88 bytes, 3 sectors
      const std::uint64_t offset = first * 4;
      CHECK(ops[0].kind == OpKind::load);
      CHECK(ops[0].flags == kReadOnly);
      CHECK(accesses(kept.ctas[cta], ops[0]) == std::vector{Access::make(v.a.address() + offset, sectors)});
      CHECK(ops[1].kind == OpKind::load);
      CHECK(ops[1].flags == 0);
      CHECK(accesses(kept.ctas[cta], ops[1]) == std::vector{Access::make(v.b.address() + offset, sectors)});
      CHECK(ops[2].kind == OpKind::store);
      CHECK(ops[2].flags == (sectors == 0xF ? 0 : kPartial));
      CHECK(accesses(kept.ctas[cta], ops[2]) == std::vector{Access::make(v.c.address() + offset, sectors)});
      // The add waits for both loads, the store for the add, by its latency.
      const CtaProgram& program = kept.ctas[cta];
      const WarpOps range = program.warps[warp];
      REQUIRE(range.count == 6);
      const atl::Op* op = &program.ops[range.first];
      CHECK(op[0].kind == OpKind::compute);
      CHECK(op[0].issue == 10);  // 3 moves, mad, setp, bra, mul, 3 adds
      CHECK(op[3].kind == OpKind::compute);
      CHECK(op[3].wait == (1u << op[1].slot | 1u << op[2].slot));
      CHECK(op[3].latency == 4);
      CHECK(op[5].kind == OpKind::exit);
    }
}

TEST_CASE("no load is marked read-only where arguments overlap") {
  VectorAdd v;
  v.spec.read_only_marks = false;
  Kept kept;
  Recorder recorder(kept);
  execute(v.spec, v.h.device, &recorder);
  for (const auto& op : memory_ops(kept.ctas[0], 0)) CHECK(op.flags == 0);
}

TEST_CASE("a three-point stencil touches the halo's blocks, and its shared tile without conflicts") {
  const std::string text = kHeader + R"(
.visible .entry stencil(.param .u64 pi, .param .u64 po)
{
  .shared .align 4 .b8 tile[128]; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<8>;
  ld.param.u64 %rd1,[pi]; ld.param.u64 %rd2,[po]; mov.u32 %r1,%tid.x; shl.b32 %r2,%r1,2;
  mul.wide.u32 %rd3,%r1,4; add.s64 %rd4,%rd1,%rd3; add.s64 %rd5,%rd2,%rd3;
  ld.global.f32 %f1,[%rd4+124]; ld.global.f32 %f2,[%rd4+128]; ld.global.f32 %f3,[%rd4+132];
  add.f32 %f4,%f1,%f2; add.f32 %f5,%f4,%f3; mov.u32 %r3,tile; add.s32 %r4,%r3,%r2; st.shared.f32 [%r4],%f5;
  bar.sync 0; sub.s32 %r5,124,%r2; add.s32 %r6,%r3,%r5; ld.shared.f32 %f6,[%r6];
  st.global.f32 [%rd5+128],%f6; ret;
})";
  Harness h(text);
  const Aligned in(4096), out(4096);
  for (const Aligned* m : {&in, &out}) h.device.memory.add({m->address(), 4096, "field"});
  LaunchSpec spec = h.spec("stencil", 1, 32);
  h.set(spec, in.address(), out.address());
  Kept kept;
  Recorder recorder(kept);
  execute(spec, h.device, &recorder);
  const CtaProgram& cta = kept.ctas.at(0);
  const auto ops = memory_ops(cta, 0);
  REQUIRE(ops.size() == 7);
  const std::uint64_t a = in.address();
  CHECK(accesses(cta, ops[0]) == std::vector{Access::make(a, 0x8), Access::make(a + 128, 0xF)});
  CHECK(accesses(cta, ops[1]) == std::vector{Access::make(a + 128, 0xF)});
  CHECK(accesses(cta, ops[2]) == std::vector{Access::make(a + 128, 0xF), Access::make(a + 256, 0x1)});
  CHECK(ops[3].kind == OpKind::shared);
  CHECK(ops[3].issue == 1);
  CHECK(ops[4].kind == OpKind::barrier);
  CHECK(ops[5].kind == OpKind::shared);
  CHECK(ops[5].slot != kNoSlot);
  CHECK(ops[6].kind == OpKind::store);
  CHECK(ops[6].wait == 1u << ops[5].slot);
  CHECK(accesses(cta, ops[6]) == std::vector{Access::make(out.address() + 128, 0xF)});
}

TEST_CASE("a sample is a kernel of its first CTAs, by number or by ops") {
  for (const bool by_ops : {false, true}) {
    VectorAdd v;
    Kept kept;
    RecordOptions options;
    if (by_ops)
      options.max_ops = 20;  // a CTA has 12 ops
    else
      options.max_ctas = 2;
    Recorder recorder(kept, options);
    execute(v.spec, v.h.device, &recorder);
    CHECK(kept.ctas.size() == 2);
    REQUIRE(kept.kernels.size() == 1);
    CHECK(kept.kernels[0].grid[0] == 3);
    CHECK(kept.ended == std::vector<std::uint64_t>{2});
    CHECK(recorder.counts().ctas == 2);
  }
}

TEST_CASE("of CTAs that take turns, those that a sample by ops will not have are kept no longer than that is known") {
  struct Counting final : RecordOutput {
    void begin_kernel(const KernelInfo&) override {}
    bool encode(std::span<const WarpView>, CtaColumns&) override { return ++encoded, false; }
    void add_cta(const CtaProgram&, const CtaColumns&) override {}
    void end_kernel(std::uint64_t count) override { ended = count; }
    std::uint64_t encoded = 0, ended = 0;
  };
  Harness h(kHeader + R"(
.visible .entry stores(.param .u64 p)
{
  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1,[p]; mov.u32 %r1,%ctaid.x; mul.wide.u32 %rd2,%r1,4; add.s64 %rd3,%rd1,%rd2; mov.u32 %r2,0;
  AGAIN: st.volatile.global.u32 [%rd3],%r2; add.u32 %r2,%r2,1; setp.lt.u32 %p,%r2,3000; @%p bra AGAIN;
  ret;
})");
  std::vector<std::uint32_t> out(32);
  LaunchSpec s = h.spec("stores", 32, 32);
  h.set(s, h.buffer(out));
  s.schedule = Schedule::interleaved;
  for (const auto& [max_ops, ctas] : {std::pair{100u, 1u}, {20000u, 4u}, {0u, 32u}}) {
    Counting output;
    Recorder recorder(output, {.max_ops = max_ops});
    execute(s, h.device, &recorder);
    CHECK(output.ended == ctas);
    CHECK(output.encoded == ctas);
  }
}

TEST_CASE("a sample may begin behind the first CTA") {
  VectorAdd v;
  Kept whole, kept;
  Recorder all(whole);
  execute(v.spec, v.h.device, &all);
  Recorder recorder(kept, {.max_ctas = 5, .first_cta = 1});
  execute(v.spec, v.h.device, &recorder);
  REQUIRE(kept.ctas.size() == 2);
  CHECK(kept.ctas[0].ops.size() == whole.ctas[1].ops.size());
  CHECK(kept.ctas[0].accesses[0].packed == whole.ctas[1].accesses[0].packed);
  CHECK(kept.ctas[0].accesses[0].packed != whole.ctas[0].accesses[0].packed);
  CHECK(kept.ended == std::vector<std::uint64_t>{2});
}

TEST_CASE("shared-memory accesses take as many passes as their worst bank has words") {
  const std::string text = kHeader + R"(
.visible .entry k()
{
  .shared .align 4 .b8 s[8192]; .reg .b32 %r<6>;
  mov.u32 %r1,%tid.x; shl.b32 %r2,%r1,8; mov.u32 %r3,s; add.s32 %r4,%r3,%r2; ld.shared.u32 %r5,[%r4]; ld.shared.u32 %r5,[%r3]; ret;
})";
  Harness h(text);
  Kept kept;
  Recorder recorder(kept);
  execute(h.spec("k", 1, 32), h.device, &recorder);
  const auto ops = memory_ops(kept.ctas.at(0), 0);
  REQUIRE(ops.size() == 2);
  CHECK(ops[0].issue == 32);
  CHECK(ops[1].issue == 1);
}

TEST_CASE("lanes of one access in several memories are an access to each, and the one to global memory gives the result") {
  Harness h(kHeader + R"(
.visible .entry k(.param .u64 p)
{
  .shared .align 16 .b8 s[128]; .local .align 16 .b8 l[16];
  .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<10>;
  ld.param.u64 %rd1,[p]; mov.u32 %r1,%tid.x; mul.wide.u32 %rd2,%r1,4; add.s64 %rd3,%rd1,%rd2;
  mov.u64 %rd4,s; cvta.shared.u64 %rd5,%rd4; add.s64 %rd5,%rd5,%rd2; mov.u64 %rd6,l; cvta.local.u64 %rd7,%rd6;
  setp.lt.u32 %p1,%r1,16; selp.u64 %rd8,%rd5,%rd3,%p1; setp.eq.u32 %p2,%r1,31; selp.u64 %rd9,%rd7,%rd8,%p2;
  ld.u32 %r2,[%rd9]; st.global.u32 [%rd3],%r2; ret;
})");
  const Aligned memory(4096);
  h.device.memory.add({memory.address(), 4096, "memory"});
  LaunchSpec spec = h.spec("k", 2, 32);  // the second block is recorded after what was kept of the first
  h.set(spec, memory.address());
  Kept kept;
  Recorder recorder(kept);
  execute(spec, h.device, &recorder);
  for (const CtaProgram& cta : kept.ctas) {
    const auto ops = memory_ops(cta, 0);
    REQUIRE(ops.size() == 4);
    CHECK(ops[0].kind == OpKind::shared);
    CHECK(ops[1].kind == OpKind::load);  // of local memory
    CHECK(ops[2].kind == OpKind::load);
    CHECK(accesses(cta, ops[2]) == std::vector{Access::make(memory.address(), 0xC)});
    CHECK(ops[3].kind == OpKind::store);
    CHECK(accesses(cta, ops[3]) == std::vector{Access::make(memory.address(), 0xF)});
  }
}

TEST_CASE("asynchronous copies are loads that the wait for their group waits for") {
  const std::string text = kHeader + R"(
.visible .entry k(.param .u64 pi, .param .u64 po)
{
  .shared .align 16 .b8 s[1024]; .reg .b32 %r<8>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1,[pi]; ld.param.u64 %rd2,[po]; mov.u32 %r1,%tid.x; mul.wide.u32 %rd3,%r1,16; add.s64 %rd4,%rd1,%rd3;
  shl.b32 %r2,%r1,4; mov.u32 %r3,s; add.s32 %r4,%r3,%r2;
  cp.async.cg.shared.global [%r4], [%rd4], 16; cp.async.commit_group;
  cp.async.ca.shared.global [%r4+512], [%rd4+512], 16; cp.async.commit_group;
  cp.async.wait_group 1; ld.shared.u32 %r5,[%r4+4]; cp.async.wait_group 0; ld.shared.u32 %r6,[%r4+516];
  add.s32 %r5,%r5,%r6; mul.wide.u32 %rd5,%r1,4; add.s64 %rd6,%rd2,%rd5; st.global.u32 [%rd6],%r5; ret;
})";
  Harness h(text);
  const Aligned in(4096), out(4096);
  for (const Aligned* m : {&in, &out}) h.device.memory.add({m->address(), 1024, "buffer"});
  auto* words = reinterpret_cast<std::uint32_t*>(in.address());
  for (std::uint32_t n = 0; n < 256; ++n) words[n] = n;
  LaunchSpec spec = h.spec("k", 1, 32);
  h.set(spec, in.address(), out.address());
  Kept kept;
  Recorder recorder(kept);
  execute(spec, h.device, &recorder);
  for (std::uint32_t t = 0; t < 32; ++t)
    CHECK(reinterpret_cast<std::uint32_t*>(out.address())[t] == 4 * t + 1 + 128 + 4 * t + 1);
  const auto ops = memory_ops(kept.ctas.at(0), 0);
  REQUIRE(ops.size() == 5);
  CHECK(ops[0].kind == OpKind::load);
  CHECK(ops[0].accesses == 4);
  CHECK(ops[0].flags == kBypassL1);
  const CtaProgram& cta = kept.ctas[0];
  std::vector<std::uint32_t> waits;
  for (std::uint32_t n = 0; n < cta.warps[0].count; ++n)
    if (cta.ops[n].wait != 0) waits.push_back(cta.ops[n].wait);
  REQUIRE(waits.size() >= 2);
  CHECK(waits[0] == 1u << ops[0].slot);
  CHECK(waits[1] == 1u << ops[1].slot);
}

TEST_CASE("surface accesses are loads and stores at their texels, and those behind them keep their addresses") {
  const std::string text = kHeader + R"(
.visible .entry k(.param .u64 ps, .param .u64 pg)
{
  .reg .b32 %r<6>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1,[ps]; ld.param.u64 %rd2,[pg]; mov.u32 %r1,%tid.x; shl.b32 %r2,%r1,2; mov.u32 %r3,1;
  suld.b.2d.b32.trap {%r4}, [%rd1, {%r2, %r3}];
  mul.wide.u32 %rd3,%r1,4; add.s64 %rd4,%rd2,%rd3; ld.global.u32 %r5,[%rd4]; add.s32 %r4,%r4,%r5;
  mov.u32 %r3,2; sust.b.2d.b32.trap [%rd1, {%r2, %r3}], {%r4}; ret;
})";
  Harness h(text);
  const Aligned image(4096), plain(4096);
  for (const Aligned* m : {&image, &plain}) h.device.memory.add({m->address(), 4096, "memory"});
  Texture surface;
  surface.address = image.address(), surface.width = 32, surface.height = 4, surface.pitch = 128, surface.type = Type::u32;
  h.device.surfaces[1] = surface;
  LaunchSpec spec = h.spec("k", 1, 32);
  h.set(spec, std::uint64_t{1}, plain.address());
  for (std::uint32_t n = 0; n < 32; ++n) {
    reinterpret_cast<std::uint32_t*>(image.address())[32 + n] = n;
    reinterpret_cast<std::uint32_t*>(plain.address())[n] = 1000;
  }
  Kept kept;
  Recorder recorder(kept);
  execute(spec, h.device, &recorder);
  CHECK(reinterpret_cast<std::uint32_t*>(image.address())[64 + 31] == 1031);
  const CtaProgram& cta = kept.ctas.at(0);
  const auto ops = memory_ops(cta, 0);
  REQUIRE(ops.size() == 3);
  CHECK(ops[0].kind == OpKind::load);
  CHECK(accesses(cta, ops[0]) == std::vector{Access::make(image.address() + 128, 0xF)});
  CHECK(accesses(cta, ops[1]) == std::vector{Access::make(plain.address(), 0xF)});
  CHECK(ops[2].kind == OpKind::store);
  CHECK(ops[2].flags == 0);
  CHECK(accesses(cta, ops[2]) == std::vector{Access::make(image.address() + 256, 0xF)});
}

TEST_CASE("parts of a warp that come to one barrier by two ways record it once, and go on as one") {
  Harness h(kHeader + R"(
.visible .entry k(.param .u64 po)
{
  .reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1,[po]; mov.u32 %r1,%tid.x; setp.eq.u32 %p1,%r1,0; setp.eq.u32 %p2,%r1,99;
  mul.wide.u32 %rd2,%r1,4; add.s64 %rd3,%rd1,%rd2;
  @%p1 bra A;
  @%p2 bra END;
  X: bar.sync 0; st.global.u32 [%rd3],%r1; bra END;
  A: mov.u32 %r2,1; @%p2 bra END; bra X;
  END: ret;
})");
  U32 out(64);
  LaunchSpec spec = h.spec("k", 1, 64);
  h.set(spec, h.buffer(out));
  Kept kept;
  Recorder recorder(kept);
  execute(spec, h.device, &recorder);
  for (std::size_t warp = 0; warp < 2; ++warp) {
    const auto ops = memory_ops(kept.ctas.at(0), warp);
    REQUIRE(ops.size() == 2);
    CHECK(ops[0].kind == OpKind::barrier);
    CHECK(ops[1].kind == OpKind::store);
  }
}

TEST_CASE("constants and parameters that are read by address have no accesses, and those behind them keep theirs") {
  const std::string text = kHeader + R"(
.const .align 4 .b32 table[32];
.visible .entry k(.param .u64 pg, .param .u32 pn)
{
  .reg .b32 %r<8>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1,[pg]; mov.u32 %r1,%tid.x; mul.wide.u32 %rd2,%r1,4;
  mov.u64 %rd3,table; add.s64 %rd4,%rd3,%rd2; ld.const.u32 %r2,[%rd4]; ld.const.u32 %r3,[table+4];
  mov.b64 %rd5,pn; ld.param.u32 %r4,[%rd5];
  add.s64 %rd6,%rd1,%rd2; ld.global.u32 %r5,[%rd6]; add.s32 %r2,%r2,%r3; add.s32 %r2,%r2,%r4; add.s32 %r2,%r2,%r5;
  st.global.u32 [%rd6+1024],%r2; ret;
})";
  Harness h(text);
  const Aligned memory(4096);
  h.device.memory.add({memory.address(), 4096, "memory"});
  LaunchSpec spec = h.spec("k", 1, 32);
  h.set(spec, memory.address(), 7);
  auto* const words = reinterpret_cast<std::uint32_t*>(memory.address());
  for (std::uint32_t n = 0; n < 32; ++n) words[n] = n;
  Kept kept;
  Recorder recorder(kept);
  execute(spec, h.device, &recorder);
  CHECK(words[256 + 31] == 31 + 7);
  const CtaProgram& cta = kept.ctas.at(0);
  const auto ops = memory_ops(cta, 0);
  REQUIRE(ops.size() == 2);
  CHECK(ops[0].kind == OpKind::load);
  CHECK(accesses(cta, ops[0]) == std::vector{Access::make(memory.address(), 0xF)});
  CHECK(ops[1].kind == OpKind::store);
  CHECK(accesses(cta, ops[1]) == std::vector{Access::make(memory.address() + 1024, 0xF)});
}

}  // namespace atl::ptx::record_test
