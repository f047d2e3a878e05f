#include <set>

#include "random_programs.hpp"

namespace atl {
namespace {

using namespace test;

/// SAC on a machine whose links are so slow that SM-side caching wins wherever requests hit; the directory samples all sets.
SystemConfig switching(std::uint32_t chips) {
  SystemConfig c = tiny(chips);
  c.llc.organisation = LlcOrganisation::sac;
  c.sac.window_cycles = 1000, c.sac.crd_ways = 4, c.sac.crd_sets = 128;
  c.control.latency_cycles = 100;
  c.partition.placement = Placement::interleaved;
  c.link.bandwidth_gbps = 1;
  return c;
}

/// Chip 1 writes `lines` lines of both chips, then reads them again and again. Neighbouring pages, which have the same
/// number at their homes, are not asked for the same slice.
ScriptedWorkload write_then_read_on(std::uint32_t lines, int rounds) {
  ScriptedWorkload w;
  w.kernel(2);
  for (std::uint64_t i = 0; i < lines; ++i) w.warp(1).store(i * 4096 + i % 2 * 256);
  for (int r = 0; r < rounds; ++r)
    for (std::uint64_t i = 0; i < lines; ++i) w.warp(1).after({0}).load(i * 4096 + i % 2 * 256, 0).past_l1();
  return w;
}

/// When chip 1's SMs were held up, and what reached memory meanwhile.
struct ChangeLog : ChipObserver {
  std::set<std::uint64_t> written_back;
  Cycle paused = 0, resumed = 0, last_control = 0;
  std::uint64_t sent_while_paused = 0, remote_bypasses = 0;
  void on_event(const Context& c, const Event& e) override {
    if (c.chip == 1) {
      if (c.paused && paused == 0) paused = last_control;
      if (!c.paused && paused != 0 && resumed == 0) resumed = last_control;
      if (e.kind == EventKind::control) last_control = c.now();
    }
    if (c.paused && e.kind == EventKind::dram_done && e.packet.kind == PacketKind::writeback)
      written_back.insert(e.packet.line.value);
  }
  void on_l1_load(const Context& c, std::uint32_t, LineAddr, std::uint8_t, L1Outcome) override {
    sent_while_paused += c.paused;
  }
  void on_l1_store(const Context& c, std::uint32_t, LineAddr) override { sent_while_paused += c.paused; }
  void on_llc_lookup(const Context& c, std::uint32_t, const Packet& p, LlcOutcome o) override {
    remote_bypasses += o == LlcOutcome::bypass && p.source != c.chip;
  }
};

TEST_CASE("before SM-side caching begins every dirty line of the memory-side LLC is in memory, and SMs send nothing") {
  constexpr std::uint32_t kLines = 8;
  ScriptedWorkload w = write_then_read_on(kLines, 40);
  ChangeLog log;
  const RunResult r = run(switching(2), w, &log);
  REQUIRE(r.decisions.size() == 1);
  CHECK(r.decisions[0].choice == "sm_side");
  CHECK(log.written_back.size() == kLines);
  CHECK(log.paused > r.decisions[0].cycle);
  CHECK(log.resumed > log.paused);
  CHECK(log.sent_while_paused == 0);
  CHECK(log.remote_bypasses > 0);  // reads went past the home's tags to the memory that holds the data
}

TEST_CASE("a change takes three messages to the controller and back besides draining and writing back") {
  ScriptedWorkload w = write_then_read_on(8, 40);
  SystemConfig config = switching(2);
  ChangeLog log;
  const RunResult r = run(config, w, &log);
  const Cycle control = config.control.latency_cycles;
  CHECK(log.paused == r.decisions[0].cycle + 2 * control);  // report, decision
  CHECK(log.resumed >= log.paused + 4 * control);           // paused, empty; emptied, resume
  CHECK(log.resumed <= log.paused + 4 * control + 2000);    // at most 17 requests were under way
}

TEST_CASE("reports of the profile that come while the chips drain or resume decide nothing") {
  for (std::uint32_t window = 100; window < 1000; window += 75) {
    CAPTURE(window);
    SystemConfig config = switching(2);
    config.sac.window_cycles = window;  // shorter than draining takes, at any phase to it
    config.sac.threshold = 0;
    ScriptedWorkload w = write_then_read_on(8, 60);
    const RunResult r = run(config, w);
    CHECK(r.decisions.size() == 1);
  }
}

TEST_CASE("after the kernel SAC is memory-side again: nothing is left in the LLC, and the next kernel profiles anew") {
  ScriptedWorkload w = write_then_read_on(8, 40);
  w.kernel(2);
  w.warp(1).load(0, 0);
  const RunResult r = run(switching(2), w);
  REQUIRE(r.kernels.size() == 2);
  CHECK(total(r, Counter::llc_flushed_lines) == 16);  // 8 dirty ones at the change, what chip 1 read since at the end
  CHECK(total(r, Counter::dram_reads) == 9);
}

TEST_CASE("a chip without work takes part in a change, and the kernel ends as SM-side kernels do") {
  ScriptedWorkload w = write_then_read_on(8, 60);  // chip 0 has an empty CTA
  const RunResult r = run(switching(2), w);
  REQUIRE(r.decisions.size() == 1);
  CHECK(r.decisions[0].choice == "sm_side");
  CHECK(r.complete);
}

TEST_CASE("switching to and fro in the middle of kernels loses no request, at any moment") {
  std::size_t to_sm_side = 0, back = 0;
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    SystemConfig c = switching(2 + seed % 3);
    c.sac.window_cycles = 200 + 37 * seed, c.sac.reprofile_cycles = 300 + 61 * seed, c.sac.threshold = 0;
    c.link.bandwidth_gbps = 4;
    c.llc.size_kib = 16, c.sac.crd_sets = 32;
    ScriptedWorkload w = random_workload(c, {.kernels = 2, .ctas_per_chip = 8, .ops = 60, .lines = 100}, seed);
    const RunResult r = run(c, w);
    CHECK(r.complete);
    for (const Decision& d : r.decisions) to_sm_side += d.choice == "sm_side", back += d.choice == "profile";
  }
  CHECK(to_sm_side > 30);
  CHECK(back > 30);
}

}  // namespace
}  // namespace atl
