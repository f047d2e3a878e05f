#include "core/app/run_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "comm/collective_errors.hpp"
#include "core/app/tell.hpp"
#include "core/control/memory_estimate.hpp"
#include "core/engine/function_name.hpp"
#include "core/stats/durable_file.hpp"
#include "core/stats/human.hpp"
#include "inputs/config/keys_at_odds.hpp"

namespace atl {

void check_options(const RunJob& job, int ranks) {
  if (job.plan.asked() && job.output.empty())
    throw InputError(job.plan.time_limit_minutes > 0 ? "--time-limit" : "--checkpoint-every",
                     "needs an output (-o), beside which checkpoints are left");
  if (job.sample) {
    if (job.check)
      throw InputError("--sample", "skips the stores of launches, and --check follows them all: use one of them");
    if (job.plan.asked()) throw InputError("--sample", "leaves no checkpoints: what it knows of launches is in none");
    if (job.max_cycles != kNever) throw InputError("--sample", "needs the whole run: use it without --max-cycles");
    if (job.config.observe.sharing || job.config.observe.sm_sharing)
      throw InputError("--sample",
                       "says nothing of data that launches share: use it without observe.sharing and observe.sm_sharing");
  }
  if (!job.check) return;
  if (ranks > 1 || job.chip_threads > 1)
    throw InputError("--check", "follows the data through all chips in one process: use neither mpirun nor --threads");
  for (const auto& [key, observes] : {std::pair{"observe.sharing", job.config.observe.sharing},
                                      std::pair{"observe.sm_sharing", job.config.observe.sm_sharing}})
    if (observes) throw InputError("--check", fmt::format("and {} look at the same events: use one of them", key));
  if (job.plan.asked())
    throw InputError("--check", "cannot be checkpointed: what it knows of every line is in no checkpoint");
}

void check_memory(Transport& t, const RunJob& job, const RankMap& map, const std::string& host) {
  constexpr double kGiB = 1 << 30;
  const std::uint64_t chip = memory_of_chip(scaled(job.config));
  std::uint64_t here = 0;
  const auto hosts = t.all_gather(host);
  for (LpId lp = 0; lp < job.config.chips; ++lp) here += hosts[map.rank_of(lp)] == host ? chip : 0;
  run_collectively(t, [&] {
    const std::uint64_t most = memory_of_machine();
    if (!job.quiet && t.rank() == 0 && here >= std::uint64_t{1} << 30)
      tell("note: tags and directories take some {:.1f} GiB of this host's {:.1f} GiB of memory\n",
           static_cast<double>(here) / kGiB, static_cast<double>(most) / kGiB);
    if (here <= most || job.force) return;
    throw InputError("llc.size_kib",
                     fmt::format("tags and directories of the chips on {} take some {:.1f} GiB, and it has {:.1f} GiB of "
                                 "memory; give fewer or smaller chips, scale, or more hosts, or --force",
                                 host, static_cast<double>(here) / kGiB, static_cast<double>(most) / kGiB));
  });
}

std::string common_digest(Transport& t, const RunJob& job, const WorkloadFiles& files) {
  const auto rank = static_cast<std::size_t>(t.rank());
  std::string seen;
  run_collectively(t, [&] { seen = files.identity(); });
  const auto identities = t.all_gather(seen);
  std::vector<std::size_t> together;  // ranks that see what this one sees
  for (std::size_t r = 0; r < identities.size(); ++r)
    if (identities[r] == seen) together.push_back(r);
  std::string mine;
  run_collectively(t, [&] {
    for (std::size_t p = 0; p < files.pieces(); ++p)
      if (together[p % together.size()] == rank) mine += hex(files.read(p));
  });
  const auto read = t.all_gather(mine);
  std::vector<std::uint64_t> pieces(files.pieces());
  for (std::size_t p = 0; p < pieces.size(); ++p)
    pieces[p] = std::stoull(read[together[p % together.size()]].substr(p / together.size() * 16, 16), nullptr, 16);
  std::string digest = files.digest(pieces, job.kernels, job.ctas);
  const auto all = t.all_gather(digest);
  run_collectively(t, [&] {
    if (together[0] == rank && digest != all[0])
      throw InputError(job.workload_file,
                       fmt::format("rank {} sees other contents than rank 0; give all hosts the same file", rank));
  });
  return digest;
}

void check_unchanged(Transport& t, const RunJob& job, const WorkloadFiles& files, const std::string& digest) {
  const auto touched = t.all_gather(files.touched());
  const auto first = std::ranges::find_if(touched, [](const std::string& file) { return !file.empty(); });
  if (first == touched.end()) return;
  std::optional<WorkloadFiles> anew;
  run_collectively(t, [&] { anew.emplace(job.workload_file); });
  const bool equal = common_digest(t, job, *anew) == digest;  // written to, to the same contents
  run_collectively(t, [&] {
    if (!equal) throw InputError(*first, "has changed since the run began, whose result would be of both: run it again");
  });
}

std::string look_at_traces(const RunJob& job, Workload& workload) {
  constexpr std::size_t kShown = 3;
  std::vector<std::string> lines;
  if (const std::string what = workload.lacks(); !what.empty()) {
    lines.push_back("the trace lacks " + what);
    if (job.strict) throw InputError(job.workload_file, lines.back());
  }
  for (std::size_t k = 0; k < workload.kernels().size(); ++k) {
    const std::string what = workload.incomplete(k);
    if (what.empty()) continue;
    lines.push_back(fmt::format("kernel {} ({}): {}", k, function_name(workload.kernels()[k].name), what));
    if (job.strict) throw InputError(job.workload_file, lines.back());
  }
  for (std::size_t i = 0; !job.quiet && i < std::min(lines.size(), kShown); ++i) tell("atoll: warning: {}\n", lines[i]);
  if (!job.quiet && lines.size() > kShown)
    tell("atoll: warning: and {} more kernels are incomplete\n", lines.size() - kShown);
  return fmt::format("{}", fmt::join(lines, "\n"));
}

namespace {

/// Private data of a workload that fits other machines.
std::string misfit(const RunJob& job, const Workload& workload) {
  const std::uint32_t laid_out = workload.laid_out_for(), chips = job.config.compute_chips();
  if (laid_out == 0) return "";
  if (laid_out % chips != 0)
    return fmt::format(
        "{} lays data out for {} chips (`chips`), and the system has {}: what is private to a chip there is "
        "shared here; `chips` = 0 fits any system",
        job.workload_file, laid_out, chips);
  if (!job.ctas.empty() && chips > 1)
    return "--ctas: the CTAs that are left are dealt to the chips anew: data private to a chip may be shared here";
  return "";
}

}  // namespace

std::vector<std::string> warnings_of(const RunJob& job, const Workload& workload) {
  std::vector<std::string> out = keys_at_odds(job.config);
  std::ranges::copy(job.warnings, std::back_inserter(out));
  for (const std::string& what : {misfit(job, workload), workload.scaled_otherwise()})
    if (!what.empty()) out.push_back(what);
  if (job.sample && !job.config.llc.policy.empty())
    out.push_back(
        fmt::format("--sample calls {} for launches that are simulated alone: what it carries over from one to the "
                    "next is that of fewer, and no interval knows of it (docs/sampling.md)",
                    job.config.llc.policy));
  return out;
}

bool replaces_checkpoints(const RunJob& job) {
  namespace fs = std::filesystem;
  if (job.output.empty()) return false;
  const auto place = [](const std::string& path) { return fs::weakly_canonical(path); };
  return !job.from || place(job.from->state.file) != place(checkpoint_path(job.output, job.from->header.boundary));
}

void remove_checkpoints(const RunJob& job) {
  auto old = checkpoints_of(job.output);
  std::ranges::copy(unfinished_checkpoints_of(job.output), std::back_inserter(old));
  for (const std::string& path : old) {
    std::error_code error;
    if (!std::filesystem::remove(path, error) && error) throw IoError(path, "cannot be removed: " + error.message());
  }
}

void prepare_files(const RunJob& job, const std::string& digest) {
  if (!job.output.empty()) {
    std::vector<std::string> read = job.inputs;
    read.insert(read.end(), {job.workload_file, job.config.llc.policy});
    refuse_inputs(job.output, read);
    check_output(job.output, job.force);
  }
  if (job.plan.asked()) check_output(checkpoint_path(job.output, kNever), true);  // the longest of their names
  const auto old = replaces_checkpoints(job) ? checkpoints_of(job.output) : std::vector<std::string>{};
  if (!old.empty() && !job.force)
    throw InputError(old.back(), "is a checkpoint of an earlier run; go on with `atoll resume`, or remove it with --force");
  if (job.from && digest != job.from->header.workload_digest)
    throw InputError(job.workload_file, "has changed since the run began");
}

}  // namespace atl
