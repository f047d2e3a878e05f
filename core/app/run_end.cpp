#include "core/app/run_end.hpp"

#include <fmt/format.h>

#include <numeric>

#include "core/app/keep_result.hpp"
#include "core/app/tell.hpp"
#include "core/control/capacity.hpp"
#include "core/control/energy_model.hpp"
#include "core/engine/error.hpp"
#include "core/stats/summary.hpp"
#include "core/stats/version.hpp"
#include "inputs/config/dump.hpp"

namespace atl {
namespace {

std::string check_line(const ConsistencyChecker::Counts& n) {
  return fmt::format(
      "check      {} sectors read by SMs and {} in slices, {} invalidations, {} writes at homes: no violation{}\n",
      n.checked, n.slices, n.endings, n.sharers_compared,
      n.unchecked == 0 ? "" : fmt::format("; {} sectors read of which nothing is known", n.unchecked));
}

}  // namespace

void complete_result(RunResult& result, const RunJob& job, const Workload& workload, const RunFacts& facts) {
  const SystemConfig& config = job.config;
  Provenance& p = result.provenance;
  p.version = version(), p.git_commit = git_commit(), p.command = job.command;
  p.system = config.name, p.workload = job.workload, p.workload_digest = facts.digest, p.started_at = job.started_at;
  p.effective_config = effective_json(config), p.hosts = facts.hosts;
  if (config.chips > 1) {
    for (const Capacity& c : capacities_of(scaled(config))) p.links_of_chips.push_back(c[Resource::link_out]);
    p.link_bytes_per_cycle = std::accumulate(p.links_of_chips.begin(), p.links_of_chips.end(), 0.0) / config.chips;
  }
  for (std::uint32_t c = 0; c < config.chips; ++c)
    if (uses_llc(config, c)) p.llc_chips.push_back(c);
  p.selection = workload.selection(), p.incomplete = facts.incomplete;
  if (job.from) p.host_seconds += job.from->header.host_seconds;
  for (std::uint32_t c = 0; c < config.chips; ++c)
    result.chips[c].energy = energy_of_chip(config, result.chips[c].totals, result.cycles, powered(config, c));
  result.energy_prices = energy_by_price(config, result.chips, result.cycles);
}

void extrapolate(RunResult& result, const RunJob& job, const KernelSampler& sampler) {
  result.provenance.sampling = job.sample->text(), result.sampling = sampler.extrapolate(job.config, result);
  if (!job.quiet && !result.sampling->as_certain_as_asked())
    tell("atoll: warning: --sample: cycles are known within {:.1f} %, and {:.1f} % were asked for\n",
         100 * result.sampling->cycles_within(), 100 * result.sampling->error);
}

void hand_out(const RunResult& result, const RunJob& job, const ConsistencyChecker& checker) {
  const std::string unwritten = job.output.empty() ? "" : keep_result(result, job.output, job.force);
  const bool kept = !job.output.empty() && unwritten.empty();
  std::string text = job.quiet && kept ? "" : summary_table(result);
  if (!job.quiet && job.check) text += check_line(checker.counts());
  if (!job.quiet && kept) text += fmt::format("result     {}\n", job.output);
  if (!job.quiet && job.output.empty()) text += "result     not kept; -o FILE keeps it\n";
  if (job.quiet && job.output.empty()) text.clear();
  if (!text.empty()) print_for_sure(text);
  if (!unwritten.empty()) throw IoError(job.output, unwritten);
}

}  // namespace atl
