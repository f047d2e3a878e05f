#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "inputs/ptx/parser.hpp"
#include "inputs/ptx/record.hpp"

/// Speed of the PTX executor on a naive GEMM (one thread per element, the product kept in memory, as PolyBench writes it):
/// alone, with recording, and with recording into a trace file; on 1, 2, 4, ... threads. Usage: bench_ptx_speed [size]
/// [trace.h5]

using namespace atl;
using namespace atl::ptx;

namespace {

constexpr const char* kGemm = R"(.version 9.0
.target sm_75
.address_size 64
.visible .entry gemm(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u32 pn, .param .f32 palpha, .param .f32 pbeta)
{
  .reg .pred %p<4>; .reg .f32 %f<32>; .reg .b32 %r<16>; .reg .b64 %rd<32>;
  ld.param.u64 %rd1, [pa]; ld.param.u64 %rd2, [pb]; ld.param.u64 %rd3, [pc];
  ld.param.u32 %r1, [pn]; ld.param.f32 %f1, [palpha]; ld.param.f32 %f2, [pbeta];
  cvta.to.global.u64 %rd1, %rd1; cvta.to.global.u64 %rd2, %rd2; cvta.to.global.u64 %rd3, %rd3;
  mov.u32 %r2, %ntid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r3, %r2, %r4;
  mov.u32 %r2, %ntid.y; mov.u32 %r3, %ctaid.y; mov.u32 %r4, %tid.y; mad.lo.s32 %r6, %r3, %r2, %r4;
  setp.ge.s32 %p1, %r6, %r1; setp.ge.s32 %p2, %r5, %r1; or.pred %p3, %p1, %p2;
  @%p3 bra DONE;
  mul.lo.s32 %r7, %r6, %r1; add.s32 %r8, %r7, %r5;
  mul.wide.s32 %rd4, %r8, 4; add.s64 %rd5, %rd3, %rd4;
  ld.global.f32 %f3, [%rd5]; mul.f32 %f4, %f3, %f2; st.global.f32 [%rd5], %f4;
  mul.wide.s32 %rd6, %r7, 4; add.s64 %rd7, %rd1, %rd6;
  mul.wide.s32 %rd8, %r5, 4; add.s64 %rd9, %rd2, %rd8;
  mul.wide.s32 %rd10, %r1, 4;
  mov.u32 %r9, %r1;
LOOP:
  ld.global.f32 %f5, [%rd7]; mul.f32 %f6, %f5, %f1; ld.global.f32 %f7, [%rd9];
  fma.rn.f32 %f8, %f6, %f7, %f4; st.global.f32 [%rd5], %f8;
  ld.global.f32 %f9, [%rd7+4]; mul.f32 %f10, %f9, %f1; add.s64 %rd11, %rd9, %rd10; ld.global.f32 %f11, [%rd11];
  fma.rn.f32 %f12, %f10, %f11, %f8; st.global.f32 [%rd5], %f12;
  ld.global.f32 %f13, [%rd7+8]; mul.f32 %f14, %f13, %f1; add.s64 %rd12, %rd11, %rd10; ld.global.f32 %f15, [%rd12];
  fma.rn.f32 %f16, %f14, %f15, %f12; st.global.f32 [%rd5], %f16;
  ld.global.f32 %f17, [%rd7+12]; mul.f32 %f18, %f17, %f1; add.s64 %rd13, %rd12, %rd10; ld.global.f32 %f19, [%rd13];
  fma.rn.f32 %f4, %f18, %f19, %f16; st.global.f32 [%rd5], %f4;
  add.s64 %rd9, %rd13, %rd10; add.s64 %rd7, %rd7, 16; add.s32 %r9, %r9, -4;
  setp.gt.s32 %p1, %r9, 0;
  @%p1 bra LOOP;
DONE:
  ret;
}
)";

class Nothing final : public RecordOutput {
 public:
  void begin_kernel(const KernelInfo&) override {}
  void add_cta(const CtaProgram&) override {}
  void end_kernel(std::uint64_t) override {}
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint32_t n = argc > 1 ? static_cast<std::uint32_t>(std::stoul(argv[1])) : 256;
  const Module module = parse(kGemm, "gemm.ptx");
  Device device;
  device.load(module);
  std::vector<float> a(std::size_t{n} * n, 0.5F), b(a), c(a);
  LaunchSpec spec;
  spec.module = &module, spec.kernel = module.find_function("gemm");
  spec.grid = {(n + 31) / 32, (n + 7) / 8, 1}, spec.block = {32, 8, 1};
  spec.params.resize(module.functions[spec.kernel].param_block);
  std::size_t at = 0;
  for (std::vector<float>* v : {&a, &b, &c}) {
    const auto address = reinterpret_cast<std::uint64_t>(v->data());
    device.memory.add({address, v->size() * sizeof(float), "matrix"});
    std::memcpy(&spec.params[at], &address, 8), at += 8;
  }
  const float alpha = 1.5F, beta = 0.5F;
  std::memcpy(&spec.params[24], &n, 4), std::memcpy(&spec.params[28], &alpha, 4), std::memcpy(&spec.params[32], &beta, 4);

  const auto measure = [&](const char* what, RecordSink* sink) {
    const auto start = std::chrono::steady_clock::now();
    const LaunchStats stats = execute(spec, device, sink);
    std::printf("%-28s %2u threads %8.2f M warp instructions/s (%llu)\n", what, spec.threads,
                static_cast<double>(stats.warp_instructions) / seconds_since(start) / 1e6,
                static_cast<unsigned long long>(stats.warp_instructions));
  };
  measure("warming up", nullptr);
  for (unsigned threads = 1; threads <= std::thread::hardware_concurrency(); threads *= 2) {
    spec.threads = threads;
    measure("functional", nullptr);
    Nothing nothing;
    Recorder recorder(nothing);
    measure("with recording", &recorder);
    if (argc <= 2) continue;
    const auto start = std::chrono::steady_clock::now();
    TraceWriter writer(argv[2], {"gemm", "bench_ptx_speed"});
    TraceOutput output(writer);
    Recorder to_file(output);
    measure("with recording to a file", &to_file);
    writer.finish();
    std::printf("%.2f s in all, %llu accesses\n", seconds_since(start),
                static_cast<unsigned long long>(to_file.counts().accesses));
  }
}
