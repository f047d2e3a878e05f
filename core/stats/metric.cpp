#include "core/stats/metric.hpp"

#include <algorithm>

#include "core/stats/summary.hpp"

namespace atl {
namespace {

using enum Counter;

std::optional<double> ratio(double part, double whole) { return whole > 0 ? std::optional(part / whole) : std::nullopt; }

struct Derived {
  Metric metric;
  std::optional<double> (*value)(const Counters& sum, double cycles);
};

constexpr Metric kEnergy{"energy.total", "joules, the sum of the energy.* below", Mean::none};

double number(std::uint64_t count) { return static_cast<double>(count); }

const Derived kDerived[] = {
    {{"cycles", "end of the last kernel", Mean::none, true},
     [](const Counters&, double cycles) { return std::optional(cycles); }},
    {{"ipc", "warp instructions per cycle", Mean::harmonic},
     [](const Counters& s, double cycles) { return ratio(number(s[warp_instructions]), cycles); }},
    {{"l1.miss_rate", "new misses of the lines that loads presented to the L1", Mean::arithmetic},
     [](const Counters& s, double) { return ratio(number(s[l1_misses]), number(s[l1_accesses])); }},
    {{"llc.miss_rate", "new misses of the requests looked up in a slice", Mean::arithmetic},
     [](const Counters& s, double) { return ratio(number(s[llc_misses]), number(s[llc_accesses])); }},
    {{"requests.local_share", "L1 misses whose home is their own chip, of all", Mean::arithmetic},
     [](const Counters& s, double) {
       return ratio(number(s[requests_local]), number(s[requests_local]) + number(s[requests_remote]));
     }},
    {{"coherence.evict_share", "invalidations that hit: share of those because of an evicted entry", Mean::arithmetic},
     [](const Counters& s, double) {
       return ratio(number(s[coherence_evict_invalidation_hits]), number(s[coherence_invalidation_hits]));
     }},
    {{"coherence.hit_rate", "invalidations that found a copy", Mean::arithmetic},
     [](const Counters& s, double) {
       return ratio(number(s[coherence_invalidation_hits]), number(s[coherence_invalidations]));
     }},
    {{"coherence.link_share", "bytes of invalidations, of all bytes on links", Mean::arithmetic},
     [](const Counters& s, double) { return ratio(number(s[coherence_invalidation_bytes]), number(s[link_bytes])); }},
    {{"directory.lines_per_entry", "lines that an evicted entry tracked", Mean::arithmetic},
     [](const Counters& s, double) {
       return ratio(number(s[directory_evicted_lines]), number(s[directory_evictions]));
     }},
    {{"load.mean_latency", "cycles from L1 to data", Mean::arithmetic},
     [](const Counters& s, double) { return ratio(number(s[load_latency_cycles]), number(s[loads_completed])); }},
};

}  // namespace

std::vector<Metric> derived_metrics() {
  std::vector<Metric> out;
  for (const Derived& d : kDerived) out.push_back(d.metric);
  out.push_back(kEnergy);
  for (const EnergyInfo& e : energy_table()) out.push_back({e.name, e.doc, Mean::none});
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
    if (c.name == name) return Metric{c.name, c.doc, Mean::none, true};
  return std::nullopt;
}

std::optional<double> value_of(const Metric& metric, const RunResult& result) {
  const Counters sum = sum_of_chips(result);
  for (const Derived& d : kDerived)
    if (d.metric.name == metric.name) return d.value(sum, static_cast<double>(result.cycles));
  const Energy energy = energy_of_chips(result);
  if (metric.name == kEnergy.name) return energy.total();
  for (const EnergyInfo& e : energy_table())
    if (e.name == metric.name) return energy[e.id];
  const auto table = counter_table();
  const auto counter = std::ranges::find(table, metric.name, &CounterInfo::name);
  return counter == table.end() ? std::nullopt : std::optional(number(sum[counter->id]));
}

}  // namespace atl
