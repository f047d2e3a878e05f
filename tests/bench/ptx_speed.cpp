#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "inputs/ptx/access_analysis.hpp"
#include "inputs/ptx/global_races.hpp"
#include "inputs/ptx/parser.hpp"
#include "inputs/ptx/record.hpp"

/// Speed of the PTX executor on a naive GEMM (one thread per element, the product kept in memory, as PolyBench writes it):
/// alone and with recording, in either schedule, and with recording into a trace file; on 1, 2, 4, ... threads. What is
/// compared takes turns, as other programs change what a processor has left. Usage: bench_ptx_speed [size] [trace.h5]
/// [rounds]

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
  void add_cta(const CtaProgram&, const CtaColumns&) override {}
  void end_kernel(std::uint64_t) override {}
};

constexpr std::size_t kAlignment = 256;  // of what cudaMalloc gives

struct Matrix {
  explicit Matrix(std::size_t elements)
      : bytes(elements * sizeof(float)),
        data(static_cast<float*>(std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment))) {
    std::fill_n(data.get(), elements, 0.5F);
  }
  struct Free {
    void operator()(float* p) const { std::free(p); }
  };
  std::size_t bytes;
  std::unique_ptr<float, Free> data;
};

/// Of several runs: seconds by the clock, and of all processors.
struct Runs {
  std::vector<double> wall, cpu;
};

double seconds(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <class F> void measure(Runs& runs, F f) {
  const double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
  f();
  runs.wall.push_back(seconds(CLOCK_MONOTONIC) - wall);
  runs.cpu.push_back(seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

/// How the kernel is executed. In the default schedule `atoll record` interleaves blocks that can learn of each other, and
/// looks for races in either.
struct Way {
  const char* name;
  Schedule schedule;
  bool records, races, to_file;
};
constexpr Way kWays[] = {
    {"functional", Schedule::interleaved, false, false, false},
    {"functional, long turns", Schedule::long_turns, false, false, false},
    {"recording", Schedule::interleaved, true, true, false},
    {"recording, long turns", Schedule::long_turns, true, true, false},
    {"recording, without races", Schedule::long_turns, true, false, false},
    {"to a file", Schedule::interleaved, true, true, true},
    {"to a file, without races", Schedule::long_turns, true, false, true},
};

/// `to`: what it is compared with, run by run.
void print(const char* what, unsigned threads, double instructions, const Runs& runs, const Runs& to) {
  const auto ratio = [](const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < a.size(); ++i) ratios.push_back(b[i] / a[i]);
    return 100 * median(ratios);
  };
  std::printf(
      "%-24s %2u threads: best %6.2f, median %6.2f M warp instructions/s, %3.0f %% of functional; of CPU time %3.0f %%\n",
      what, threads, instructions / *std::min_element(runs.wall.begin(), runs.wall.end()) / 1e6,
      instructions / median(runs.wall) / 1e6, ratio(runs.wall, to.wall), ratio(runs.cpu, to.cpu));
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint32_t n = argc > 1 ? static_cast<std::uint32_t>(std::stoul(argv[1])) : 256;
  Module module = parse(kGemm, "gemm.ptx");
  analyse(module);  // which loads are of what the kernel only reads: these need no look for races
  Device device;
  device.load(module);
  const unsigned rounds = argc > 3 ? std::max(1U, static_cast<unsigned>(std::stoul(argv[3]))) : 5;
  const std::size_t elements = std::size_t{n} * n;
  Matrix a(elements), b(elements), c(elements);
  LaunchSpec spec;
  spec.module = &module, spec.kernel = module.find_function("gemm");
  spec.grid = {(n + 31) / 32, (n + 7) / 8, 1}, spec.block = {32, 8, 1};
  spec.params.resize(module.functions[spec.kernel].param_block);
  std::size_t at = 0;
  for (const Matrix* m : {&a, &b, &c}) {
    const auto address = reinterpret_cast<std::uint64_t>(m->data.get());
    device.memory.add({address, m->bytes, "matrix"});
    std::memcpy(&spec.params[at], &address, 8), at += 8;
  }
  const float alpha = 1.5F, beta = 0.5F;
  std::memcpy(&spec.params[24], &n, 4), std::memcpy(&spec.params[28], &alpha, 4), std::memcpy(&spec.params[32], &beta, 4);

  const auto instructions = static_cast<double>(execute(spec, device).warp_instructions);
  GlobalRaces races;
  const auto run = [&](const Way& way) {
    spec.schedule = way.schedule, spec.races = way.races ? &races : nullptr;
    if (!way.records) {
      execute(spec, device);
    } else if (!way.to_file) {
      Nothing nothing;
      Recorder recorder(nothing);
      execute(spec, device, &recorder);
    } else {
      TraceWriter writer(argv[2], {"gemm", "bench_ptx_speed"}, trace_format::kCompression, spec.threads);
      TraceOutput output(writer);
      Recorder recorder(output);
      execute(spec, device, &recorder);
      writer.finish();
    }
  };
  for (unsigned threads = 1; threads <= std::thread::hardware_concurrency(); threads *= 2) {
    spec.threads = threads;
    std::vector<Runs> runs(std::size(kWays));
    for (unsigned round = 0; round < rounds; ++round)
      for (std::size_t i = 0; i < std::size(kWays); ++i)
        if (!kWays[i].to_file || argc > 2) measure(runs[i], [&] { run(kWays[i]); });
    for (std::size_t i = 0; i < std::size(kWays); ++i)
      if (!runs[i].wall.empty()) print(kWays[i].name, threads, instructions, runs[i], runs[0]);
  }
}
