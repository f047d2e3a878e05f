// Random and adversarial programs on random machines, under the consistency checker: by hand, for as long as one likes.
// Prints what was checked, by organisation, protocol and replication; a violation with its seed, which repeats it.
#define DOCTEST_CONFIG_DISABLE
#include <CLI/CLI.hpp>
#include <chrono>
#include <map>

#include "../../unit/chip/coherence_stress.hpp"

using namespace atl;
using namespace atl::test;

namespace {

struct Row {
  std::uint64_t runs = 0, violations = 0;
  ConsistencyChecker::Counts sum;
};

void add(ConsistencyChecker::Counts& a, const ConsistencyChecker::Counts& b) {
  a.checked += b.checked, a.unchecked += b.unchecked, a.slices += b.slices, a.endings += b.endings, a.copies += b.copies,
      a.sharers_compared += b.sharers_compared;
  a.forwarded += b.forwarded, a.merged += b.merged, a.l1_merged += b.l1_merged, a.recalled += b.recalled;
}

void print(const std::string& name, const Row& r) {
  fmt::print("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", name, r.runs, r.sum.checked, r.sum.slices,
             r.sum.endings, r.sum.sharers_compared, r.sum.unchecked, r.sum.forwarded + r.sum.recalled,
             r.sum.merged + r.sum.l1_merged, r.violations);
}

/// Runs one program, and looks at the machine and the memory that it leaves behind.
void check(const StressCase& s, std::uint32_t seed, ConsistencyChecker& checker) {
  validate(s.system);
  ScriptedWorkload w = stress_workload(s.system, s.shape, seed);
  SerialTransport transport;
  SimulationOptions options;
  options.prepare_chip = [&](Chip& chip) { checker.watch(chip); };
  options.inspect_chip = [](Chip& chip) {
    if (!chip.drained()) throw SimulationError(fmt::format("chip {} is not at rest after the run", chip.id()));
  };
  simulate(transport, s.system, w, RankMap::spread(s.system.chips, 1), options);
  checker.check_final_image();
}

}  // namespace

int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape): what it throws ends it, with its words
  double seconds = 60;
  std::uint32_t seed = 1, ops = 100, step = 1;
  std::size_t notes = 10;
  std::uint64_t runs = ~std::uint64_t{0}, violations = 0;
  std::string only;
  CLI::App app("Stress of coherence");
  app.add_option("--seconds", seconds, "for so long");
  app.add_option("--runs", runs, "at most so many programs");
  app.add_option("--seed", seed, "the first");
  app.add_option("--step", step, "from one seed to the next");
  app.add_option("--ops", ops, "per warp and kernel");
  app.add_option("--only", only, "machines whose name has this part");
  app.add_option("--notes", notes, "last events of a line, for a violation");
  CLI11_PARSE(app, argc, argv);

  std::map<std::string, Row> rows;
  Row all;
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  const std::uint32_t first = seed;
  for (; runs-- != 0 && elapsed() < seconds; seed += step) {
    StressCase s = stress_case(seed);
    if (s.name.find(only) == std::string::npos) continue;
    s.shape.ops = ops;
    Row& row = rows[s.name];
    ++row.runs;
    ConsistencyChecker checker;
    checker.notes_kept = notes;
    try {
      check(s, seed, checker);
    } catch (const std::exception& e) {
      ++row.violations, ++violations;
      fmt::print("seed {}, {}, {} chips: {}\n\n", seed, s.name, s.system.chips, e.what());
      if (violations == 10) break;
    }
    add(row.sum, checker.counts());
  }
  fmt::print(
      "| machine | programs | sectors read | sectors in slices | invalidations | writes at homes | not known | forwarded | "
      "merged | violations |\n|---|---|---|---|---|---|---|---|---|---|\n");
  for (const auto& [name, row] : rows) {
    print(name, row);
    all.runs += row.runs, all.violations += row.violations;
    add(all.sum, row.sum);
  }
  print("all", all);
  fmt::print("\nseeds {} to {} by {}, {:.0f} s, {} checked operations\n", first, seed - step, step, elapsed(),
             all.sum.checked + all.sum.slices + all.sum.endings + all.sum.copies + all.sum.sharers_compared);
  return violations != 0;
}
