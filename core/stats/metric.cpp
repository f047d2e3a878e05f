#include "core/stats/metric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/stats/summary.hpp"

namespace atl {
namespace {

using enum Counter;

std::optional<double> ratio(double part, double whole) { return whole > 0 ? std::optional(part / whole) : std::nullopt; }

struct Derived {
  Metric metric;
  std::optional<double> (*value)(const Counters& sum, double cycles);
};

constexpr Metric kTime{"time", "s", "of the simulated machine: cycles by core_clock_mhz", Mean::none};
constexpr Metric kEnergy{kTotalEnergy, "J", "the sum of the other energy.*", Mean::none, false, true};

double number(std::uint64_t count) { return static_cast<double>(count); }

const Derived kDerived[] = {
    {{"cycles", "cycles", "end of the last kernel", Mean::none, true},
     [](const Counters&, double cycles) { return std::optional(cycles); }},
    {{"ipc", "instructions/cycle", "warp instructions per cycle", Mean::harmonic},
     [](const Counters& s, double cycles) { return ratio(number(s[warp_instructions]), cycles); }},
    {{"l1.hit_rate", "", "loaded lines found in the L1, of those that loads presented to it", Mean::arithmetic},
     [](const Counters& s, double) { return ratio(number(s[l1_hits]), number(s[l1_accesses])); }},
    {{"l1.miss_rate", "", "new misses of the lines that loads presented to the L1", Mean::arithmetic},
     [](const Counters& s, double) { return ratio(number(s[l1_misses]), number(s[l1_accesses])); }},
    {{"l2.hit_rate", "", "reads and writes that hit, of those looked up in a slice of the L2", Mean::arithmetic},
     [](const Counters& s, double) { return ratio(number(s[l2_hits]), number(s[l2_accesses])); }},
    {{"l2.miss_rate", "", "new misses of the reads and writes looked up in a slice of the L2", Mean::arithmetic},
     [](const Counters& s, double) { return ratio(number(s[l2_misses]), number(s[l2_accesses])); }},
    {{"llc.hit_rate", "",
      "requests that hit, of those looked up in a slice; one that misses in its own chip's may be looked up at its home as "
      "well",
      Mean::arithmetic},
     [](const Counters& s, double) { return ratio(number(s[llc_hits]), number(s[llc_accesses])); }},
    {{"llc.miss_rate", "", "new misses of the requests looked up in a slice", Mean::arithmetic},
     [](const Counters& s, double) { return ratio(number(s[llc_misses]), number(s[llc_accesses])); }},
    {{"requests.local_share", "", "requests of L1s (read misses, stores, atomics) whose home is their own chip, of all",
      Mean::arithmetic},
     [](const Counters& s, double) {
       return ratio(number(s[requests_local]), number(s[requests_local]) + number(s[requests_remote]));
     }},
    {{"coherence.evict_share", "", "invalidations that hit: share of those because of an evicted entry", Mean::arithmetic},
     [](const Counters& s, double) {
       return ratio(number(s[coherence_evict_invalidation_hits]), number(s[coherence_invalidation_hits]));
     }},
    {{"coherence.hit_rate", "", "invalidations that found a copy", Mean::arithmetic},
     [](const Counters& s, double) {
       return ratio(number(s[coherence_invalidation_hits]), number(s[coherence_invalidations]));
     }},
    {{"coherence.link_share", "", "bytes of invalidations, of all bytes on links", Mean::arithmetic},
     [](const Counters& s, double) { return ratio(number(s[coherence_invalidation_bytes]), number(s[link_bytes])); }},
    {{"directory.lines_per_entry", "lines", "lines that an evicted entry tracked", Mean::arithmetic},
     [](const Counters& s, double) { return ratio(number(s[directory_evicted_lines]), number(s[directory_evictions])); }},
    {{"cluster.held_share", "", "L1 read misses that another L1 of the cluster held, of all (observe.neighbours)",
      Mean::arithmetic},
     [](const Counters& s, double) { return ratio(number(s[cluster_held]), number(s[l1_misses])); }},
    {{"cluster.served_share", "", "L1 read misses that another L1 of the cluster answered, of all", Mean::arithmetic},
     [](const Counters& s, double) { return ratio(number(s[cluster_served]), number(s[l1_misses])); }},
    {{"sm.network_stall", "cycles", "time that load-store units waited for the request port or for answers, summed over SMs",
      Mean::none, false, true},
     [](const Counters& s, double) { return std::optional(number(s[sm_port_stall]) + number(s[sm_reply_stall])); }},
    {{"load.mean_latency", "cycles", "time from L1 to data", Mean::arithmetic},
     [](const Counters& s, double) { return ratio(number(s[load_latency_cycles]), number(s[loads_completed])); }},
};

/// Of single slices, which old files do not have.
struct OfSlices {
  Metric metric;
  std::vector<std::uint64_t> ChipResult::*cycles;
};

const OfSlices kOfSlices[] = {
    {{"llc.queue_wait", "cycles", "time that a request waits in a slice's queue, besides llc.latency_cycles",
      Mean::arithmetic},
     &ChipResult::slice_queue_cycles},
    {{"llc.miss_wait", "cycles", "time that a request waits for data missing in its slice, those that hit included",
      Mean::arithmetic},
     &ChipResult::slice_miss_cycles},
};

double sum_of_slices(const RunResult& r, std::vector<std::uint64_t> ChipResult::*array) {
  double sum = 0;
  for (const ChipResult& chip : r.chips)
    for (const std::uint64_t slice : chip.*array) sum += number(slice);
  return sum;
}

/// Of runs with `observe.sm_sharing` (docs/results.md).
struct Observed {
  Metric metric;
  std::optional<double> (*value)(const SmSharing& sum, const RunResult& result);
};

const Observed kObserved[] = {
    {{"sm_sharing.set_mib", "MiB", "shared data of a kernel, weighted by the kernels' cycles", Mean::none},
     [](const SmSharing&, const RunResult& r) {
       double weighted = 0, all = 0;
       for (std::size_t k = 0; k < std::min(r.kernels.size(), r.sm_sharing->kernels.size()); ++k) {
         if (r.kernels[k].finished == kNever) continue;  // stopped in it, or before
         const double cycles = number(r.kernels[k].finished) - number(r.kernels[k].launched);
         weighted += cycles * number(r.sm_sharing->kernels[k].shared_lines * r.sm_sharing->line_bytes), all += cycles;
       }
       return ratio(weighted / (1 << 20), all);
     }},
    {{"sm_sharing.read_only_share", "", "shared lines that their kernel never writes, of all shared lines",
      Mean::arithmetic},
     [](const SmSharing& s, const RunResult&) { return ratio(number(s.shared_read_only_lines), number(s.shared_lines)); }},
    {{"sm_sharing.llc_share", "", "loads of shared lines that neither hit in the L1 nor joined a pending miss",
      Mean::arithmetic},
     [](const SmSharing& s, const RunResult&) {
       return ratio(number(s.shared_loads - s.shared_l1_hits - s.shared_l1_merges), number(s.shared_loads));
     }},
    {{"sm_sharing.by_2_share", "", "read-only lines that 2 SMs or more asked the LLC for in a window", Mean::arithmetic},
     [](const SmSharing& s, const RunResult&) { return ratio(number(s.window_lines_2), number(s.window_lines)); }},
    {{"sm_sharing.by_3_share", "", "read-only lines that 3 SMs or more asked the LLC for in a window", Mean::arithmetic},
     [](const SmSharing& s, const RunResult&) { return ratio(number(s.window_lines_3), number(s.window_lines)); }},
    {{"sm_sharing.by_10_share", "", "read-only lines that 10 SMs or more asked the LLC for in a window", Mean::arithmetic},
     [](const SmSharing& s, const RunResult&) { return ratio(number(s.window_lines_10), number(s.window_lines)); }},
};

}  // namespace

std::string Metric::with_unit() const {
  return unit.empty() ? std::string(name) : fmt::format("{} ({}{})", name, unit, summed ? ", all chips" : "");
}

std::vector<Metric> derived_metrics() {
  std::vector<Metric> out;
  for (const Derived& d : kDerived) out.push_back(d.metric);
  for (const OfSlices& s : kOfSlices) out.push_back(s.metric);
  out.push_back(kTime);
  out.push_back(kEnergy);
  for (const EnergyInfo& e : energy_table()) out.push_back({e.name, "J", e.doc, Mean::none, false, true});
  for (const Observed& o : kObserved) out.push_back(o.metric);
  return out;
}

std::vector<std::string> metric_names() {
  std::vector<std::string> out;
  for (const Metric& m : derived_metrics()) out.emplace_back(m.name);
  for (const CounterInfo& c : counter_table()) out.emplace_back(c.name);
  return out;
}

std::optional<Metric> find_metric(std::string_view name) {
  for (const Metric& m : derived_metrics())
    if (m.name == name) return m;
  for (const CounterInfo& c : counter_table())
    if (c.name == name) return Metric{c.name, c.unit, c.doc, Mean::none, true, true};
  return std::nullopt;
}

std::vector<LinearFigure> linear_figures(const Counters& sum, double cycles) {
  constexpr std::uint64_t kStep = 1024;  // of a counter: ratios are smooth, and a thousandth is far above rounding
  std::vector<LinearFigure> out;
  for (const Derived& d : kDerived) {
    const auto value = d.value(sum, cycles);
    if (!value) continue;
    LinearFigure f{std::string(d.metric.name), *value, 0, {}};
    const double more = cycles / kStep;
    f.of_cycles = (*d.value(sum, cycles + more) - *value) / more;
    for (const CounterInfo& c : counter_table()) {
      Counters moved = sum;
      const std::uint64_t step = 1 + sum[c.id] / kStep;
      moved[c.id] += step;
      if (const double slope = (*d.value(moved, cycles) - *value) / number(step); slope != 0)
        f.of_counters.emplace_back(c.id, slope);
    }
    out.push_back(std::move(f));
  }
  return out;
}

double core_clock_mhz(const RunResult& result) {
  const auto config = nlohmann::json::parse(result.provenance.effective_config, nullptr, false);
  return config.is_object() ? config.value("core_clock_mhz", 1000.0) : 1000.0;
}

Cycle sample_cycles(const RunResult& result) {
  using namespace nlohmann::literals;
  const auto config = nlohmann::json::parse(result.provenance.effective_config, nullptr, false);
  return std::max<Cycle>(config.is_object() ? config.value("/control/sample_cycles"_json_pointer, Cycle{1}) : 1, 1);
}

std::optional<double> value_of(const Metric& metric, const RunResult& result) {
  if (metric.name == kTime.name) {
    const auto cycles = value_of(*find_metric("cycles"), result);
    return cycles ? std::optional(*cycles / (1e6 * core_clock_mhz(result))) : std::nullopt;
  }
  if (result.sampling) {
    const SampledFigure* f = result.sampling->find(metric.name);
    return f == nullptr ? std::nullopt : std::optional(f->value);
  }
  const Counters sum = sum_of_chips(result);
  for (const Derived& d : kDerived)
    if (d.metric.name == metric.name) return d.value(sum, static_cast<double>(result.cycles));
  for (const OfSlices& s : kOfSlices)
    if (s.metric.name == metric.name)
      return ratio(sum_of_slices(result, s.cycles), sum_of_slices(result, &ChipResult::slice_requests));
  const Energy energy = energy_of_chips(result);
  if (metric.name == kEnergy.name) return energy.total();
  for (const EnergyInfo& e : energy_table())
    if (e.name == metric.name) return energy[e.id];
  for (const Observed& o : kObserved) {
    if (o.metric.name != metric.name) continue;
    return result.sm_sharing ? o.value(result.sm_sharing->total(), result) : std::nullopt;
  }
  const auto table = counter_table();
  const auto counter = std::ranges::find(table, metric.name, &CounterInfo::name);
  return counter == table.end() ? std::nullopt : std::optional(number(sum[counter->id]));
}

}  // namespace atl
