#include "core/stats/result_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "core/engine/function_name.hpp"
#include "core/stats/human.hpp"
#include "core/stats/metric.hpp"
#include "core/stats/summary.hpp"
#include "core/stats/unlike_work.hpp"

namespace atl {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kNameWidth = 34;

/// Keys like `llc.ways` with their values as text. An empty text says that there is none, as does a key that is not there.
void keys_of(const Json& node, const std::string& name, std::vector<std::pair<std::string, std::string>>& out) {
  if (node.is_string() && node.get<std::string>().empty()) return;
  if (!node.is_object()) return out.emplace_back(name, node.is_string() ? node.get<std::string>() : node.dump()), void();
  for (const auto& [key, value] : node.items()) keys_of(value, name.empty() ? key : name + "." + key, out);
}

std::vector<std::pair<std::string, std::string>> keys_of(const std::string& config) {
  std::vector<std::pair<std::string, std::string>> out;
  const Json json = Json::parse(config, nullptr, false);
  if (json.is_object()) keys_of(json, "", out);
  return out;
}

std::vector<Setting> differing_keys(const std::string& a, const std::string& b) {
  const auto of_a = keys_of(a), of_b = keys_of(b);
  const std::map<std::string, std::string> map_a(of_a.begin(), of_a.end()), map_b(of_b.begin(), of_b.end());
  std::vector<Setting> out;
  for (const auto& [key, value] : of_a) {
    const auto other = map_b.find(key);
    if (other == map_b.end()) {
      out.push_back({key, value, std::nullopt});
    } else if (other->second != value) {
      out.push_back({key, value, other->second});
    }
  }
  for (const auto& [key, value] : of_b)
    if (!map_a.contains(key)) out.push_back({key, std::nullopt, value});
  return out;
}

void note(std::vector<Setting>& out, const char* name, const std::string& a, const std::string& b) {
  if (a != b) out.push_back({name, a, b});
}

/// What was simulated, and by which program; not when, where and how fast.
std::vector<Setting> differing_inputs(const RunResult& a, const RunResult& b) {
  std::vector<Setting> out;
  const Provenance &p = a.provenance, &q = b.provenance;
  note(out, "workload", p.workload, q.workload);
  note(out, "selection", p.selection, q.selection);
  const auto sampled = [](const Provenance& of) { return of.sampling.empty() ? "no" : of.sampling; };
  note(out, "sampled", sampled(p), sampled(q));
  note(out, "incomplete", p.incomplete, q.incomplete);
  note(out, "workload_digest", p.workload_digest, q.workload_digest);
  note(out, "policy_digest", p.policy_digest, q.policy_digest);
  note(out, "version", p.version, q.version);
  note(out, "git_commit", p.git_commit, q.git_commit);
  note(out, "chips", std::to_string(a.chips.size()), std::to_string(b.chips.size()));
  note(out, "kernels", std::to_string(a.kernels.size()), std::to_string(b.kernels.size()));
  // Of two that were stopped as well: how far each came is no property of what was simulated.
  if (!a.complete || !b.complete) out.push_back({"complete", a.complete ? "yes" : "no", b.complete ? "yes" : "no"});
  return out;
}

bool differs(const Effect& e, double least) { return e.size() > std::log1p(least); }

void largest_first(std::vector<Effect>& effects) {
  std::ranges::stable_sort(effects, [](const Effect& x, const Effect& y) {
    const bool ends = std::isinf(x.size()), other_ends = std::isinf(y.size());
    return ends != other_ends ? other_ends : x.size() > y.size();
  });
}

void most_cycles_first(std::vector<Effect>& effects) {
  std::ranges::stable_sort(effects,
                           [](const Effect& x, const Effect& y) { return std::abs(x.b - x.a) > std::abs(y.b - y.a); });
}

bool added_at_samples(const std::string& name) {
  return std::ranges::any_of(kHeldLines,
                             [&](Counter c) { return counter_table()[static_cast<std::size_t>(c)].name == name; });
}

std::uint64_t looks(const RunResult& result) { return result.cycles / sample_cycles(result); }

std::optional<double> half_width(const RunResult& r, std::string_view figure) {
  const SampledFigure* const f = r.sampling ? r.sampling->find(figure) : nullptr;
  return f == nullptr ? std::nullopt : std::optional(f->half_width);
}

std::vector<Effect> differing_results(const RunResult& a, const RunResult& b, const LeastDifference& least) {
  std::vector<Effect> out;
  for (const std::string& name : metric_names()) {
    if (name == "time" && core_clock_mhz(a) == core_clock_mhz(b)) continue;  // as cycles differ
    if (added_at_samples(name) && looks(a) != looks(b)) continue;            // these say how many there were
    const Metric metric = *find_metric(name);
    const auto x = value_of(metric, a), y = value_of(metric, b);
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    Effect e{name, std::string(metric.unit), std::string(metric.doc)};
    e.a = x.value_or(kNone), e.b = y.value_or(kNone), e.whole = metric.whole;
    e.half_a = half_width(a, name), e.half_b = half_width(b, name);
    if (!x && !y) continue;
    if (e.whole && std::max(x.value_or(0), y.value_or(0)) < least.count) continue;
    if (differs(e, least.relative)) out.push_back(e);
  }
  largest_first(out);
  return out;
}

std::vector<Effect> differing_cycles(const RunResult& a, const RunResult& b, double clocks, double least) {
  std::vector<Effect> out;
  if (a.stack.empty() || b.stack.empty() || a.sampling || b.sampling) return out;  // of another part of the workload
  const auto mean = [](const RunResult& r, double clocks) {
    Stack sum;
    for (const auto& kernel : r.stack)
      for (const Stack& s : kernel) sum += s;
    const auto chips = static_cast<double>(chips_with_stacks(r.stack));
    for (double& part : sum.cycles) part *= clocks / chips;
    return sum;
  };
  const Stack x = mean(a, 1), y = mean(b, clocks);
  for (const StackPartInfo& p : stack_parts())
    if (std::abs(y[p.id] - x[p.id]) > least)
      out.push_back({std::string(p.name), "cycles", std::string(p.doc), x[p.id], y[p.id], true});
  most_cycles_first(out);
  return out;
}

/// `alike`: how many kernels both ended under one name.
std::vector<Effect> differing_kernels(const RunResult& a, const RunResult& b, double clocks, double least,
                                      std::size_t& alike) {
  std::vector<Effect> out;
  for (std::size_t k = 0; k < std::min(a.kernels.size(), b.kernels.size()); ++k) {
    const KernelResult &x = a.kernels[k], &y = b.kernels[k];
    if (x.name != y.name || x.finished == kNever || y.finished == kNever) continue;
    ++alike;
    const Effect e{fmt::format("{} {}", k, function_name(x.name)),
                   "cycles",
                   "from its launch to its end",
                   static_cast<double>(x.finished - x.launched),
                   clocks * static_cast<double>(y.finished - y.launched),
                   true};
    if (differs(e, least)) out.push_back(e);
  }
  most_cycles_first(out);
  return out;
}

std::string figure(double value, bool whole) {
  if (std::isnan(value)) return "-";
  if (whole && value < 1e15) return grouped(static_cast<std::uint64_t>(value + 0.5));
  return fmt::format("{:.4g}", value);
}

/// "-12.3 %", or how many times as much where that reads better.
std::string change(const Effect& e) {
  if (std::isnan(e.a) || std::isnan(e.b)) return "-";
  if (e.a == 0) return "new";
  if (e.b == 0) return "gone";
  const double ratio = e.b / e.a;
  return ratio >= 3 ? fmt::format("{:.3g} x", ratio) : fmt::format("{:+.1f} %", 100 * (ratio - 1));
}

std::string left_out(std::size_t all, std::size_t top) {
  return all > top ? fmt::format("    ... and {} more (--top)\n", all - top) : "";
}

std::string settings_text(const char* title, const std::vector<Setting>& settings, std::size_t top) {
  if (settings.empty()) return fmt::format("  {:<14} equal\n", title);
  std::string out = fmt::format("  {}\n", title);
  for (std::size_t i = 0; i < std::min(top, settings.size()); ++i) {
    const Setting& s = settings[i];
    out += fmt::format("    {:<34} {:>24}  {:>24}\n", s.name, s.a.value_or("-"), s.b.value_or("-"));
  }
  return out + left_out(settings.size(), top);
}

/// With its unit, where there is room for it.
std::string row_name(const Effect& e) {
  const std::string name = !e.unit.empty() ? fmt::format("{} ({})", e.name, e.unit) : e.name;
  return name.size() <= kNameWidth ? name : fmt::format("{:.{}}", e.name, kNameWidth);
}

/// The number of a kernel stays whole before its name.
std::string kernel_row_name(const Effect& e) {
  const std::size_t number = e.name.find(' ') + 1;
  return e.name.substr(0, number) + shortened(e.name.substr(number), kNameWidth - number);
}

/// `order`: which of them comes first, where some differ.
std::string effects_text(std::string_view what, std::string_view order, const std::vector<Effect>& effects, std::size_t top,
                         bool kernels = false) {
  if (effects.empty()) return fmt::format("  {:<14} equal, within 1 %\n", what);
  std::string out = fmt::format("  {}, {}\n", what, order);
  for (std::size_t i = 0; i < std::min(top, effects.size()); ++i) {
    const Effect& e = effects[i];
    out += fmt::format("    {:<{}} {:>18} {:>18} {:>10}\n", kernels ? kernel_row_name(e) : row_name(e), kNameWidth,
                       figure(e.a, e.whole), figure(e.b, e.whole), change(e));
  }
  return out + left_out(effects.size(), top);
}

std::string_view label_of(const std::string& part) {
  const auto found = std::ranges::find(stack_parts(), part, &StackPartInfo::name);
  return found->label;
}

/// With the difference in cycles instead of a ratio: parts that grow from next to nothing need not matter.
std::string cycles_text(const std::vector<Effect>& effects, std::size_t top) {
  if (effects.empty()) return "";
  std::string out = "  cycles by what they were spent on, mean of the chips, largest difference first\n";
  for (std::size_t i = 0; i < std::min(top, effects.size()); ++i) {
    const Effect& e = effects[i];
    const auto more = std::llround(e.b - e.a);
    out += fmt::format("    {:<34} {:>18} {:>18} {:>10}\n", label_of(e.name), figure(e.a, true), figure(e.b, true),
                       (more < 0 ? "-" : "+") + grouped(static_cast<std::uint64_t>(std::abs(more))));
  }
  return out + left_out(effects.size(), top);
}

Json settings_json(const std::vector<Setting>& settings) {
  Json out = Json::array();
  for (const Setting& s : settings)
    out.push_back({{"name", s.name}, {"a", s.a ? Json(*s.a) : Json()}, {"b", s.b ? Json(*s.b) : Json()}});
  return out;
}

/// Whether its ratio says by how much one machine is better. Of unlike work it does not.
bool judges_machines(const Effect& e) { return e.name == "cycles" || e.name == "time" || e.name.starts_with("energy."); }

template <class HasRatio> Json effects_json(const std::vector<Effect>& effects, const HasRatio& has_ratio) {
  Json out = Json::array();
  for (const Effect& e : effects) {
    const bool ratio = e.a != 0 && has_ratio(e);
    Json effect = {{"name", e.name}, {"unit", e.unit}, {"doc", e.doc}, {"a", e.a}, {"b", e.b}};
    effect["ratio"] = ratio ? Json(e.b / e.a) : Json();
    if (e.half_a) effect["half_width_a"] = *e.half_a;
    if (e.half_b) effect["half_width_b"] = *e.half_b;
    out.push_back(std::move(effect));
  }
  return out;
}

/// What is said of one run, or of both.
std::string conditions_text(std::string_view runs, const std::vector<RunCondition>& conditions) {
  std::string out;
  for (const RunCondition& c : conditions) out += fmt::format("  {:<14} {:<10} {}\n", runs, c.name, c.text);
  return out;
}

std::string conditions_text(const ResultComparison& c) {
  if (c.conditions_a == c.conditions_b) return conditions_text("A and B", c.conditions_a);
  return conditions_text("A", c.conditions_a) + conditions_text("B", c.conditions_b);
}

/// Of a sampled run, with half of the interval.
std::string shown_cycles(const RunResult& r, double cycles) {
  std::string text = grouped(static_cast<std::uint64_t>(cycles + 0.5));
  if (!r.sampling) return text;
  return fmt::format("~{} (± {})", text, percent(r.sampling->find("cycles")->half_width, cycles));
}

}  // namespace

double Effect::size() const {
  if (a == b) return 0;
  return a > 0 && b > 0 ? std::abs(std::log(b / a)) : std::numeric_limits<double>::infinity();
}

ResultComparison compare(const RunResult& a, const RunResult& b, const LeastDifference& least) {
  ResultComparison c;
  c.same_simulation = a.digest == b.digest;
  c.mhz_a = core_clock_mhz(a), c.mhz_b = core_clock_mhz(b);
  c.unlike_work = unlike_work(a, b);
  const Metric time = *find_metric("time");
  const double x = value_of(time, a).value_or(0), y = value_of(time, b).value_or(0);
  if (c.unlike_work.empty() && x != 0 && y != 0) c.speedup = x / y;
  c.conditions_a = conditions_of(a), c.conditions_b = conditions_of(b);
  c.configuration = differing_keys(a.provenance.effective_config, b.provenance.effective_config);
  c.inputs = differing_inputs(a, b);
  const double clocks = c.mhz_a / c.mhz_b;  // cycles of A's clock in one of B's
  c.cycles = differing_cycles(a, b, clocks, least.cycles);
  c.results = differing_results(a, b, least);
  c.kernels = differing_kernels(a, b, clocks, least.relative, c.kernels_alike);
  return c;
}

std::string comparison_text(const ResultComparison& c, const RunResult& a, const RunResult& b, std::size_t top) {
  const auto system = [](const RunResult& r) {
    const std::string caches = caches_text(r);
    return fmt::format("{}, {}{}{}", r.provenance.system, r.provenance.workload, caches.empty() ? "" : "; ", caches);
  };
  std::string out = fmt::format("  A              {}\n  B              {}\n", system(a), system(b));
  out += conditions_text(c);
  out += settings_text("configuration", c.configuration, top) + settings_text("inputs", c.inputs, top);
  if (c.same_simulation) {
    out +=
        fmt::format("  simulation     equal: the digests are both {}, so everything simulated is the same\n", hex(a.digest));
    // Prices of energy, or the clock, say what the same course of events means.
    return c.results.empty() ? out
                             : out + effects_text("what is worked out of it", "largest difference first", c.results, top);
  }
  const Provenance &p = a.provenance, &q = b.provenance;
  if (c.configuration.empty() && c.inputs.empty() && a.complete && b.complete && p.git_commit == q.git_commit &&
      !p.policy.empty())
    out += fmt::format(
        "  simulation     not equal, though all that goes into it is: policy `{}` decides by what it is not told, as the "
        "clock, an address or a random number without a seed, or, if one of them was resumed, by what its `save` leaves out "
        "(`atoll run --check` tells); nothing can be concluded from such runs\n",
        p.policy);
  for (const auto& [name, run] : {std::pair("A", &a), std::pair("B", &b)})
    if (run->sampling) out += fmt::format("  {} is sampled   {}\n", name, sampled_text(*run));
  const Metric cycles = *find_metric("cycles");
  const double x = value_of(cycles, a).value_or(0), y = value_of(cycles, b).value_or(0);
  const bool one_clock = c.mhz_a == c.mhz_b;
  if (x != 0 && y != 0)
    out += fmt::format("  cycles         {} and {}: {}{}\n", shown_cycles(a, x), shown_cycles(b, y),
                       one_clock ? "" : fmt::format("at {:g} and {:g} MHz, ", c.mhz_a, c.mhz_b),
                       c.speedup ? fmt::format("B is {:.3f} times as fast", *c.speedup)
                                 : fmt::format("no speed-up, of unlike work ({})", fmt::join(c.unlike_work, ", ")));
  if (!one_clock)
    out +=
        "  clocks         cycles of parts and kernels are counted at A's; rates and latencies are in each run's own "
        "cycles\n";
  out += cycles_text(c.cycles, top);
  out += effects_text("results", "largest relative difference first", c.results, top);
  const std::size_t kernels = std::max(a.kernels.size(), b.kernels.size());
  if (kernels > 1 && c.kernels_alike == 0) out += "  cycles of kernels: none that both ended has one name in both\n";
  if (kernels > 1 && c.kernels_alike > 0)
    out += effects_text(
        c.kernels_alike == kernels
            ? "cycles of kernels"
            : fmt::format("cycles of the {} of {} kernels that both ended under one name", c.kernels_alike, kernels),
        "largest difference first", c.kernels, top, true);
  return out;
}

std::string comparison_json(const ResultComparison& c) {
  Json out;
  out["same_simulation"] = c.same_simulation;
  out["unlike_work"] = c.unlike_work;
  out["speedup"] = c.speedup ? Json(*c.speedup) : Json();
  out["core_clock_mhz"] = {{"a", c.mhz_a}, {"b", c.mhz_b}};
  out["conditions"] = {{"a", conditions_json(c.conditions_a)}, {"b", conditions_json(c.conditions_b)}};
  out["configuration"] = settings_json(c.configuration);
  out["inputs"] = settings_json(c.inputs);
  const bool alike = c.unlike_work.empty();
  const auto if_alike = [alike](const Effect&) { return alike; };
  out["cycles"] = effects_json(c.cycles, if_alike);
  out["results"] = effects_json(c.results, [alike](const Effect& e) { return alike || !judges_machines(e); });
  out["kernels"] = effects_json(c.kernels, if_alike);
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace atl
