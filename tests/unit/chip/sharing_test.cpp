#include "core/control/sharing.hpp"

#include <map>
#include <random>
#include <set>

#include "core/chip/observe/line_log.hpp"
#include "random_programs.hpp"
#include "tests/unit/inputs_workload/footprint.hpp"

namespace atl::sharing_test {
namespace {

using namespace test;

constexpr Cycle kEpoch = 1000;           // windows of 10, 50, 100, 500 and 1000 cycles
constexpr std::uint32_t kPageShift = 3;  // 8 lines
constexpr std::uint32_t kLine = 128;

struct Step {
  Cycle cycle;
  std::uint32_t chip;
  std::uint64_t line;
};

/// Logs of accesses made by hand, closed.
std::vector<SharingLog> logs_of(std::uint32_t chips, const std::vector<Step>& steps) {
  std::vector<SharingLog> logs(chips, SharingLog(kEpoch));
  for (const Step& s : steps) logs[s.chip].add(s.cycle, {s.line});
  for (SharingLog& log : logs) log.close();
  return logs;
}

WindowedBytes epoch(std::vector<SharingLog>& logs, std::size_t e) {
  std::vector<std::string> texts;
  for (SharingLog& log : logs) texts.push_back(e < log.epochs().size() ? log.epochs()[e] : "");
  return classify(texts, kPageShift, kLine);
}

SharedBytes footprint(const std::vector<SharingLog>& logs) {
  std::vector<std::string> texts;
  for (const SharingLog& log : logs) texts.push_back(log.footprint());
  return classify(texts, kPageShift, kLine).back();
}

SharedBytes lines(std::uint64_t truly, std::uint64_t copies, std::uint64_t falsely, std::uint64_t unshared) {
  return {truly * kLine, copies * kLine, falsely * kLine, unshared * kLine};
}

TEST_CASE("a line of several chips is truly shared, one beside another chip's line falsely, one alone in its page not") {
  const auto logs = logs_of(4, {{0, 0, 0},     // page 0: chips 0, 1 and 3 share line 0,
                                {5, 1, 0},     //
                                {7, 3, 0},     //
                                {7, 3, 7},     // and line 7 is chip 3's: false
                                {8, 2, 8},     // page 1: chip 2 alone
                                {9, 2, 9},     //
                                {9, 1, 16},    // page 2: two chips, two lines, both false
                                {9, 0, 17}});  //
  CHECK(footprint(logs) == lines(1, 3, 3, 2));
}

TEST_CASE("a chip's own truly shared line makes no line of its own false, another chip's line does") {
  CHECK(footprint(logs_of(2, {{0, 0, 0}, {1, 1, 0}, {2, 0, 1}})) == lines(1, 2, 1, 0));
  CHECK(footprint(logs_of(2, {{0, 0, 0}, {1, 0, 1}, {2, 0, 0}})) == lines(0, 0, 0, 2));
}

TEST_CASE("a line counts in each window that had not ended at its first access, and later accesses change nothing") {
  auto logs = logs_of(2, {{9, 0, 0}, {10, 0, 1}, {49, 0, 2}, {50, 0, 3}, {99, 0, 4}, {499, 0, 5}, {500, 0, 6}, {999, 0, 0}});
  const WindowedBytes w = epoch(logs, 0);
  for (std::size_t i = 0; i < kSharingWindows; ++i) CHECK(w[i] == lines(0, 0, 0, std::array{1u, 3u, 5u, 6u, 7u}[i]));
}

TEST_CASE("what kind of sharing it is follows from the accesses of the same window") {
  auto logs = logs_of(3, {{3, 0, 0}, {20, 1, 1}, {70, 1, 0}, {800, 2, 0}});
  const WindowedBytes w = epoch(logs, 0);
  CHECK(w[0] == lines(0, 0, 0, 1));
  CHECK(w[1] == lines(0, 0, 2, 0));
  CHECK(w[2] == lines(1, 2, 1, 0));
  CHECK(w[3] == lines(1, 2, 1, 0));
  CHECK(w[4] == lines(1, 3, 1, 0));
}

TEST_CASE("every epoch begins anew, the footprint does not, and epochs without accesses are empty") {
  auto logs = logs_of(2, {{999, 0, 0}, {1000, 1, 0}, {1009, 1, 1}, {4005, 0, 0}, {4005, 1, 0}});
  CHECK(logs[0].epochs().size() == 5);
  CHECK(epoch(logs, 0) == WindowedBytes{SharedBytes{}, {}, {}, {}, lines(0, 0, 0, 1)});
  CHECK(epoch(logs, 1)[0] == lines(0, 0, 0, 2));
  CHECK(epoch(logs, 2) == WindowedBytes{});
  CHECK(epoch(logs, 4)[0] == lines(1, 2, 0, 0));
  CHECK(footprint(logs) == lines(1, 2, 1, 0));

  SharingResult r;
  r.epoch_cycles = kEpoch;
  for (std::size_t e = 0; e < 5; ++e) r.epochs.push_back(epoch(logs, e));
  const SharingMean mean = mean_of_epochs(r);
  CHECK(mean.epochs == 3);
  CHECK(mean.bytes[0].unshared == 2 * kLine / 3);
  CHECK(mean.bytes[4].truly_copies == 2 * kLine / 3);
  CHECK(mean.bytes[4].unshared == 3 * kLine / 3);
}

TEST_CASE("random accesses of 64 chips are classified as by counting them in maps") {
  std::mt19937 random(7);
  std::vector<Step> steps;
  std::map<std::uint64_t, std::map<std::uint64_t, std::set<std::uint32_t>>> pages[kSharingWindows];  // page, line: chips
  for (Cycle cycle = 0; cycle < kEpoch; ++cycle) {
    for (int i = 0; i < 20; ++i) {
      const Step s{cycle, static_cast<std::uint32_t>(random() % 64), random() % 16 == 0 ? random() % 40 : random() % 20'000};
      steps.push_back(s);
      for (std::size_t w = 0; w < kSharingWindows; ++w)
        if (cycle < sharing_window(kEpoch, w)) pages[w][s.line >> kPageShift][s.line].insert(s.chip);
    }
  }
  WindowedBytes wanted;
  for (std::size_t w = 0; w < kSharingWindows; ++w) {
    for (const auto& [page, of_page] : pages[w]) {
      std::set<std::uint32_t> all;
      for (const auto& [line, chips] : of_page) all.insert(chips.begin(), chips.end());
      for (const auto& [line, chips] : of_page) {
        if (chips.size() > 1) wanted[w].truly += kLine, wanted[w].truly_copies += kLine * chips.size();
        if (chips.size() == 1) (all.size() > 1 ? wanted[w].falsely : wanted[w].unshared) += kLine;
      }
    }
    CHECK(wanted[w].truly * wanted[w].falsely * wanted[w].unshared > 0);
  }
  auto logs = logs_of(64, steps);
  CHECK(epoch(logs, 0) == wanted);
}

SystemConfig observed(std::uint32_t chips) {
  SystemConfig c = tiny(chips);
  c.partition.placement = Placement::first_touch;
  c.observe.sharing = true;
  c.observe.sharing_window_cycles = 2000;
  return c;
}

TEST_CASE("the footprint of regions of known size and sharing is their sizes") {
  const auto w = open_text(R"({"kernels": [
      {"ctas": 64, "warps_per_cta": 4, "memory_instructions": 64, "regions": [
        {"name": "T", "kind": "true_shared", "size_kib": 512, "pattern": "stream", "write_fraction": 0.2}]},
      {"ctas": 64, "warps_per_cta": 4, "memory_instructions": 32, "regions": [
        {"name": "F", "kind": "false_shared", "size_kib": 1024, "pattern": "stream", "atomic_fraction": 0.2}]},
      {"ctas": 64, "warps_per_cta": 4, "memory_instructions": 64, "repeat": 2, "regions": [
        {"name": "N", "kind": "private", "size_kib": 2048, "pattern": "stream"}]}]})");
  const RunResult r = run(observed(4), *w);
  REQUIRE(r.sharing);
  CHECK(r.sharing->footprint == SharedBytes{512 << 10, 4 * 512 << 10, 1024 << 10, 2048 << 10});
  CHECK(r.sharing->epoch_cycles == 2000);
  CHECK(r.sharing->epochs.size() <= r.cycles / 2000 + 1);
  CHECK(mean_of_epochs(*r.sharing).epochs > 4);
}

TEST_CASE("the footprint is what the programs name, although hits stay in the L1, for lines of 128 and of 64 bytes") {
  for (const std::uint32_t line_bytes : {128u, 64u}) {
    for (const auto organisation : {LlcOrganisation::memory_side, LlcOrganisation::sm_side}) {
      SystemConfig config = observed(3);
      config.line_bytes = line_bytes, config.llc.organisation = organisation;
      ScriptedWorkload w =
          random_workload(config, {.kernels = 2, .ctas_per_chip = 6, .ops = 30, .lines = 900, .spread = 640}, 5);
      std::vector<std::set<std::uint64_t>> touched(3);
      CtaProgram cta;
      for (std::size_t k = 0; k < 2; ++k) {
        for (std::uint64_t id = 0; id < 18; ++id) {
          w.load_cta(k, id, cta);
          for (const Access& a : cta.accesses) {
            for (std::uint32_t s = 0; s < Access::kSectors; ++s)
              if ((a.sectors() >> s & 1) != 0) touched[id / 6].insert((a.block() * 128 + s * 32) / line_bytes);
          }
        }
      }
      std::vector<std::string> logs;
      for (const auto& lines : touched) {
        LineLogWriter log;
        for (const std::uint64_t line : lines) log.add({line}, 0);
        logs.push_back(log.take());
      }
      const Machine m(config);
      const SharedBytes wanted = classify(logs, m.page_shift, line_bytes).back();
      CHECK(wanted.truly * wanted.falsely > 0);
      const RunResult r = run(config, w);
      CHECK(total(r, Counter::l1_hits) > 0);
      CHECK(r.sharing->footprint == wanted);
    }
  }
}

TEST_CASE("watching the sharing changes nothing that is simulated, and without it there is no result of it") {
  SystemConfig config = observed(4);
  ScriptedWorkload w = random_workload(config, {.kernels = 2}, 9);
  const RunResult on = run(config, w);
  config.observe.sharing = false;
  const RunResult off = run(config, w);
  CHECK(on.digest == off.digest);
  CHECK(on.cycles == off.cycles);
  CHECK(on.provenance.events == off.provenance.events);
  CHECK(on.sharing);
  CHECK_FALSE(off.sharing);
}

}  // namespace
}  // namespace atl::sharing_test
