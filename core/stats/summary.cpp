#include "core/stats/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/engine/function_name.hpp"
#include "core/stats/human.hpp"
#include "core/stats/result_versions.hpp"
#include "core/stats/run_conditions.hpp"

using nlohmann::literals::operator""_json_pointer;

namespace atl {
namespace {

using enum Counter;

constexpr std::size_t kKernelRows = 5;
constexpr std::size_t kAllKernels = std::numeric_limits<std::size_t>::max();

std::string row(std::string_view label, std::string_view value) { return fmt::format("  {:<12} {}\n", label, value); }

/// Whether SAC's directory, a sample, saw no request of the profile: its hit rate counted as 0, which is against SM-side.
bool rests_on_nothing(const Decision& d) {
  return std::ranges::any_of(d.values, [](const auto& v) { return v.first == "sm_side.sampled_requests" && v.second == 0; });
}

/// How often each choice was made, in order of first appearance: "sm_side 3, memory_side 1".
std::string decisions_summary(const RunResult& result) {
  std::vector<std::pair<std::string, std::size_t>> times;
  for (const Decision& d : result.decisions) {
    const auto known = std::ranges::find(times, d.choice, &std::pair<std::string, std::size_t>::first);
    known == times.end() ? void(times.emplace_back(d.choice, 1)) : void(++known->second);
  }
  std::string out;
  if (times.size() > 4) out = fmt::format("{} of {} kinds", result.decisions.size(), times.size());
  for (std::size_t i = 0; times.size() <= 4 && i < times.size(); ++i)
    out += fmt::format("{}{} {}", i == 0 ? "" : ", ", times[i].first, times[i].second);
  if (const auto blind = std::ranges::count_if(result.decisions, rests_on_nothing); blind != 0)
    out += fmt::format("; {} on no request that sac.crd_sets sampled, as if SM-side had no hit", grouped(blind));
  return out;
}

std::string per(double amount, double of, int digits = 2) {
  return of > 0 ? fmt::format("{:.{}f}", amount / of, digits) : "-";
}

std::string rate(double amount, double seconds) { return seconds > 0 ? si(amount / seconds) : "-"; }

/// Three digits.
std::string joules(double j) {
  if (j < 0.9995e-3) return fmt::format("{:.3g} uJ", j * 1e6);
  if (j < 0.9995) return fmt::format("{:.3g} mJ", j * 1e3);
  return j < 999.5 ? fmt::format("{:.3g} J", j) : fmt::format("{:.3g} kJ", j / 1e3);
}

/// `1,234,567 ± 1.2 %`
std::string with_interval(std::string_view value, const SampledFigure& f) {
  return fmt::format("{} ± {}", value, percent(f.half_width, f.value));
}

/// The figures of the whole workload; the rows after these are of what was simulated.
std::string sampling_rows(const SamplingResult& s) {
  const auto figure = [&](std::string_view name) { return s.find(name); };
  const auto count = [](const SampledFigure& f) { return si(f.value); };
  std::string out = row("sampled", fmt::format("{} of {} launches, {} of the instructions; {} % intervals, {} asked for",
                                               grouped(s.simulated()), grouped(s.launches.size()),
                                               percent(s.simulated_work, s.work), 100 * s.confidence, percent(s.error, 1)));
  if (const auto* f = figure("cycles"))
    out += row("  cycles", with_interval(grouped(static_cast<std::uint64_t>(f->value + 0.5)), *f));
  for (const auto& [label, name] : {std::pair("  L1 hits", "l1.hit_rate"), {"  LLC hits", "llc.hit_rate"}})
    if (const auto* f = figure(name))
      out += row(label, fmt::format("{} ± {}", percent(f->value, 1), percent(f->half_width, 1)));
  for (const auto& [label, name] : {std::pair("  link bytes", "link.bytes"), {"  DRAM reads", "dram.reads"}})
    if (const auto* f = figure(name)) out += row(label, with_interval(count(*f), *f));
  if (const auto* f = figure("energy.total")) out += row("  energy", with_interval(joules(f->value), *f));
  return out;
}

/// Of a run that was stopped.
std::string begun(const RunResult& result) {
  const auto& kernels = result.kernels;
  return fmt::format("  ({} started, {} finished)",
                     std::ranges::count_if(kernels, [](const KernelResult& k) { return k.started != kNever; }),
                     std::ranges::count_if(kernels, [](const KernelResult& k) { return k.finished != kNever; }));
}

std::string kernel_rows(const RunResult& result, std::size_t shown) {
  const bool all = shown == kAllKernels;
  std::string out;
  for (std::size_t k = 0; k < std::min(result.kernels.size(), shown); ++k) {
    const bool skipped = result.sampling && !result.sampling->launches[k].simulated;
    const auto& kernel = result.kernels[k];
    const auto cycles = kernel.cycles();
    // Names of templates run to hundreds of characters; where all kernels are shown, so are all of their names.
    const std::string function = function_name(kernel.name), name = all ? function : shortened(function, 28);
    const std::string length =
        cycles    ? grouped(*cycles) + " cycles"
        : skipped ? fmt::format("~{} cycles", grouped(static_cast<std::uint64_t>(result.sampling->launches[k].cycles + 0.5)))
                  : (kernel.started == kNever ? "not started" : "unfinished");
    out += fmt::format("    {:>3}  {:<28} {:>22} {:>10} CTAs\n", k, name, length, grouped(kernel.ctas));
  }
  if (result.kernels.size() > shown) out += fmt::format("    ... and {} more\n", result.kernels.size() - shown);
  return out;
}

constexpr std::string_view kOriginText[kOrigins] = {"local LLC",     "remote LLC",      "local memory",
                                                    "remote memory", "neighbouring L1", "L2"};

/// The mean over ranks; nothing for a run of one.
std::string waiting(const Provenance& p) {
  if (p.wait_shares.size() < 2) return "";
  const double sum = std::accumulate(p.wait_shares.begin(), p.wait_shares.end(), 0.0);
  const std::string moved = p.moves == 0 ? "" : fmt::format(", {} move{} of chips", p.moves, p.moves == 1 ? "" : "s");
  return fmt::format(" that wait {} of it{}", percent(sum, static_cast<double>(p.wait_shares.size())), moved);
}

std::string responses_row(const RunResult& result) {
  const auto by_origin = responses_by_origin(result);
  const auto all = static_cast<double>(std::reduce(by_origin.begin(), by_origin.end()));
  std::string text = per(all, static_cast<double>(result.cycles)) + " loads per cycle:";
  for (std::size_t o = 0; o < kOrigins; ++o) {
    if (o >= static_cast<std::size_t>(DataOrigin::neighbour_l1) && by_origin[o] == 0) continue;
    text += fmt::format("{} {} {}", o == 0 ? "" : ",", percent(static_cast<double>(by_origin[o]), all), kOriginText[o]);
  }
  return row("responses", text);
}

/// Requests by home, of workloads that know their data structures; else empty.
std::vector<std::uint64_t> requests_by_home(const RunResult& result) {
  if (!result.structures) return {};
  std::vector<std::uint64_t> sum(result.chips.size());
  const auto& homes = result.structures->homes;
  for (std::size_t i = 0; i < homes.size(); ++i) sum[i % sum.size()] += homes[i];
  return sum;
}

std::string placement_doubt(const RunResult& result) {
  constexpr std::string_view kWhere = "see `partition.placement`, `partition.interleave_kib` and `partition.cta_to_chip`";
  const std::size_t chips = result.chips.size();
  const Counters sum = sum_of_chips(result);
  if (chips == 1 || sum[requests_local] + sum[requests_remote] == 0) return "";
  if (sum[requests_remote] == 0)
    return fmt::format("all requests of L1s stayed on their chip, so that links and remote caching did nothing: {}", kWhere);
  const std::vector<std::uint64_t> homes = requests_by_home(result);
  if (homes.empty()) return "";
  const auto busiest = std::ranges::max_element(homes);
  const double share = static_cast<double>(*busiest) / static_cast<double>(std::reduce(homes.begin(), homes.end()));
  if (share <= (chips == 2 ? 0.75 : 0.5)) return "";  // of two chips one always has half
  return fmt::format("chip {} is the home of {:.1f} % of the requests: {}", busiest - homes.begin(), 100 * share, kWhere);
}

/// That all requests are to none of the structures: who writes byte addresses into a trace, where blocks belong, has it so.
std::string address_doubt(const RunResult& result) {
  if (!result.structures || result.structures->structures.size() < 2) return "";
  const StructuresResult& s = *result.structures;
  const std::size_t of_one = s.homes.size() / s.structures.size();
  const auto others = s.homes.end() - static_cast<std::ptrdiff_t>(of_one);
  if (std::reduce(others, s.homes.end()) == 0 || std::reduce(s.homes.begin(), others) != 0) return "";
  return fmt::format(
      "no request is to {} that the workload names: a list of SASS traces names only what was copied to; of a trace of "
      "another program, columns have block addresses (bytes / 128), and `/allocations` has bytes",
      s.structures.size() == 2 ? "the one data structure"
                               : fmt::format("any of the {} data structures", s.structures.size() - 1));
}

std::string bytes(std::uint64_t amount) {
  const std::string text = si(static_cast<double>(amount));
  return text + (text.find(' ') == std::string::npos ? " B" : "B");
}

std::string sharing_row(std::string_view label, const SharedBytes& s) {
  return fmt::format("    {:<12} {:>9} {:>12} {:>12} {:>12} {:>12}\n", label, bytes(s.distinct()), bytes(s.truly),
                     bytes(s.falsely), bytes(s.unshared), bytes(s.with_copies()));
}

std::string sharing_rows(const SharingResult& sharing) {
  const SharingMean mean = mean_of_epochs(sharing);
  std::string out = fmt::format("  {:<14} {:>9} {:>12} {:>12} {:>12} {:>12}\n", "data", "distinct", "true shared",
                                "false shared", "not shared", "with copies");
  out += sharing_row("whole run", sharing.footprint);
  for (std::size_t w = 0; w < kSharingWindows; ++w)
    out += sharing_row(si(static_cast<double>(sharing_window(sharing.epoch_cycles, w))) + " cycles", mean.bytes[w]);
  return out + fmt::format("    windows: mean of {} epochs\n", grouped(mean.epochs));
}

/// The whole with its range, what the events took, and what was drawn anyway.
std::string energy_row(const Energy& energy, std::span<const PricedEnergy> prices) {
  const double whole = energy.total();
  double at_rest = 0;
  std::string text = joules(whole);
  if (const EnergyBounds bounds = energy_bounds(prices); !prices.empty())
    text += fmt::format(" ({} to {})", joules(bounds.least), joules(bounds.greatest));
  text += ": ";
  for (const EnergyInfo& part : energy_table()) {
    if (part.at_rest) {
      at_rest += energy[part.id];
    } else if (part.id != EnergyComponent::l2 || energy[part.id] != 0) {  // most machines have none
      text += fmt::format("{} {}, ", percent(energy[part.id], whole), part.label);
    }
  }
  return row("energy", text + percent(at_rest, whole) + " static");
}

std::string sm_sharing_rows(const SmSharingResult& sharing) {
  const SmSharing s = sharing.total();
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    return percent(static_cast<double>(part), static_cast<double>(whole));
  };
  std::string out =
      row("shared by SMs",
          fmt::format("{} of {} lines of the kernels, {} of them read-only", si(static_cast<double>(s.shared_lines)),
                      si(static_cast<double>(s.lines)), share(s.shared_read_only_lines, s.shared_lines)));
  out += row("", fmt::format("{} of their loads served by the LLC",
                             share(s.shared_loads - s.shared_l1_hits - s.shared_l1_merges, s.shared_loads)));
  return out + row("", fmt::format("read-only lines in {} cycles: {} asked for by > 2 SMs, {} by > 9",
                                   grouped(sharing.window_cycles), share(s.window_lines_3, s.window_lines),
                                   share(s.window_lines_10, s.window_lines)));
}

/// Chips with memory: all, but of a machine of compute and base dies.
double memory_chips(const RunResult& result) {
  const auto config = nlohmann::json::parse(result.provenance.effective_config, nullptr, false);
  const auto chips = config.is_object() ? config.value("/partition/memory_chips"_json_pointer, 0u) : 0u;
  return static_cast<double>(chips == 0 ? result.chips.size() : chips);
}

std::string table(const RunResult& result, std::size_t kernels_shown) {
  const Counters sum = sum_of_chips(result);
  const auto& p = result.provenance;
  const auto count = [&](Counter c) { return static_cast<double>(sum[c]); };
  const auto cycles = static_cast<double>(result.cycles);
  const double channels =
      result.chips.empty() ? 0 : memory_chips(result) * static_cast<double>(result.chips[0].channel_reads.size());
  const double dram_bytes = count(dram_read_bytes) + count(dram_write_bytes);
  const double requests = count(requests_local) + count(requests_remote);

  std::string out;
  out += row("system", fmt::format("{} ({} chip{})", p.system, result.chips.size(), result.chips.size() == 1 ? "" : "s"));
  if (const std::string caches = caches_text(result); !caches.empty()) out += row("caches", caches);
  out += row("workload", p.workload);
  for (const RunCondition& c : conditions_of(result))
    if (c.name != "warning") out += row(c.name, c.text);
  if (result.sampling) out += sampling_rows(*result.sampling);
  out += row("cycles", grouped(result.cycles) + (result.sampling   ? "  (simulated; so is all below the kernels)"
                                                 : result.complete ? ""
                                                                   : "  (stopped early)"));
  out += row("kernels", grouped(result.kernels.size()) +
                            (result.sampling ? fmt::format("  ({} simulated)", grouped(result.sampling->simulated())) : "") +
                            (result.complete ? "" : begun(result)));
  out += kernel_rows(result, kernels_shown);
  out += row("IPC", per(count(warp_instructions), cycles) + " warp instructions per cycle");
  out += row("L1", percent(count(l1_hits), count(l1_accesses)) + " hits of " + si(count(l1_accesses)) + " loaded lines");
  if (count(l2_accesses) != 0)
    out += row("L2", percent(count(l2_hits), count(l2_accesses)) + " hits of " + si(count(l2_accesses)) + " requests");
  out += row("LLC", percent(count(llc_hits), count(llc_accesses)) + " hits of " + si(count(llc_accesses)) + " requests");
  out += row("remote", percent(count(requests_remote), requests) + " of " + si(requests) +
                           " requests of L1s: read misses, stores, atomics");
  for (const std::string& what : doubts(result)) out += row("warning", what);
  out += responses_row(result);
  out += row("DRAM",
             per(dram_bytes, cycles) + " bytes per cycle, " + percent(count(dram_bus_busy), cycles * channels) + " busy");
  out += row("links", per(count(link_bytes), cycles) + " bytes per cycle");
  if (const double sent = count(coherence_invalidations); sent != 0) {
    out += row("coherence", si(sent) + " invalidations, " + percent(count(coherence_invalidation_hits), sent) +
                                " found a copy; " + percent(count(coherence_evict_invalidations), sent) +
                                " because of evicted entries; " +
                                percent(count(coherence_invalidation_bytes), count(link_bytes)) + " of the links' bytes");
  }
  if (!result.decisions.empty()) out += row("decisions", decisions_summary(result));
  out += row("load", per(count(load_latency_cycles), count(loads_completed), 1) + " cycles on average");
  if (const Energy energy = energy_of_chips(result); energy.total() > 0) out += energy_row(energy, result.energy_prices);
  if (result.sharing) out += sharing_rows(*result.sharing);
  if (result.sm_sharing) out += sm_sharing_rows(*result.sm_sharing);
  out += row("host", fmt::format("{} on {} rank{}{}; {} events/s, {} requests/s, {} cycles/s", duration(p.host_seconds),
                                 p.hosts.size(), p.hosts.size() == 1 ? "" : "s", waiting(p),
                                 rate(static_cast<double>(p.events), p.host_seconds), rate(requests, p.host_seconds),
                                 rate(cycles, p.host_seconds)));
  out += row("digest", hex(result.digest));
  return out;
}

}  // namespace

std::array<std::uint64_t, kOrigins> responses_by_origin(const RunResult& result) {
  std::array<std::uint64_t, kOrigins> sum{};
  for (const auto& chip : result.chips) {
    for (std::size_t o = 0; o < kOrigins; ++o) sum[o] += std::reduce(chip.latency[o].begin(), chip.latency[o].end());
  }
  return sum;
}

Counters sum_of_chips(const RunResult& result) {
  Counters sum;
  for (const auto& chip : result.chips) sum += chip.totals;
  return sum;
}

Energy energy_of_chips(const RunResult& result) {
  Energy sum;
  for (const auto& chip : result.chips) sum += chip.energy;
  return sum;
}

std::string caches_text(const RunResult& result) {
  const auto config = nlohmann::json::parse(result.provenance.effective_config, nullptr, false);
  if (!config.is_object()) return "";
  const auto word = [&](const nlohmann::json::json_pointer& key) { return config.value(key, std::string()); };
  std::string out;
  for (const auto& [name, value] : {std::pair("organisation", word("/llc/organisation"_json_pointer)),
                                    {"protocol", word("/coherence/protocol"_json_pointer)},
                                    {"replication", word("/llc/replication"_json_pointer)},
                                    {"cluster sharing", word("/cluster/sharing"_json_pointer)}}) {
    const bool said = !value.empty() && (value != "none" || name != std::string_view("cluster sharing"));
    if (said) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name, value);
  }
  return out;
}

std::string sampled_text(const RunResult& result) {
  if (!result.sampling) return "";
  const std::size_t simulated = result.sampling->simulated(), all = result.sampling->launches.size();
  return fmt::format("{} of {} launches simulated ({}){}", grouped(simulated), grouped(all), result.provenance.sampling,
                     simulated < all ? ", the others extrapolated" : "");
}

std::vector<std::string> doubts(const RunResult& result) {
  std::vector<std::string> out;
  for (std::string what : {placement_doubt(result), address_doubt(result)})
    if (!what.empty()) out.push_back(std::move(what));
  return out;
}

std::string summary_table(const RunResult& result) { return table(result, kKernelRows); }

/// Every decision with its values.
static std::string decisions_text(const RunResult& result) {
  std::string out;
  for (const Decision& d : result.decisions) {
    out += fmt::format("    kernel {:<4} cycle {:>14}  {}\n", d.kernel, grouped(d.cycle), d.choice);
    for (const auto& [name, value] : d.values) out += fmt::format("      {:<32} {:>14.4g}\n", name, value);
  }
  return out;
}

std::string info_text(const RunResult& result) {
  const auto& p = result.provenance;
  std::string out = table(result, kAllKernels);
  if (!result.decisions.empty()) out += row("decisions", "with what the model saw and predicted") + decisions_text(result);
  out += row("started", p.started_at);
  out += row("written by", "Atoll " + written_by(p));
  out += row("command", p.command);
  const auto above = doubts(result);
  for (const RunCondition& c : conditions_of(result))
    if (c.name == "warning" && std::ranges::find(above, c.text) == above.end()) out += row(c.name, c.text);
  out += row("samples", grouped(result.samples.size()));
  if (const Energy energy = energy_of_chips(result); energy.total() > 0) {
    out += row("energy", "sum over chips");
    for (const auto& part : energy_table()) out += fmt::format("    {:<22} {:>22}\n", part.name, joules(energy[part.id]));
  }
  out += row("counters", "sum over chips");
  const Counters sum = sum_of_chips(result);
  for (const auto& counter : counter_table()) {
    const bool known = std::ranges::find(result.not_in_file, counter.id) == result.not_in_file.end();
    out += fmt::format("    {:<22} {:>22} {}{}\n", counter.name, grouped(sum[counter.id]), counter.unit,
                       known ? "" : " (not in this file)");
  }
  return out;
}

}  // namespace atl
