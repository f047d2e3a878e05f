#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <sstream>

#include "comm/collective_errors.hpp"
#include "comm/mpi_transport.hpp"
#include "core/app/commands.hpp"
#include "core/app/rank_threads.hpp"
#include "core/app/run_job.hpp"
#include "core/app/shipped_files.hpp"
#include "core/app/tell.hpp"
#include "inputs/config/dump.hpp"
#include "inputs/config/idle_keys.hpp"
#include "inputs/config/keys_at_odds.hpp"
#include "inputs/config/reader.hpp"
#include "inputs/experiment/experiment.hpp"

namespace atl {
namespace {

struct RunOptions {
  std::string system;
  std::vector<std::string> sets;
  int threads = 1;
  unsigned scale = 0;  ///< 0: as the system has it
  std::string policy, sample;
  CheckpointOptions checkpoints;
  RunJob job;  ///< but for its configuration
};

/// --policy has an organisation of its own: one that was asked for besides would be lost without a word.
void refuse_other_organisation(const std::vector<std::string>& sets, const std::string& policy) {
  const std::string key = "llc.organisation=";
  for (const std::string& set : sets) {
    if (set.starts_with("llc.policy=") && set != "llc.policy=" + policy)
      throw InputError("--policy", fmt::format("is {}, and --set says `{}`: leave one out", policy, set));
    if (set.starts_with(key) && set != key + "plugin")
      throw InputError("--policy",
                       fmt::format("sets {}plugin, and --set says `{}`: leave one out", key, set.substr(key.size())));
  }
}

/// Rank 0 reads the configuration; the others get what it read, so that all simulate the same system.
SystemConfig shared_config(Transport& t, const RunOptions& o) {
  std::string text;
  run_collectively(t, [&] {
    if (t.rank() == 0) text = effective_json(read_system(o.system, o.sets));
  });
  t.broadcast(text, 0);
  return parse_effective(text);
}

/// What the system's file or the command line has changed, and may not mean: against the file's base, or the system.
std::vector<std::string> warnings_of_changes(const RunOptions& o, const SystemConfig& config,
                                             const std::vector<std::string>& given) {
  try {
    const std::optional<OwnLayer> own = own_layer(o.system);
    const SystemConfig base = own ? own->base : read_system(o.system);
    std::vector<std::string> out = unlike_base(base, config, given);
    if (std::string memory = other_memory(base, config); !memory.empty()) out.push_back(std::move(memory));
    return out;
  } catch (const InputError&) {  // a system that is none without --set
    return {};
  }
}

/// What the user's file and the command line set and may not mean.
std::vector<std::string> warnings_of_sets(const RunOptions& o, const SystemConfig& config) {
  const std::vector<std::string> given = keys_given(o.system, o.sets);
  std::vector<std::string> out = idle_keys(config, given);
  std::ranges::move(warnings_of_changes(o, config, given), std::back_inserter(out));
  return out;
}

/// The same on all ranks: the controller's tells them, and rank 0 alone may have the system's file.
std::vector<std::string> shared_warnings(Transport& t, const RunOptions& o, const SystemConfig& config) {
  std::string text;
  run_collectively(t, [&] {
    if (t.rank() == 0) text = fmt::format("{}", fmt::join(warnings_of_sets(o, config), "\n"));
  });
  t.broadcast(text, 0);
  std::vector<std::string> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out.push_back(line);
  return out;
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
      "  atoll run sac-4chip --workload trace.h5 --sample error=3% -o sampled.h5\n"
      "The result, down to its digest, does not depend on the number of ranks or threads.\n"
      "SIGUSR1 has a run with an output leave a checkpoint and end with exit code 75; go on with `atoll resume`.");
  cmd->add_option("SYSTEM", o->system, "preset (`atoll list`) or JSON file")->required()->check(kNamed);
  cmd->add_option(
         "-w,--workload", o->job.workload,
         "Atoll trace (.h5), Accel-Sim list (kernelslist.g), workload (.json), or the name of one that comes with Atoll")
      ->required()
      ->check(kNamed);
  add_selection(*cmd, o->job.kernels, o->job.ctas);
  cmd->add_option(
         "--sample", o->sample,
         "simulate some of the launches and extrapolate the others, with intervals; e.g. error=3% (docs/sampling.md)")
      ->check(kNamed);
  cmd->add_flag("--strict", o->job.strict, "refuse a trace that lacks warps, or whose instructions do not fit its header");
  cmd->add_option("-s,--set", o->sets, "override a configuration key, e.g. llc.ways=8; repeatable, the last of a key counts")
      ->type_name("KEY=VALUE");
  cmd->add_option("--scale", o->scale,
                  "divide the LLC and the footprint of a parametric workload; the same as --set scale=N")
      ->check(whole(1, 1024));
  cmd->add_option("--policy", o->policy,
                  "your own policy, a .so or .py (docs/plugins.md); sets llc.organisation=plugin and llc.policy=FILE")
      ->check(kNamed);
  cmd->add_option("-o,--output", o->job.output, "result file (HDF5); without it only the summary is printed")->check(kNamed);
  cmd->add_flag("-f,--force", o->job.force, "replace an existing result");
  cmd->add_option("--max-cycles", o->job.max_cycles,
                  "stop there, or rather when word of it has come to the chips (control.latency_cycles); the result says "
                  "that it is incomplete, as does that of a run whose last kernel ends when its word is under way")
      ->check(whole(1, kCycleLimit - 1));
  o->checkpoints.add_to(*cmd);
  cmd->add_option("--threads", o->threads,
                  "spread the chips over so many threads, under mpirun of each rank; one chip in one process uses two")
      ->check(whole(1, 65));
  cmd->add_option("--map", o->job.map, "rank of each chip and of the controller, e.g. 0,0,1,1,1")->check(kNamed);
  cmd->add_flag("--check", o->job.check,
                "follow the data of every store, and fail if a read gets a stale one (docs/coherence_check.md), or if a "
                "policy decides otherwise once it is loaded from what it saves; slow");
  add_monitor(*cmd, o->job.monitor);
  cmd->add_flag("-q,--quiet", o->job.quiet, "no progress, no summary, no warnings");
  cmd->callback([&c, o] {
    c.chosen = [&c, o] {
      if (o->scale > 0) {
        if (std::ranges::any_of(o->sets, [](const std::string& s) { return s.starts_with("scale="); }))
          throw InputError("--scale", "and --set scale=... set one key; use one of them");
        o->sets.push_back(fmt::format("scale={}", o->scale));
      }
      if (!o->policy.empty()) {
        o->sets.emplace_back("llc.organisation=plugin");
        o->sets.push_back(fmt::format("llc.policy={}", std::filesystem::absolute(o->policy).string()));
      }
      const std::string started = time_of_day();
      const auto chips = [&] { return read_system(o->system, o->sets).chips; };
      const ThreadPlan plan{o->threads, chips, !o->job.map.empty()};
      c.exit_code = run_on_ranks(c, plan, [&](Transport& t, unsigned of_chip) {
        RunJob job = o->job;
        job.chip_threads = of_chip;
        run_collectively(t, [&] {
          if (!o->policy.empty()) refuse_other_organisation(o->sets, std::filesystem::absolute(o->policy).string());
          if (!o->sample.empty()) job.sample = SamplingOptions::parse(o->sample);
        });
        job.config = shared_config(t, *o);
        job.warnings = shared_warnings(t, *o, job.config);
        job.command = c.line, job.started_at = started, job.inputs = {o->system};
        run_collectively(t, [&] {
          job.workload_file = workload_file(job.workload), job.plan = o->checkpoints.plan();
          const std::string hidden = t.rank() == 0 && !job.quiet ? hidden_workload(job.workload) : "";
          if (!hidden.empty()) tell("note: {}\n", hidden);
        });
        return run_job(t, job, c.mpi.host());
      });
    };
  });
}

}  // namespace atl
