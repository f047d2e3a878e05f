#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <memory>
#include <mutex>

#include "comm/agree.hpp"
#include "comm/mpi_transport.hpp"
#include "comm/thread_transport.hpp"
#include "core/app/commands.hpp"
#include "core/chip/consistency_checker.hpp"
#include "core/control/energy_model.hpp"
#include "core/control/simulation.hpp"
#include "core/stats/hdf5_result_writer.hpp"
#include "core/stats/summary.hpp"
#include "core/stats/version.hpp"
#include "inputs/config/dump.hpp"
#include "inputs/config/reader.hpp"

namespace atl {
namespace {

struct RunOptions {
  std::string system, workload, output, map;
  std::vector<std::string> sets;
  Cycle max_cycles = kNever;
  int threads = 1;
  unsigned scale = 1;
  bool force = false, quiet = false, check = false;
};

/// Rank 0 reads the configuration; the others get what it read, so that all simulate the same system.
SystemConfig shared_config(Transport& t, const RunOptions& o) {
  std::string text;
  together(t, [&] {
    if (t.rank() == 0) text = effective_json(read_system(o.system, o.sets));
  });
  t.broadcast(text, 0);
  return parse_effective(text);
}

/// A rank on another host may see another file under the same name. What the ranks must agree on is how much work there is.
void check_same_workload(Transport& t, const Workload& workload, const std::string& path) {
  Digest mine;
  for (const KernelInfo& k : workload.kernels()) {
    for (const char c : k.name) mine.add(static_cast<unsigned char>(c));
    mine.add(k.ctas(), std::uint64_t{k.threads()} << 32 | k.shared_bytes);
  }
  const auto all = t.all_gather(std::to_string(mine.value()));
  together(t, [&] {
    if (all[static_cast<std::size_t>(t.rank())] == all[0]) return;
    throw InputError(path,
                     fmt::format("rank {} sees other kernels in it than rank 0; give all hosts the same file", t.rank()));
  });
}

std::string check_line(const ConsistencyChecker::Counts& n) {
  return fmt::format(
      "check      {} sectors read by SMs and {} in slices, {} invalidations, {} writes at homes: no violation{}\n",
      n.checked, n.slices, n.endings, n.tracked,
      n.unchecked == 0 ? "" : fmt::format("; {} sectors read of which nothing is known", n.unchecked));
}

void run_on(Transport& t, const RunOptions& o, const std::string& command, const std::string& host) {
  const SystemConfig config = shared_config(t, o);
  std::optional<RankMap> map;
  together(t, [&] {
    const auto ranks = static_cast<std::uint32_t>(t.size());
    map = o.map.empty() ? RankMap::spread(config.chips, ranks) : RankMap::parse(o.map, config.chips, ranks);
  });
  const bool here = map->rank_of(config.chips) == static_cast<std::uint32_t>(t.rank());
  std::unique_ptr<Workload> workload;
  std::string digest;
  together(t, [&] {
    if (here && !o.output.empty()) check_output(o.output, o.force);
    workload = open_workload(o.workload, config.scale);
    if (here) digest = workload_digest(o.workload);  // now: the file may change during the run
  });
  check_same_workload(t, *workload, o.workload);

  SimulationOptions options;
  options.max_cycles = o.max_cycles;
  ProgressLine progress(stderr, ProgressLine::style_for(stderr, o.quiet));
  if (here) options.progress = [&](const ProgressState& s) { progress.update(s); };
  ConsistencyChecker checker;
  together(t, [&] {
    if (!o.check) return;
    if (t.size() > 1)
      throw InputError("--check", "follows the data through all chips in one process: use neither mpirun nor --threads");
    if (config.observe.sharing) throw InputError("--check", "and observe.sharing look at the same events: use one of them");
    options.prepare_chip = [&](Chip& chip) { checker.watch(chip); };
  });
  const std::string started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  auto result = simulate(t, scaled(config), *workload, *map, options);
  const auto hosts = t.all_gather(host);
  together(t, [&] {
    if (!result) return;
    progress.clear();
    Provenance& p = result->provenance;
    p.version = version(), p.git_commit = git_commit(), p.command = command;
    p.system = config.name, p.workload = o.workload, p.workload_digest = digest, p.started_at = started;
    p.effective_config = effective_json(config), p.hosts = hosts;
    for (ChipResult& chip : result->chips) chip.energy = energy_of_chip(config, chip.totals, result->cycles);
    if (o.check && result->complete) checker.check_final_image();
    if (!o.output.empty()) write_result(*result, o.output, o.force);
    if (!o.quiet) fmt::print("{}", summary_table(*result));
    if (!o.quiet && o.check) fmt::print("{}", check_line(checker.counts()));
    if (!o.quiet && !o.output.empty()) fmt::print("result     {}\n", o.output);
    std::fflush(stdout);
  });
}

}  // namespace

void add_run(Commands& c) {
  auto o = std::make_shared<RunOptions>();
  CLI::App* cmd = c.app.add_subcommand("run", "Simulate a workload on a system and write the result");
  cmd->footer(
      "Examples:\n"
      "  atoll run sac-4chip --workload inputs/workloads/mixed.json\n"
      "  atoll run sac-4chip --workload kernelslist.g --set llc.organisation=sm_side -o sm.h5\n"
      "  mpirun --oversubscribe -n 5 atoll run sac-4chip --workload trace.h5 -o out.h5\n"
      "The result, down to its digest, does not depend on the number of ranks or threads.");
  cmd->add_option("SYSTEM", o->system, "preset (`atoll list`) or JSON file")->required();
  cmd->add_option("-w,--workload", o->workload, "Atoll trace (.h5), Accel-Sim list (kernelslist.g) or workload (.json)")
      ->required();
  cmd->add_option("-s,--set", o->sets, "override a configuration key, e.g. llc.ways=8; repeatable")->type_name("KEY=VALUE");
  cmd->add_option("--scale", o->scale,
                  "divide the LLC and the footprint of a parametric workload; the same as --set scale=N")
      ->check(CLI::Range(1, 1024));
  cmd->add_option("-o,--output", o->output, "result file (HDF5); without it only the summary is printed");
  cmd->add_flag("-f,--force", o->force, "replace an existing result");
  cmd->add_option("--max-cycles", o->max_cycles, "stop there; the result says that it is incomplete")
      ->check(CLI::Range(Cycle{1}, Cycle{1} << 50));
  cmd->add_option("--threads", o->threads, "without mpirun: spread the chips over so many threads")
      ->check(CLI::Range(1, 65));
  cmd->add_option("--map", o->map, "rank of each chip and of the controller, e.g. 0,0,1,1,1");
  cmd->add_flag("--check", o->check,
                "follow the data of every store, and fail if a read gets a stale one (docs/coherence_check.md); slow");
  cmd->add_flag("-q,--quiet", o->quiet, "no progress, no summary");
  cmd->callback([&c, o] {
    c.on_all_ranks = true;
    c.chosen = [&c, o] {
      if (o->scale > 1) o->sets.push_back(fmt::format("scale={}", o->scale));
      Transport& t = c.mpi.transport();
      const std::string host = c.mpi.host();
      if (o->threads == 1) return run_on(t, *o, c.line, host);
      together(t, [&] {
        if (t.size() > 1) throw InputError("--threads", "is for runs without mpirun; give mpirun more ranks instead");
      });
      run_threads(o->threads, [&](Transport& thread) { run_on(thread, *o, c.line, host); });
    };
  });
}

}  // namespace atl
