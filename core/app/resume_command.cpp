#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "comm/collective_errors.hpp"
#include "comm/mpi_transport.hpp"
#include "core/app/commands.hpp"
#include "core/app/rank_threads.hpp"
#include "core/app/run_job.hpp"
#include "core/app/shipped_files.hpp"
#include "core/engine/error.hpp"
#include "core/engine/whole_number.hpp"
#include "inputs/config/reader.hpp"

namespace atl {
namespace {

struct ResumeOptions {
  std::string checkpoint, workload, policy, output, map;
  std::string max_cycles;  ///< empty: as the run had it
  int threads = 1;
  bool force = false, quiet = false;
  std::optional<std::uint16_t> monitor;
  CheckpointOptions checkpoints;
};

/// Every rank reads the file for itself: its own processes are in it.
Checkpoint shared_checkpoint(Transport& t, const std::string& path) {
  Checkpoint c;
  run_collectively(t, [&] { c = read_checkpoint(path); });
  const auto all = t.all_gather(std::to_string(c.checksum));
  run_collectively(t, [&] {
    if (all[static_cast<std::size_t>(t.rank())] == all[0]) return;
    throw InputError(path, fmt::format("rank {} sees another file than rank 0; give all hosts the same", t.rank()));
  });
  return c;
}

/// For CLI11: what is wrong with the word, or nothing.
std::string limit_fault(const std::string& text) {
  const Cycle limit = whole_number<Cycle>(text).value_or(0);
  if (text == "none" || (limit != 0 && limit < kCycleLimit)) return "";
  return fmt::format("'{}' is neither `none` nor a number of cycles from 1 to {}", text, kCycleLimit - 1);
}

/// Where the run that goes on from `h` ends.
Cycle limit_of(const ResumeOptions& o, const CheckpointHeader& h) {
  if (o.max_cycles.empty()) return h.max_cycles;
  const Cycle limit = whole_number<Cycle>(o.max_cycles).value_or(kNever);
  if (limit < h.boundary) throw InputError("--max-cycles", fmt::format("the checkpoint is at cycle {} already", h.boundary));
  return limit;
}

RunJob job_of(const ResumeOptions& o, Checkpoint&& c) {
  RunJob job;
  const CheckpointHeader& h = c.header;
  job.config = parse_effective(h.config);
  job.workload = h.workload, job.workload_file = o.workload.empty() ? h.workload_file : workload_file(o.workload);
  if (!std::filesystem::exists(job.workload_file))
    throw InputError(job.workload_file, "the workload is there no more; `atoll resume -w FILE` says where it is now");
  if (!o.policy.empty()) job.config.llc.policy = std::filesystem::absolute(o.policy).string();
  job.kernels = h.kernels, job.ctas = h.ctas;
  job.output = o.output.empty() ? output_of_checkpoint(o.checkpoint) : o.output;
  job.inputs = {o.checkpoint};
  job.map = o.map, job.force = o.force, job.quiet = o.quiet, job.monitor = o.monitor;
  job.command = h.command, job.started_at = h.started_at;
  job.max_cycles = limit_of(o, h);
  job.plan = o.checkpoints.plan({h.every_cycles, h.every_minutes, 0});
  job.from = std::move(c);
  return job;
}

}  // namespace

void add_resume(Commands& c) {
  auto o = std::make_shared<ResumeOptions>();
  CLI::App* cmd = c.app.add_subcommand("resume", "Go on with a run from its checkpoint");
  cmd->footer(
      "Examples:\n"
      "  atoll resume out.h5.512000.ckpt                      writes out.h5 in the end\n"
      "  mpirun -n 5 atoll resume out.h5.512000.ckpt          on another number of ranks than before\n"
      "The result is that of a run that was never interrupted.");
  cmd->add_option("CHECKPOINT", o->checkpoint, "of `atoll run` (.ckpt)")->required()->check(kNamed);
  cmd->add_option("-o,--output", o->output, "result file (HDF5); the one that the checkpoint is named after if not given")
      ->check(kNamed);
  cmd->add_flag("-f,--force", o->force, "replace an existing result");
  cmd->add_option("-w,--workload", o->workload, "where the workload is now; the same files")->check(kNamed);
  cmd->add_option("--policy", o->policy, "where the policy is now; the same file")->check(kNamed);
  cmd->add_option("--max-cycles", o->max_cycles, "stop there instead of where the run was to; `none`: run to the end")
      ->type_name("CYCLES")
      ->check(limit_fault);
  o->checkpoints.add_to(*cmd);
  cmd->add_option("--threads", o->threads,
                  "spread the chips over so many threads, under mpirun of each rank; one chip in one process uses two")
      ->check(whole(1, 65));
  cmd->add_option("--map", o->map, "rank of each chip and of the controller, e.g. 0,0,1,1,1")->check(kNamed);
  add_monitor(*cmd, o->monitor);
  cmd->add_flag("-q,--quiet", o->quiet, "no progress, no summary, no warnings");
  cmd->callback([&c, o] {
    c.chosen = [&c, o] {
      const auto chips = [&] { return parse_effective(read_checkpoint_header(o->checkpoint).config).chips; };
      c.exit_code = run_on_ranks(c, {o->threads, chips, !o->map.empty()}, [&](Transport& t, unsigned own) {
        Checkpoint checkpoint = shared_checkpoint(t, o->checkpoint);
        RunJob job;
        run_collectively(t, [&] { job = job_of(*o, std::move(checkpoint)); });
        job.chip_threads = own;
        return run_job(t, std::move(job), c.mpi.host());
      });
    };
  });
}

}  // namespace atl
