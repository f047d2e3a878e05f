#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "core/app/axis_table.hpp"
#include "core/app/commands.hpp"
#include "core/app/sweep_table.hpp"
#include "core/app/tell.hpp"
#include "core/engine/error.hpp"
#include "core/stats/human.hpp"
#include "core/stats/unlike_work.hpp"
#include "inputs/config/suggest.hpp"

namespace atl {
namespace {

constexpr const char* kSpeedup = "speedup";

struct TableOptions {
  std::string folder, by;
  std::vector<std::string> metrics{kSpeedup};
  bool csv = false, markdown = false, relative = false;
};

Metric metric_named(const std::string& name) {
  if (const auto metric = find_metric(name)) return *metric;
  auto known = metric_names();
  known.emplace_back(kSpeedup);
  const std::string close = closest_key(name, known);
  throw InputError("--metric", fmt::format("there is no `{}`{}", name,
                                           close.empty() ? "; `atoll table --help` lists what there is"
                                                         : fmt::format(", did you mean `{}`?", close)));
}

/// What all ratios refer to; "": to different variants, which a note names.
std::string baseline_text(const Experiment& e, const std::string& by) {
  const std::string& first = e.variants.front().baseline;
  if (std::ranges::all_of(e.variants, [&](const Variant& v) { return v.baseline == first; })) return first;
  const std::string of_columns = by.empty() ? "" : baseline_of_columns(e, by);
  return of_columns.empty() ? "" : of_columns + " in the same column";
}

/// What the numbers are, above a table for people. `over`: the value of `by` whose runs they refer to; "": the baselines'.
std::string heading(const SweepResults& sweep, const std::string& metric, bool relative, const std::string& by,
                    const std::string& over) {
  const Experiment& e = sweep.experiment;
  const std::string baseline = baseline_text(e, by);
  std::string out = "Speed-up (ratio of times)";
  if (metric != kSpeedup) {
    const Metric m = metric_named(metric);
    out = fmt::format("{}: {}", relative ? metric : m.with_unit(), m.doc);
  }
  if (metric == kSpeedup && !over.empty()) out += fmt::format(" over {} = {}", by, over);
  if (metric == kSpeedup && over.empty() && !baseline.empty()) out += " over " + baseline;
  if (metric != kSpeedup && relative)
    out += !over.empty()      ? fmt::format("; over that at {} = {}", by, over)
           : baseline.empty() ? "; over the baseline's"
                              : "; over that of " + baseline;
  if (metric == kSpeedup && !e.reference.speedup.empty()) out += fmt::format(", beside {}", e.reference.source);
  if (!by.empty()) out += fmt::format("; columns: {}", by);
  std::set<std::uint64_t> scales;
  for (const auto& [point, run] : sweep.runs) scales.insert(scale_of(run));
  if (scales.size() > 1 || (scales.size() == 1 && *scales.begin() > 1))
    out += fmt::format("; LLC and footprints divided by {}", fmt::join(scales, " or "));
  if (!e.sample.empty()) out += fmt::format("; all runs are sampled ({})", e.sample);
  return out + "\n";
}

/// Each variant of one that is swept is its own baseline: its counterpart with the same values.
std::string why_all_is_one(const Experiment& e) {
  const bool alone = std::ranges::all_of(e.variants, [](const Variant& v) { return v.baseline == v.name; });
  auto keys = differing_keys(e);
  std::erase(keys, "scale");  // of it there are no speed-ups
  if (!alone || keys.empty()) return "";
  return fmt::format("every variant is its own baseline; to compare along a key: --by {}", fmt::join(keys, " or --by "));
}

/// Lines below a table: in Markdown a list, which a blank line parts from it.
class Notes {
 public:
  Notes(std::FILE* out, bool markdown) : out_(out), markdown_(markdown) {}
  void add(std::string_view line) {
    fmt::print(out_, "{}{}\n", !markdown_ ? "" : std::exchange(begun_, true) ? "- " : "\n- ", line);
  }
  void add_below(std::string_view line) { fmt::print(out_, "  {}{}\n", markdown_ ? "- " : "", line); }

 private:
  std::FILE* out_;
  bool markdown_, begun_ = false;
};

/// Whether a figure is of a core clock's cycles.
bool in_cycles(const std::string& metric) {
  return metric != kSpeedup && metric_named(metric).with_unit().find("cycle") != std::string::npos;
}

/// What the figures are not, and what they lack.
void tell_of(const SweepResults& sweep, const TableOptions& o, const std::vector<std::string>& fewer, Notes notes) {
  const bool ratios = o.relative || std::ranges::count(o.metrics, kSpeedup) > 0;
  if (ratios && o.by.empty())
    for (const std::string& note : {why_all_is_one(sweep.experiment), different_baselines(sweep.experiment)})
      if (!note.empty()) notes.add(note);
  if (const auto points = without_baseline(sweep); ratios && !points.empty())
    notes.add(
        fmt::format("{}, but not {} baseline: {}",
                    points.size() == 1 ? "1 point has a result" : fmt::format("{} points have a result", points.size()),
                    points.size() == 1 ? "its" : "their", listed(points)));
  if (!sweep.experiment.sample.empty() && o.csv)  // elsewhere the heading says it
    notes.add(fmt::format("all runs are sampled ({}): figures are extrapolated", sweep.experiment.sample));
  for (const auto& [point, run] : sweep.runs)
    if (run.sampling && !run.sampling->as_certain_as_asked())
      notes.add(fmt::format("{}__{}: cycles are known within {:.1f} % only", point.first, point.second,
                            100 * run.sampling->cycles_within()));
  if (const auto names = unlike_work(sweep); !names.empty())
    notes.add(fmt::format("no ratios of unlike work ({}): runs that differ in it do not compare machines",
                          fmt::join(names, ", ")));
  std::set<double> clocks;
  for (const auto& [point, run] : sweep.runs) clocks.insert(core_clock_mhz(run));
  if (clocks.size() > 1 && std::ranges::any_of(o.metrics, in_cycles))
    notes.add(
        fmt::format("the runs have different core clocks ({} MHz): figures in cycles are of each one's own; `speedup` "
                    "and `time` are times",
                    fmt::join(clocks, ", ")));
  if (!fewer.empty())
    notes.add(fmt::format("means that do not compare with the others, as they are of fewer workloads{}: {}",
                          o.csv ? ", and are left out" : "", listed(fewer)));
  if (const std::string note = versions_note(versions_of(sweep)); !note.empty()) notes.add(note);
  for (const auto& same : same_simulations(sweep))
    notes.add(fmt::format("one and the same simulation in every workload (equal digests): {}", listed(same)));
  if (sweep.missing.empty()) return;
  notes.add(fmt::format("{} of {} points have no result; the means leave them out:", sweep.missing.size(),
                        expand(sweep.experiment).size()));
  for (const std::string& point : sweep.missing) notes.add_below(point);
}

void warn_of(const SweepResults& sweep) {
  for (const std::string& what : sweep.idle.everywhere) tell("atoll: warning: in every point that sets it {}\n", what);
  for (const auto& [what, points] : warnings_of(sweep)) tell("atoll: warning: {}: {}\n", listed(points), what);
  for (const auto& [workload, what] : incomplete_workloads(sweep))
    tell("atoll: warning: {} is not whole: {}\n", workload, what);
  for (const std::string& file : sweep.changed)
    tell("atoll: warning: {} has changed since these runs; `atoll sweep --force` runs them again\n", file);
  if (!sweep.unchecked.empty())
    tell("atoll: warning: whether these runs are of this experiment cannot be said: {}\n", sweep.unchecked);
}

void table(const TableOptions& o) {
  for (const std::string& metric : o.metrics)
    if (metric != kSpeedup) metric_named(metric);
  std::string folder = o.folder;
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  SweepResults sweep = read_sweep(folder);
  const std::string over = o.by.empty() ? "" : compare_along(sweep.experiment, o.by);
  if (!o.by.empty()) sweep.experiment.reference = {};  // the paper's figures are of variants
  std::set<std::string> fewer;
  for (std::size_t i = 0; i < o.metrics.size(); ++i) {
    const std::string& metric = o.metrics[i];
    TextTable t = metric == kSpeedup ? speedup_table(sweep) : metric_table(sweep, metric_named(metric), o.relative);
    for (std::string& variant : of_fewer_workloads(t)) fewer.insert(std::move(variant));
    if (!o.by.empty()) t = by_axis(t, sweep.experiment, o.by, metric != kSpeedup);
    if (i > 0) fmt::print("\n");
    if (!o.csv) fmt::print("{}{}", heading(sweep, metric, o.relative, o.by, over), o.markdown ? "\n" : "");
    fmt::print("{}", o.csv ? csv(t) : o.markdown ? markdown(t) : aligned(t));
  }
  // Programs that read CSV read a table and nothing else.
  tell_of(sweep, o, {fewer.begin(), fewer.end()}, Notes(o.csv ? stderr : stdout, o.markdown));
  warn_of(sweep);
}

std::string footer() {
  std::string out =
      "Examples:\n"
      "  atoll table results/quick\n"
      "  atoll table results/sac --metric cycles,llc.miss_rate --csv\n"
      "  atoll table results/sac --metric energy.total --relative\n"
      "  atoll table results/bandwidth --by link.bandwidth_gbps\n"
      "Metrics: speedup, any counter (docs/results.md), and\n";
  for (const Metric& m : derived_metrics())
    out += fmt::format("  {:<22} {}{}\n", m.name, m.unit.empty() ? "" : fmt::format("{}, ", m.unit), m.doc);
  out +=
      "Means of speed-ups: the harmonic mean weighs all workloads alike; the IPC-first mean divides the harmonic mean of "
      "the\n"
      "IPCs by the baseline's, as some papers do. The paper's own are, in this order, the mean of its bars and what it "
      "prints.";
  return out;
}

}  // namespace

void add_table(Commands& c) {
  auto o = std::make_shared<TableOptions>();
  CLI::App* cmd = c.app.add_subcommand("table", "Compare the results of a sweep");
  cmd->footer(footer());
  cmd->add_option("DIR", o->folder, "folder of `atoll sweep`")->required()->check(kNamed);
  cmd->add_option("-m,--metric", o->metrics, "what to show; several: separated by commas, or repeated")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  cmd->add_option("--by", o->by, "key that variants set: a column for each of its values")
      ->option_text("KEY")
      ->check(kNamed);
  cmd->add_flag("-r,--relative", o->relative, "metrics over those of the baseline; speed-ups are anyway");
  auto* as_csv = cmd->add_flag("--csv", o->csv, "comma-separated values");
  cmd->add_flag("--markdown", o->markdown, "a table in Markdown")->excludes(as_csv);
  cmd->callback([&c, o] { c.chosen = [o] { table(*o); }; });
}

}  // namespace atl
