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
#include "core/engine/exit_code.hpp"
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
  end.how = interrupted ? "interrupted" : "incomplete", end.exit_code = interrupted ? kExitInterrupted : kExitDone;
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
  const int code = for_good ? kExitTerminated : kExitCheckpointed;
  if (monitor) monitor->end({for_good ? "ended" : "checkpointed", checkpointer.farewell(), code, nullptr});
  return code;
}

/// A job on one rank, from its files to its result. All methods are collective.
class RankJob {
 public:
  RankJob(Transport& t, RunJob& job, const std::string& host, std::optional<RunMonitor>& monitor)
      : t_(t), job_(job), host_(host), monitor_(monitor) {}

  /// An ExitCode.
  int run();

 private:
  void place();
  void open_inputs();
  void open_outputs();
  SimulationOptions options();
  void finish(RunResult* result, bool interrupted);

  Transport& t_;
  RunJob& job_;
  const std::string& host_;
  std::optional<RunMonitor>& monitor_;

  std::optional<RankMap> map_;
  bool here_ = false;  ///< the controller is, so that this rank speaks and writes
  std::unique_ptr<Workload> workload_;
  std::optional<WorkloadFiles> files_;
  RunFacts facts_;
  std::optional<KernelSampler> sampler_;
  std::optional<OutputLock> lock_;
  std::optional<ProgressLine> progress_;  ///< its clock starts with the simulation
  ConsistencyChecker checker_;
  std::optional<FileCheckpointer> checkpointer_;
};

/// Which rank has which chips, and of a checkpoint only those of this rank.
void RankJob::place() {
  run_collectively(t_, [&] {
    const auto ranks = static_cast<std::uint32_t>(t_.size());
    map_ = job_.map.empty() ? RankMap::spread(job_.config.chips, ranks) : RankMap::parse(job_.map, job_.config.chips, ranks);
    check_options(job_, t_.size());
  });
  const auto rank = static_cast<std::uint32_t>(t_.rank());
  here_ = map_->rank_of(job_.config.chips) == rank;
  for (LpId lp = 0; job_.from && lp < job_.from->state.processes.size(); ++lp) {
    if (lp >= map_->lps() || map_->rank_of(lp) != rank) job_.from->state.processes[lp] = {};  // many ranks may share a host
  }
  check_memory(t_, job_, *map_, host_);
}

void RankJob::open_inputs() {
  run_collectively(t_, [&] { workload_ = open_selected(job_); });
  run_collectively(t_, [&] { files_.emplace(job_.workload_file); });
  facts_.digest = common_digest(t_, job_, *files_);
  run_collectively(t_, [&] {
    if (!here_) return;
    facts_.incomplete = look_at_traces(job_, *workload_);
    facts_.warnings = warnings_of(job_, *workload_);
    if (job_.quiet || job_.from) return;  // one that goes on from a checkpoint has said it when it began
    for (const std::string& what : facts_.warnings) tell("atoll: warning: {}\n", what);
  });
  run_collectively(t_, [&] {
    if (here_ && job_.sample)
      sampler_.emplace(make_sampling_plan(*workload_, *job_.sample, job_.config.llc.write_back_at_end),
                       job_.config.control.launch_latency_cycles);
  });
}

void RankJob::open_outputs() {
  run_collectively(t_, [&] {
    if (!here_) return;
    if (job_.monitor) monitor_.emplace(*job_.monitor, scaled(job_.config), live_run(job_, t_.size()), job_.from.has_value());
    prepare_files(job_, facts_.digest);
    if (!job_.output.empty()) take_output(job_, lock_);
    if (replaces_checkpoints(job_)) remove_checkpoints(job_);
  });
  if (job_.output.empty() || job_.check || job_.sample)
    let_stop_signals_end();
  else
    checkpointer_.emplace(job_.output, header_of(job_, facts_.digest), job_.plan, here_,
                          job_.from ? job_.from->state.file : "");
}

SimulationOptions RankJob::options() {
  SimulationOptions options;
  options.max_cycles = job_.max_cycles;
  options.chip_threads.count = job_.chip_threads;
  const bool one_process = t_.size() > 1 && t_.address_space(0) == t_.address_space(t_.size() - 1);
  options.share_chips = job_.map.empty() && one_process;
  options.moves.first = job_.map.empty() && !one_process ? 1 : 0;
  if (sampler_) options.sampler = &*sampler_;
  options.policy = [this](const SystemConfig& c) { return policy_of(job_, c); };
  progress_.emplace(stderr, ProgressLine::style_for(stderr, job_.quiet), job_.from.has_value(), columns_of(stderr));
  if (here_) options.progress = [this](const ProgressState& s) { progress_->update(s); };
  if (job_.monitor) {
    tell_address(t_, monitor_ ? &*monitor_ : nullptr, host_);
    options.watched = true;
    options.live = [this](const LiveSample& s) { monitor_->update(s); };
  }
  if (job_.check) options.prepare_chip = [this](Chip& chip) { checker_.watch(chip); };
  if (checkpointer_) options.checkpointer = &*checkpointer_;
  if (job_.from) options.resume = &job_.from->state;
  return options;
}

/// `result`: null where the controller is not.
void RankJob::finish(RunResult* result, bool interrupted) {
  check_unchanged(t_, job_, *files_, facts_.digest);
  facts_.hosts = t_.all_gather(host_);
  run_collectively(t_, [&] {
    if (result == nullptr) return;
    progress_->clear();
    complete_result(*result, job_, *workload_, facts_);
    if (job_.check && result->complete) checker_.check_final_image();
    if (sampler_) extrapolate(*result, job_, *sampler_);
    std::ranges::move(doubts(*result), std::back_inserter(facts_.warnings));
    result->provenance.warnings = fmt::format("{}", fmt::join(facts_.warnings, "\n"));
    hand_out(*result, job_, checker_);
    if (interrupted)
      std::fprintf(stderr, "atoll: interrupted at cycle %llu; the result is incomplete, and says so\n",
                   static_cast<unsigned long long>(result->cycles));
  });
  if (monitor_ && result != nullptr) monitor_->end(end_of(*result, interrupted));
}

int RankJob::run() {
  place();
  open_inputs();
  open_outputs();
  auto result = simulate(t_, scaled(job_.config), *workload_, *map_, options());
  const auto ended = checkpointer_ ? checkpointer_->ended : Checkpointer::Request::none;
  if (ended != Checkpointer::Request::none && ended != Checkpointer::Request::finish) {
    progress_->clear();
    return end_early(*checkpointer_, here_, monitor_);
  }
  const bool interrupted = ended == Checkpointer::Request::finish;
  finish(result ? &*result : nullptr, interrupted);
  return interrupted ? kExitInterrupted : kExitDone;
}

}  // namespace

int run_job(Transport& t, RunJob job, const std::string& host) {
  std::optional<RunMonitor> monitor;
  try {
    return RankJob(t, job, host, monitor).run();
  } catch (...) {
    if (monitor) monitor->end(end_of(std::current_exception()));
    throw;
  }
}

std::string time_of_day() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

}  // namespace atl
