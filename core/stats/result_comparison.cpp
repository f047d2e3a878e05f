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

std::uint64_t looks(const RunResult& result) {
  using namespace nlohmann::literals;
  const auto config = nlohmann::json::parse(result.provenance.effective_config, nullptr, false);
  const std::uint64_t period =
      config.is_object() ? config.value("/control/sample_cycles"_json_pointer, std::uint64_t{1}) : 1;
  return result.cycles / std::max<std::uint64_t>(period, 1);
}

std::vector<Effect> differing_results(const RunResult& a, const RunResult& b, double least, double few) {
  std::vector<Effect> out;
  for (const std::string& name : metric_names()) {
    if (name == "time" && core_clock_mhz(a) == core_clock_mhz(b)) continue;  // as cycles differ
    if (added_at_samples(name) && looks(a) != looks(b)) continue;            // these say how many there were
    const Metric metric = *find_metric(name);
    const auto x = value_of(metric, a), y = value_of(metric, b);
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    const Effect e{name, std::string(metric.doc), x.value_or(kNone), y.value_or(kNone), metric.whole};
    if (!x && !y) continue;
    if (e.whole && std::max(x.value_or(0), y.value_or(0)) < few) continue;
    if (differs(e, least)) out.push_back(e);
  }
  largest_first(out);
  return out;
}

std::vector<Effect> differing_cycles(const RunResult& a, const RunResult& b) {
  std::vector<Effect> out;
  if (a.stack.empty() || b.stack.empty() || a.sampling || b.sampling) return out;  // of another part of the workload
  const auto mean = [](const RunResult& r) {
    Stack sum;
    for (const auto& kernel : r.stack)
      for (const Stack& s : kernel) sum += s;
    const auto chips = static_cast<double>(chips_with_stacks(r.stack));
    for (double& part : sum.cycles) part /= chips;
    return sum;
  };
  const Stack x = mean(a), y = mean(b);
  for (const StackPartInfo& p : stack_parts())
    if (std::abs(y[p.id] - x[p.id]) >= 0.5)
      out.push_back({std::string(p.name), fmt::format("{}: cycles", p.doc), x[p.id], y[p.id], true});
  most_cycles_first(out);
  return out;
}

/// `alike`: there are kernels that both ended under one name.
std::vector<Effect> differing_kernels(const RunResult& a, const RunResult& b, double least, bool& alike) {
  std::vector<Effect> out;
  for (std::size_t k = 0; k < std::min(a.kernels.size(), b.kernels.size()); ++k) {
    const KernelResult &x = a.kernels[k], &y = b.kernels[k];
    if (x.name != y.name || x.finished == kNever || y.finished == kNever) continue;
    alike = true;
    const Effect e{fmt::format("{} {}", k, function_name(x.name)), "cycles", static_cast<double>(x.finished - x.launched),
                   static_cast<double>(y.finished - y.launched), true};
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

/// `order`: which of them comes first, where some differ.
std::string effects_text(std::string_view what, std::string_view order, const std::vector<Effect>& effects,
                         std::size_t top) {
  if (effects.empty()) return fmt::format("  {:<14} equal, within 1 %\n", what);
  std::string out = fmt::format("  {}, {}\n", what, order);
  for (std::size_t i = 0; i < std::min(top, effects.size()); ++i) {
    const Effect& e = effects[i];
    out += fmt::format("    {:<34} {:>18} {:>18} {:>10}\n", fmt::format("{:.34}", e.name), figure(e.a, e.whole),
                       figure(e.b, e.whole), change(e));
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

Json effects_json(const std::vector<Effect>& effects) {
  Json out = Json::array();
  for (const Effect& e : effects)
    out.push_back(
        {{"name", e.name}, {"doc", e.doc}, {"a", e.a}, {"b", e.b}, {"ratio", e.a != 0 ? Json(e.b / e.a) : Json()}});
  return out;
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

ResultComparison compare(const RunResult& a, const RunResult& b, double least, double few) {
  ResultComparison c;
  c.same_simulation = a.digest == b.digest;
  c.configuration = differing_keys(a.provenance.effective_config, b.provenance.effective_config);
  c.inputs = differing_inputs(a, b);
  c.cycles = differing_cycles(a, b);
  c.results = differing_results(a, b, least, few);
  c.kernels = differing_kernels(a, b, least, c.kernels_alike);
  return c;
}

std::string comparison_text(const ResultComparison& c, const RunResult& a, const RunResult& b, std::size_t top) {
  const auto system = [](const RunResult& r) {
    const std::string caches = caches_text(r);
    return fmt::format("{}, {}{}{}", r.provenance.system, r.provenance.workload, caches.empty() ? "" : "; ", caches);
  };
  std::string out = fmt::format("  A              {}\n  B              {}\n", system(a), system(b));
  out += settings_text("configuration", c.configuration, top) + settings_text("inputs", c.inputs, top);
  if (c.same_simulation) {
    out +=
        fmt::format("  simulation     equal: the digests are both {}, so everything simulated is the same\n", hex(a.digest));
    // Prices of energy, or the clock, say what the same course of events means.
    return c.results.empty() ? out
                             : out + effects_text("what is worked out of it", "largest difference first", c.results, top);
  }
  for (const auto& [name, run] : {std::pair("A", &a), std::pair("B", &b)})
    if (run->sampling) out += fmt::format("  {} is sampled   {}\n", name, sampled_text(*run));
  const Metric cycles = *find_metric("cycles");
  const double x = value_of(cycles, a).value_or(0), y = value_of(cycles, b).value_or(0);
  const std::vector<std::string> unlike = unlike_work(a, b);
  const double clocks = core_clock_mhz(b) / core_clock_mhz(a);
  if (x != 0 && y != 0)
    out += fmt::format("  cycles         {} and {}: {}\n", shown_cycles(a, x), shown_cycles(b, y),
                       !unlike.empty() ? fmt::format("no speed-up, of unlike work ({})", fmt::join(unlike, ", "))
                       : clocks == 1   ? fmt::format("B is {:.3f} times as fast", x / y)
                                       : fmt::format("at {:g} and {:g} MHz, B is {:.3f} times as fast", core_clock_mhz(a),
                                                     core_clock_mhz(b), x / y * clocks));
  out += cycles_text(c.cycles, top);
  out += effects_text("results", "largest relative difference first", c.results, top);
  if (a.kernels.size() + b.kernels.size() > 2)
    out += c.kernels_alike ? effects_text("cycles of kernels", "largest difference first", c.kernels, top)
                           : "  cycles of kernels: none that both ended has one name in both\n";
  return out;
}

std::string comparison_json(const ResultComparison& c) {
  Json out;
  out["same_simulation"] = c.same_simulation;
  out["configuration"] = settings_json(c.configuration);
  out["inputs"] = settings_json(c.inputs);
  out["cycles"] = effects_json(c.cycles);
  out["results"] = effects_json(c.results);
  out["kernels"] = effects_json(c.kernels);
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace atl
