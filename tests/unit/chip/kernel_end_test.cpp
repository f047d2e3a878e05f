#include "run.hpp"

namespace atl {
namespace {

using namespace test;

constexpr std::uint32_t kLines = 20;

/// The cycle of the last write-back that reached memory.
struct WriteBackLog : ChipObserver {
  Cycle last = 0;
  std::uint64_t number = 0;
  void on_event(const Context& c, const Event& e) override {
    if (e.kind == EventKind::dram_done && e.packet.kind == PacketKind::writeback) last = c.now(), ++number;
  }
};

/// Chip 1 writes lines whose homes alternate, and reads them again in a second kernel.
RunResult write_then_read(LlcOrganisation organisation, ChipObserver* observer = nullptr) {
  SystemConfig config = tiny(2);
  config.llc.organisation = organisation;
  config.partition.placement = Placement::interleaved;
  ScriptedWorkload w;
  for (int kernel = 0; kernel < 2; ++kernel) {
    w.kernel(2);
    for (std::uint64_t i = 0; i < kLines; ++i) {
      kernel == 0 ? w.warp(1).store(i * 4096, 0x7) : w.warp(1).load(i * 4096, 0);
    }
  }
  return run(config, w, observer);
}

TEST_CASE("under SM-side caching dirty lines are in the memory of their homes before the kernel ends, and nothing stays") {
  WriteBackLog log;
  const RunResult r = write_then_read(LlcOrganisation::sm_side, &log);
  CHECK(log.number == kLines);
  CHECK(log.last <= r.kernels[0].finished);
  for (int chip = 0; chip < 2; ++chip) CHECK(r.chips[chip].totals[Counter::dram_write_bytes] == kLines / 2 * 3 * 32);
  CHECK(r.chips[1].totals[Counter::llc_flushed_lines] == 2 * kLines);
  // Second kernel: every line must come from memory again.
  CHECK(total(r, Counter::dram_read_bytes) == kLines * 128);
  CHECK(total(r, Counter::llc_hits) == 0);
}

TEST_CASE("a memory-side LLC keeps its lines from one kernel to the next") {
  const RunResult r = write_then_read(LlcOrganisation::memory_side);
  CHECK(total(r, Counter::dram_write_bytes) == 0);
  CHECK(total(r, Counter::dram_read_bytes) == 0);
  CHECK(total(r, Counter::llc_hits) == kLines);
  CHECK(total(r, Counter::llc_flushed_lines) == 0);
}

TEST_CASE("a kernel finds nothing in the L1s of what the kernel before has read") {
  ScriptedWorkload w;
  for (int kernel = 0; kernel < 2; ++kernel) {
    w.kernel(1);
    w.warp(0).load(0x10000, 0).after({0}).load(0x10000, 0);
  }
  const RunResult r = run(tiny(1), w);
  CHECK(total(r, Counter::l1_misses) == 2);
  CHECK(total(r, Counter::l1_hits) == 2);
  CHECK(total(r, Counter::llc_hits) == 1);
}

TEST_CASE("a kernel does not end before its stores are acknowledged") {
  ScriptedWorkload w;
  w.kernel(2);
  w.warp(1).store(0x10000);
  ResponseLog log;
  const RunResult r = run(tiny(2), w, &log);
  REQUIRE(log.responses.size() == 1);
  CHECK(r.kernels[0].finished == log.responses[0].cycle);
}

TEST_CASE("a load that nobody waits for fills before its kernel ends, and is flushed with it") {
  SystemConfig config = tiny(2);
  config.llc.organisation = LlcOrganisation::sm_side;
  ScriptedWorkload w;
  for (int kernel = 0; kernel < 2; ++kernel) {
    w.kernel(2);
    w.warp(1).load(0x10000);
  }
  ResponseLog log;
  const RunResult r = run(config, w, &log);
  REQUIRE(log.responses.size() == 2);
  CHECK(r.kernels[0].finished >= log.responses[0].cycle);
  CHECK(total(r, Counter::l1_misses) == 2);
  CHECK(total(r, Counter::llc_misses) == 2);
}

TEST_CASE("a kernel starts launch_latency_cycles after the one before ended") {
  ScriptedWorkload w;
  w.kernel(1);
  w.kernel(1);
  SystemConfig config = tiny(1);
  config.control.launch_latency_cycles = 5000;
  const RunResult r = run(config, w);
  CHECK(r.kernels[1].started == r.kernels[0].finished + 5000);
}

}  // namespace
}  // namespace atl
