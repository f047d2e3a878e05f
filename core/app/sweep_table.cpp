#include "core/app/sweep_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "core/stats/comparison.hpp"
#include "core/stats/human.hpp"
#include "core/stats/unlike_work.hpp"

namespace atl {
namespace {

using Figure = std::optional<double>;

TextTable::Cell shown(const Figure& value, int digits = 2) {
  if (!value) return {"-"};
  return {fmt::format("{:.{}f}", *value, digits), fmt::format("{:.10g}", *value)};
}

/// A mean of fewer workloads than another one of its row, with which it does not compare: programs get none.
TextTable::Cell of_fewer(TextTable::Cell mean) { return {std::move(mean.text), "-"}; }
bool is_of_fewer(const TextTable::Cell& cell) { return cell.text != "-" && cell.exact == "-"; }

Figure find(const Reference::Figures& figures, const std::string& variant, const std::string& row) {
  const auto v = figures.find(variant);
  if (v == figures.end()) return std::nullopt;
  const auto r = v->second.find(row);
  return r == v->second.end() ? std::nullopt : Figure(r->second);
}

/// Groups in order of appearance, then all; with their workloads.
struct Group {
  std::string name;
  std::vector<const ExperimentWorkload*> workloads;
};

std::vector<Group> groups_of(const Experiment& e) {
  std::vector<Group> out;
  Group all{std::string(kAllGroups), {}};
  for (const ExperimentWorkload& w : e.workloads) {
    all.workloads.push_back(&w);
    if (w.group.empty()) continue;
    const auto known = std::ranges::find(out, w.group, &Group::name);
    if (known == out.end()) {
      out.push_back({w.group, {&w}});
    } else {
      known->workloads.push_back(&w);
    }
  }
  out.push_back(std::move(all));
  return out;
}

std::optional<Compared> compare(const SweepResults& s, const ExperimentWorkload& w, const Variant& v) {
  const RunResult *ours = run_of(s, w.name, v.name), *base = run_of(s, w.name, v.baseline);
  if (!ours || !base || ours->cycles == 0 || !unlike_work(*ours, *base).empty()) return std::nullopt;
  const Metric ipc = *find_metric("ipc"), cycles = *find_metric("cycles");
  return at_clocks({value_of(cycles, *ours).value_or(0), value_of(cycles, *base).value_or(0),
                    value_of(ipc, *ours).value_or(0), value_of(ipc, *base).value_or(0)},
                   core_clock_mhz(*ours), core_clock_mhz(*base));
}

bool has_reference(const Reference& r, const Variant& v) { return r.speedup.contains(v.name) || r.mean.contains(v.name); }

/// Ours, and where the variant has references the paper's with the error between them.
void add_speedup(TextTable::Row& row, const Reference& reference, const Variant& v, const Figure& ours,
                 const Figure& paper) {
  row.push_back(shown(ours));
  if (!has_reference(reference, v)) return;
  row.push_back(shown(paper));
  row.push_back(shown(ours && paper ? Figure(log_error(*ours, *paper)) : std::nullopt));
}

/// The mean of the paper's own bars, if it has one for each workload of the group.
Figure mean_of_bars(const Reference& reference, const Group& group, const Variant& v) {
  std::vector<double> bars;
  for (const ExperimentWorkload* w : group.workloads)
    if (const Figure bar = find(reference.speedup, v.name, w->name)) bars.push_back(*bar);
  return bars.size() == group.workloads.size() ? harmonic_mean(bars) : std::nullopt;
}

/// Those of a group for which any variant has a figure.
template <class Figures> std::size_t compared_workloads(const Group& group, const Experiment& e, const Figures& figure) {
  return static_cast<std::size_t>(std::ranges::count_if(group.workloads, [&](const ExperimentWorkload* w) {
    return std::ranges::any_of(e.variants, [&](const Variant& v) { return figure(*w, v).has_value(); });
  }));
}

void add_mean_rows(TextTable& table, const SweepResults& s, const Group& group) {
  const Experiment& e = s.experiment;
  TextTable::Row plain{{group.name + " harmonic mean"}}, ipc_first{{group.name + " IPC-first mean"}};
  const std::size_t all = compared_workloads(group, e, [&](const auto& w, const auto& v) { return compare(s, w, v); });
  for (const Variant& v : e.variants) {
    std::vector<Compared> runs;
    for (const ExperimentWorkload* w : group.workloads)
      if (const auto c = compare(s, *w, v)) runs.push_back(*c);
    const std::size_t at = plain.size();
    add_speedup(plain, e.reference, v, mean_speedup(runs), mean_of_bars(e.reference, group, v));
    add_speedup(ipc_first, e.reference, v, ipc_first_speedup(runs), find(e.reference.mean, v.name, group.name));
    if (runs.size() == all) continue;
    plain[at] = of_fewer(plain[at]), ipc_first[at] = of_fewer(ipc_first[at]);
  }
  table.rows.push_back(std::move(plain));
  table.rows.push_back(std::move(ipc_first));
}

void add_error_row(TextTable& table, const SweepResults& s) {
  const Experiment& e = s.experiment;
  TextTable::Row cells{{"mean |ln(ours/paper)|"}};
  for (const Variant& v : e.variants) {
    cells.emplace_back("");
    if (!has_reference(e.reference, v)) continue;
    std::vector<double> errors;
    for (const ExperimentWorkload& w : e.workloads) {
      const auto c = compare(s, w, v);
      const Figure paper = find(e.reference.speedup, v.name, w.name);
      if (c && paper) errors.push_back(log_error(c->speedup(), *paper));
    }
    cells.emplace_back("");
    cells.push_back(shown(arithmetic_mean(errors)));
  }
  table.rows.push_back(std::move(cells));
}

TextTable::Cell metric_cell(const Metric& metric, const Figure& value) {
  if (!value || metric.mean != Mean::none) return shown(value, 3);
  if (!metric.whole) return {fmt::format("{:.4g}", *value), fmt::format("{:.10g}", *value)};
  const auto count = static_cast<std::uint64_t>(std::llround(*value));  // that of a sampled run is an estimate
  return {grouped(count), std::to_string(count)};
}

}  // namespace

std::vector<std::string> of_fewer_workloads(const TextTable& table) {
  std::vector<std::string> out;
  for (std::size_t c = 1; c < table.columns.size(); ++c) {
    const auto here = [c](const TextTable::Row& row) { return c < row.size() && is_of_fewer(row[c]); };
    if (std::ranges::any_of(table.rows, here)) out.push_back(table.columns[c].full);
  }
  return out;
}

TextTable speedup_table(const SweepResults& s) {
  const Experiment& e = s.experiment;
  TextTable table{{{"speed-up", "speed-up"}}, {}};
  bool references = false;
  for (const Variant& v : e.variants) {
    table.columns.push_back({v.name, v.name});
    if (!has_reference(e.reference, v)) continue;
    table.columns.push_back({"paper", v.name + " paper", true});
    table.columns.push_back({"|ln|", v.name + " |ln|", true});
    references = true;
  }
  for (const ExperimentWorkload& w : e.workloads) {
    auto& row = table.rows.emplace_back(1, w.name);
    for (const Variant& v : e.variants) {
      const auto c = compare(s, w, v);
      add_speedup(row, e.reference, v, c ? Figure(c->speedup()) : std::nullopt, find(e.reference.speedup, v.name, w.name));
    }
  }
  table.rows.emplace_back();
  for (const Group& g : groups_of(e)) add_mean_rows(table, s, g);
  if (references) add_error_row(table, s);
  return table;
}

TextTable metric_table(const SweepResults& s, const Metric& figure, bool relative) {
  const Experiment& e = s.experiment;
  Metric metric = figure;
  if (relative) metric.mean = Mean::arithmetic;  // ratios, also of amounts
  TextTable table{{{std::string(metric.name), std::string(metric.name)}}, {}};
  for (const Variant& v : e.variants) table.columns.push_back({v.name, v.name});
  const auto absolute = [&](const ExperimentWorkload& w, const std::string& variant) {
    const RunResult* run = run_of(s, w.name, variant);
    return run ? value_of(metric, *run) : std::nullopt;
  };
  const auto value = [&](const ExperimentWorkload& w, const Variant& v) -> Figure {
    const Figure own = absolute(w, v.name);
    if (!relative || !own) return own;
    const Figure base = absolute(w, v.baseline);
    if (base && !unlike_work(*run_of(s, w.name, v.name), *run_of(s, w.name, v.baseline)).empty()) return std::nullopt;
    return base && *base != 0 ? Figure(*own / *base) : std::nullopt;
  };
  for (const ExperimentWorkload& w : e.workloads) {
    auto& row = table.rows.emplace_back(1, w.name);
    for (const Variant& v : e.variants) row.push_back(metric_cell(metric, value(w, v)));
  }
  if (metric.mean == Mean::none) return table;
  table.rows.emplace_back();
  for (const Group& g : groups_of(e)) {
    const bool harmonic = metric.mean == Mean::harmonic;
    auto& row = table.rows.emplace_back(1, g.name + (harmonic ? " harmonic mean" : " arithmetic mean"));
    const std::size_t all = compared_workloads(g, e, value);
    for (const Variant& v : e.variants) {
      std::vector<double> values;
      for (const ExperimentWorkload* w : g.workloads)
        if (const Figure f = value(*w, v)) values.push_back(*f);
      const auto mean = metric_cell(metric, harmonic ? harmonic_mean(values) : arithmetic_mean(values));
      row.push_back(values.size() == all ? mean : of_fewer(mean));
    }
  }
  return table;
}

}  // namespace atl
