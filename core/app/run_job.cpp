#include "core/app/run_job.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <exception>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>

#include "comm/collective_errors.hpp"
#include "core/app/file_checkpointer.hpp"
#include "core/app/run_checks.hpp"
#include "core/app/run_end.hpp"
#include "core/app/stop_signals.hpp"
#include "core/app/tell.hpp"
#include "core/chip/observe/consistency_checker.hpp"
#include "core/control/kernel_sampler.hpp"
#include "core/control/simulation.hpp"
#include "core/monitor/run_monitor.hpp"
#include "core/stats/durable_file.hpp"
#include "core/stats/human.hpp"
#include "core/stats/output_lock.hpp"
#include "core/stats/summary.hpp"
#include "core/stats/version.hpp"
#include "inputs/config/dump.hpp"
#include "inputs/sampling/sampling_plan.hpp"
#include "inputs/workload/device_steps.hpp"
#include "inputs/workload/selection.hpp"
#include "inputs/workload/workload_files.hpp"
#include "partition/device_homes.hpp"
#include "policies/registry.hpp"
#include "policies/resume_check.hpp"

namespace atl {
namespace {

/// A result has every counter's dataset, empty or not.
constexpr std::size_t kLeastResult = std::size_t{96} << 10;

/// What the run is, for its checkpoints.
CheckpointHeader header_of(const RunJob& job, const std::string& digest) {
  CheckpointHeader h;
  if (job.from) h = job.from->header;
  h.version = version(), h.commit = git_commit(), h.config = effective_json(job.config);
  h.workload = job.workload, h.workload_file = std::filesystem::absolute(job.workload_file).string();
  h.kernels = job.kernels, h.ctas = job.ctas;
  h.workload_digest = digest, h.command = job.command, h.started_at = job.started_at, h.max_cycles = job.max_cycles;
  return h;
}

LiveRun live_run(const RunJob& job, int ranks) {
  return {.system = job.config.name,
          .workload = std::filesystem::path(job.workload).filename().string(),
          .output = job.output,
          .command = job.command,
          .started_at = job.started_at,
          .version = std::string(version()),
          .ranks = ranks};
}

/// The controller may be on another host than whoever reads this.
void tell_address(Transport& t, const RunMonitor* monitor, const std::string& host) {
  const auto hosts = t.all_gather(host);
  if (monitor == nullptr) return;
  tell("monitor: {}{}\n", monitor->url(), host == hosts[0] ? "" : " on " + host);
  std::fflush(stderr);
}

LiveEnd end_of(const RunResult& r, bool interrupted) {
  LiveEnd end{.how = "complete", .message = fmt::format("complete after {} cycles", grouped(r.cycles)), .result = &r};
  if (r.complete) return end;
  end.how = interrupted ? "interrupted" : "incomplete", end.exit_code = interrupted ? kExitInterrupted : 0;
  end.message = fmt::format("{} at cycle {}; the result is incomplete",
                            interrupted ? "interrupted" : "stopped by --max-cycles", grouped(r.cycles));
  return end;
}

LiveEnd end_of(const std::exception_ptr& error) {
  LiveEnd end{.how = "failed", .message = "it failed", .exit_code = exit_code_of(error)};
  try {
    std::rethrow_exception(error);
  } catch (const PeerFailure&) {
    end.message = "it failed; another rank says why where the run was started";
  } catch (const std::exception& e) {
    end.message = std::string("it failed: ") + e.what();
  } catch (...) {  // nothing to say of it
  }
  return end;
}

/// The workload as the run has it, and the system as that workload needs it.
std::unique_ptr<Workload> open_selected(RunJob& job) {
  const SystemConfig& config = job.config;
  auto workload =
      select(open_workload(job.workload_file, {config.scale, config.partition.page_bytes(), config.compute_chips()}),
             {job.kernels, job.ctas});
  if (job.sample && workload->devices().count != 0)
    throw InputError("--sample", "knows one launch at a time, and those of several devices run together");
  job.config = for_devices(std::move(job.config), workload->devices(), job.workload);
  return join_steps(std::move(workload), job.workload_file);
}

/// Whoever has the output's lock from here on writes there.
void take_output(const RunJob& job, std::optional<OutputLock>& lock) {
  lock.emplace(job.output);
  probe_output(job.output, kLeastResult);
  check_output(job.output, job.force);  // once more: whoever held the lock may have finished since
}

/// The system's policy, if it can do what checkpoints and --check ask of it.
LoadedPolicy policy_of(const RunJob& job, const SystemConfig& c) {
  LoadedPolicy policy = load_policy(c);
  if (job.plan.asked() && !policy.traits.saves)
    throw InputError(c.llc.policy, "has no methods `save` and `load`, which checkpoints need (docs/plugins.md)");
  if (job.check && !policy.traits.saves && !job.quiet)
    tell("note: {} has no methods `save` and `load`, so --check sees nothing of what checkpoints would lose\n",
         c.llc.policy);
  if (job.check && policy.traits.saves)
    policy.policy = check_resume(policy.digest.empty() ? policy.name : c.llc.policy, std::move(policy.policy),
                                 [c] { return load_policy(c).policy; });
  return policy;
}

/// Of a run that a signal has ended, which it goes on from later: the exit code.
int end_early(const FileCheckpointer& checkpointer, bool here, std::optional<RunMonitor>& monitor) {
  if (here) std::fprintf(stderr, "atoll: %s\n", checkpointer.farewell().c_str());
  const bool for_good = checkpointer.ended == Checkpointer::Request::end;
  const int code = for_good ? kExitEnded : kExitCheckpointed;
  if (monitor) monitor->end({for_good ? "ended" : "checkpointed", checkpointer.farewell(), code, nullptr});
  return code;
}

int run_watched(Transport& t, RunJob& job, const std::string& host, std::optional<RunMonitor>& monitor) {
  const SystemConfig& config = job.config;
  std::optional<RankMap> map;
  run_collectively(t, [&] {
    const auto ranks = static_cast<std::uint32_t>(t.size());
    map = job.map.empty() ? RankMap::spread(config.chips, ranks) : RankMap::parse(job.map, config.chips, ranks);
    check_options(job, t.size());
  });
  const auto rank = static_cast<std::uint32_t>(t.rank());
  const bool here = map->rank_of(config.chips) == rank;
  for (LpId lp = 0; job.from && lp < job.from->state.processes.size(); ++lp) {
    if (lp >= map->lps() || map->rank_of(lp) != rank) job.from->state.processes[lp] = {};  // many ranks may share a host
  }
  check_memory(t, job, *map, host);
  std::unique_ptr<Workload> workload;
  run_collectively(t, [&] { workload = open_selected(job); });
  std::optional<WorkloadFiles> files;
  run_collectively(t, [&] { files.emplace(job.workload_file); });
  RunFacts facts;
  facts.digest = common_digest(t, job, *files);
  run_collectively(t, [&] {
    if (!here) return;
    facts.incomplete = look_at_traces(job, *workload);
    facts.warnings = warnings_of(job, *workload);
    if (job.quiet || job.from) return;  // one that goes on from a checkpoint has said it when it began
    for (const std::string& what : facts.warnings) tell("atoll: warning: {}\n", what);
  });
  std::optional<KernelSampler> sampler;
  run_collectively(t, [&] {
    if (here && job.sample)
      sampler.emplace(make_sampling_plan(*workload, *job.sample, config.llc.write_back_at_end),
                      config.control.launch_latency_cycles);
  });
  std::optional<OutputLock> lock;
  run_collectively(t, [&] {
    if (!here) return;
    if (job.monitor) monitor.emplace(*job.monitor, scaled(config), live_run(job, t.size()), job.from.has_value());
    prepare_files(job, facts.digest);
    if (!job.output.empty()) take_output(job, lock);
    if (replaces_checkpoints(job)) remove_checkpoints(job);
  });

  SimulationOptions options;
  options.max_cycles = job.max_cycles;
  options.chip_threads.count = job.chip_threads;
  const bool one_process = t.size() > 1 && t.address_space(0) == t.address_space(t.size() - 1);
  options.share_chips = job.map.empty() && one_process;
  options.moves.first = job.map.empty() && !one_process ? 1 : 0;
  if (sampler) options.sampler = &*sampler;
  options.policy = [&job](const SystemConfig& c) { return policy_of(job, c); };
  ProgressLine progress(stderr, ProgressLine::style_for(stderr, job.quiet), job.from.has_value(), columns_of(stderr));
  if (here) options.progress = [&](const ProgressState& s) { progress.update(s); };
  if (job.monitor) {
    tell_address(t, monitor ? &*monitor : nullptr, host);
    options.watched = true;
    options.live = [&](const LiveSample& s) { monitor->update(s); };
  }
  ConsistencyChecker checker;
  if (job.check) options.prepare_chip = [&](Chip& chip) { checker.watch(chip); };
  std::optional<FileCheckpointer> checkpointer;
  if (job.output.empty() || job.check || job.sample) {
    let_stop_signals_end();
  } else {
    options.checkpointer = &checkpointer.emplace(job.output, header_of(job, facts.digest), job.plan, here,
                                                 job.from ? job.from->state.file : "");
  }
  if (job.from) options.resume = &job.from->state;

  auto result = simulate(t, scaled(config), *workload, *map, options);
  const bool interrupted = checkpointer && checkpointer->ended == Checkpointer::Request::finish;
  if (checkpointer && !interrupted && checkpointer->ended != Checkpointer::Request::none) {
    progress.clear();
    return end_early(*checkpointer, here, monitor);
  }
  check_unchanged(t, job, *files, facts.digest);
  facts.hosts = t.all_gather(host);
  run_collectively(t, [&] {
    if (!result) return;
    progress.clear();
    complete_result(*result, job, *workload, facts);
    if (job.check && result->complete) checker.check_final_image();
    if (sampler) extrapolate(*result, job, *sampler);
    std::ranges::move(doubts(*result), std::back_inserter(facts.warnings));
    result->provenance.warnings = fmt::format("{}", fmt::join(facts.warnings, "\n"));
    hand_out(*result, job, checker);
    if (interrupted)
      std::fprintf(stderr, "atoll: interrupted at cycle %llu; the result is incomplete, and says so\n",
                   static_cast<unsigned long long>(result->cycles));
  });
  if (monitor && result) monitor->end(end_of(*result, interrupted));
  return interrupted ? kExitInterrupted : 0;
}

}  // namespace

int run_job(Transport& t, RunJob job, const std::string& host) {
  std::optional<RunMonitor> monitor;
  try {
    return run_watched(t, job, host, monitor);
  } catch (...) {
    if (monitor) monitor->end(end_of(std::current_exception()));
    throw;
  }
}

std::string time_of_day() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

}  // namespace atl
