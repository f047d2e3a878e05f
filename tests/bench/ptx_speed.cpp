#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "inputs/ptx/access_analysis.hpp"
#include "inputs/ptx/global_races.hpp"
#include "inputs/ptx/parser.hpp"
#include "inputs/ptx/record.hpp"

/// Speed of the PTX executor on a naive GEMM (one thread per element, the product kept in memory, as PolyBench writes it):
/// alone and with recording, in either schedule, and with recording into a trace file; on 1, 2, 4, ... threads, by the clock
/// and by the processor time of all threads. Usage: bench_ptx_speed [size] [trace.h5]

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

/// How the kernel is executed. In the default schedule `atoll record` interleaves blocks that can learn of each other, and
/// looks for races in either.
struct Way {
  const char* name;
  Schedule schedule;
  bool records, races;
};
constexpr Way kWays[] = {
    {"functional, in long turns", Schedule::long_turns, false, false},
    {"functional, in the default schedule", Schedule::interleaved, false, false},
    {"recording, in long turns, without races", Schedule::long_turns, true, false},
    {"recording, in long turns", Schedule::long_turns, true, true},
    {"recording, in the default schedule", Schedule::interleaved, true, true},
};
constexpr unsigned kRounds = 5;  // of all of them in turn; the best counts, as other programs may take the processor

struct Best {
  double rate = 0, processor = 0;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint32_t n = argc > 1 ? static_cast<std::uint32_t>(std::stoul(argv[1])) : 256;
  Module module = parse(kGemm, "gemm.ptx");
  analyse(module);  // which loads are of what the kernel only reads: these need no look for races
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

  GlobalRaces races;
  const auto measure = [&](const Way& way, Best& best, RecordSink* sink) {
    spec.schedule = way.schedule, spec.races = way.races ? &races : nullptr;
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t before = std::clock();
    const LaunchStats stats = execute(spec, device, sink);
    const double millions = static_cast<double>(stats.warp_instructions) / 1e6;
    best.rate = std::max(best.rate, millions / seconds_since(start));
    best.processor = std::max(best.processor, millions / (static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC));
  };
  for (unsigned threads = 1; threads <= std::thread::hardware_concurrency(); threads *= 2) {
    spec.threads = threads;
    std::vector<Best> best(std::size(kWays));
    for (unsigned round = 0; round < kRounds; ++round)
      for (std::size_t i = 0; i < std::size(kWays); ++i) {
        Nothing nothing;
        Recorder recorder(nothing);
        measure(kWays[i], best[i], kWays[i].records ? &recorder : nullptr);
      }
    for (std::size_t i = 0; i < std::size(kWays); ++i)
      std::printf("%-44s %2u threads %8.2f M warp instructions/s, %8.2f of processor time\n", kWays[i].name, threads,
                  best[i].rate, best[i].processor);
    if (argc <= 2) continue;
    const auto start = std::chrono::steady_clock::now();
    TraceWriter writer(argv[2], {"gemm", "bench_ptx_speed"});
    TraceOutput output(writer);
    Recorder to_file(output);
    Best file;
    measure(kWays[std::size(kWays) - 1], file, &to_file);
    writer.finish();
    std::printf("%-44s %2u threads %8.2f M warp instructions/s; %.2f s in all, %llu accesses\n", "recording to a file",
                threads, file.rate, seconds_since(start), static_cast<unsigned long long>(to_file.counts().accesses));
  }
}
