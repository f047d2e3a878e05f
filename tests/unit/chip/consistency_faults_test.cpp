#include <fmt/format.h>

#include "chip_test_access.hpp"
#include "core/chip/observe/consistency_checker.hpp"
#include "run.hpp"

namespace atl {
namespace {

using namespace test;

// Machines that are broken on purpose: the checker must say which line, and what became of it.

constexpr std::uint64_t kAddress = 0x5100;  // of chip 1, when pages of 4 KiB alternate
constexpr LineAddr kLine{kAddress / 128};

/// A checker that breaks the machine which it watches.
struct Saboteur : ConsistencyChecker {
  std::vector<Chip*> chips;
};

/// What the checker finds; "" if nothing.
std::string report(const SystemConfig& config, Workload& workload, Saboteur& saboteur) {
  validate(config);
  SerialTransport transport;
  SimulationOptions options;
  options.prepare_chip = [&](Chip& chip) {
    chip.observe(&saboteur);
    saboteur.chips.push_back(&chip);
  };
  try {
    simulate(transport, config, workload, RankMap::spread(config.chips, 1), options);
    saboteur.check_final_image();
  } catch (const SimulationError& e) {
    return e.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

SystemConfig machine(LlcOrganisation organisation) {
  SystemConfig c = tiny(2);
  c.llc.organisation = organisation;
  c.partition.placement = Placement::interleaved;
  return c;
}

/// Chip 0 reads the line in the first kernel, chip 1 writes it in the second, chip 0 reads it in the third.
ScriptedWorkload read_write_read() {
  ScriptedWorkload w;
  w.kernel(2);
  w.warp(0).load(kAddress, 0);
  w.kernel(2);
  w.warp(1).store(kAddress);
  w.kernel(2);
  w.warp(0).load(kAddress, 0);
  return w;
}

/// Writes nothing back of the line when the LLC is flushed; only in the middle of kernels, or also at their end.
struct SkipsWriteBack : Saboteur {
  bool at_changes_only = false;
  void on_llc_flush(const Context& c, std::uint32_t, LineAddr line) override {
    if (line == kLine && (c.paused || !at_changes_only)) ChipTestAccess::clean(*chips[c.chip], line);
  }
};

TEST_CASE("a change to SM-side caching that does not write a line back is found by the next read of that line") {
  SystemConfig c = machine(LlcOrganisation::sac);
  c.sac.window_cycles = 1000, c.sac.crd_ways = 4, c.sac.crd_sets = 128, c.sac.threshold = 0;
  c.control.latency_cycles = 100;
  c.link.bandwidth_gbps = 1;  // SM-side caching promises more
  ScriptedWorkload w;
  w.kernel(2);
  for (std::uint64_t i = 0; i < 8; ++i) w.warp(0).store(i * 4096 + i % 2 * 256);
  for (int round = 0; round < 40; ++round)
    for (std::uint64_t i = 0; i < 8; ++i) w.warp(0).after({0}).load(i * 4096 + i % 2 * 256, 0).past_l1();
  SkipsWriteBack saboteur;
  saboteur.at_changes_only = true;
  const std::string text = report(c, w, saboteur);
  CAPTURE(text);
  CHECK(contains(text, "line 0x5100: cycle "));
  CHECK(contains(text, "SM 0 of chip 0 read version 0 of sector 0, but version 21 was visible to it"));
  CHECK(contains(text, "the last store, version 21, is of SM 0 of chip 0 in kernel 0"));
  CHECK(contains(text, " reads 0:0 1:0 2:0 3:0"));
  Saboteur harmless;
  CHECK(report(c, w, harmless) == "");
}

TEST_CASE("a line that is not written back at the end of an SM-side kernel is missing from the final image") {
  ScriptedWorkload w;
  w.kernel(2);
  w.warp(0).store(kAddress, 0x2);
  SkipsWriteBack saboteur;
  CHECK(contains(report(machine(LlcOrganisation::sm_side), w, saboteur),
                 "line 0x5100: after the run memory holds version 0 of sector 1 instead of 1"));
  Saboteur harmless;
  CHECK(report(machine(LlcOrganisation::sm_side), w, harmless) == "");
}

TEST_CASE("a line that an SM-side LLC keeps from one kernel to the next is found by the read that hits it") {
  struct KeepsLine : Saboteur {
    void on_kernel_start(const Context& c, std::uint64_t kernel) override {
      Saboteur::on_kernel_start(c, kernel);
      if (c.chip == 0 && kernel == 2) ChipTestAccess::keep(*chips[0], kLine, 1);
    }
  } saboteur;
  ScriptedWorkload w = read_write_read();
  const std::string text = report(machine(LlcOrganisation::sm_side), w, saboteur);
  CHECK(contains(text, "line 0x5100: cycle "));
  CHECK(contains(text,
                 "SM 0 of chip 0 read version 0 of sector 0, but version 1 was visible to it; the last store, version "
                 "1, is of SM 0 of chip 1 in kernel 1"));
  CHECK(contains(text, "chip 1: SM 0 stores 0:1 1:2 2:3 3:4"));
  Saboteur harmless;
  CHECK(report(machine(LlcOrganisation::sm_side), w, harmless) == "");
}

TEST_CASE("a line that an L1 keeps from one kernel to the next is found by the read that hits it") {
  struct KeepsLine : Saboteur {
    void on_kernel_start(const Context& c, std::uint64_t kernel) override {
      Saboteur::on_kernel_start(c, kernel);
      if (c.chip == 0 && kernel == 2) ChipTestAccess::keep_in_l1(*chips[0], 0, kLine);
    }
  } saboteur;
  ScriptedWorkload w = read_write_read();
  const std::string text = report(machine(LlcOrganisation::memory_side), w, saboteur);
  CHECK(contains(text, "line 0x5100: cycle "));
  CHECK(contains(text, "SM 0 of chip 0 read version 0 of sector 0, but version 1 was visible to it"));
  CHECK(contains(text, "chip 0: L1 of SM 0 holds 0:0 1:0 2:0 3:0"));
  Saboteur harmless;
  CHECK(report(machine(LlcOrganisation::memory_side), w, harmless) == "");
}

}  // namespace
}  // namespace atl
