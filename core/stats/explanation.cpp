#include "core/stats/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/engine/function_name.hpp"
#include "core/stats/human.hpp"
#include "core/stats/run_conditions.hpp"
#include "core/stats/summary.hpp"

namespace atl {
namespace {

using Part = StackPart;

constexpr std::size_t kKernelsShown = 12;
/// Above it a resource is short of bandwidth; below, what waits for it waits for its latency, or for bursts.
constexpr double kBusy = 0.7;

const StackPartInfo& info(Part p) { return stack_parts()[static_cast<std::size_t>(p)]; }

Stack over_kernels(const RunResult& r, std::size_t chip) {
  Stack sum;
  for (const auto& kernel : r.stack) sum += kernel[chip];
  return sum;
}

Stack over_chips(const std::vector<Stack>& chips) {
  Stack sum;
  for (const Stack& s : chips) sum += s;
  return sum;
}

std::string share(double part, double whole) { return whole > 0 ? fmt::format("{:.1f}", 100 * part / whole) : "-"; }

/// The resource that belongs to a limit; of links the busier direction.
const ResourceInfo* resource_of(const RunResult& r, const Capacities& capacities, std::size_t chip, Part limit) {
  if (limit == Part::link_out || limit == Part::link_in) {
    const bool out = utilisation(r, capacities, chip, Resource::link_out).mean >=
                     utilisation(r, capacities, chip, Resource::link_in).mean;
    limit = out ? Part::link_out : Part::link_in;
  }
  for (const ResourceInfo& i : resources())
    if (i.part == limit) return &i;
  return nullptr;
}

/// What a run does that is limited so: "waits for DRAM".
std::string verb(Part p) {
  switch (p) {
    case Part::issue:
      return "issues instructions";
    case Part::compute:
      return "waits for arithmetic and shared memory";
    case Part::no_warp:
      return "has no warps to issue from";
    case Part::l1:
      return "waits for L1s";
    case Part::cluster:
      return "waits for other L1s of the cluster";
    case Part::mshr:
      return "waits because too few requests can be under way";
    case Part::page_home:
      return "waits for the homes of pages";
    case Part::link_out:
    case Part::link_in:
      return "waits for links";
    case Part::coherence:
      return "waits for coherence";
    case Part::flush:
      return "drains, flushes or changes organisation";
    case Part::balance:
      return "waits for other chips to end their part of a kernel";
    case Part::launch:
      return "waits for kernels to be launched";
    case Part::unseen:
      return "was not looked at";
    default:
      return fmt::format("waits for the {}", info(p).label);
  }
}

/// What helps, by configuration keys where there are any.
std::string advice(Part p, bool busy) {
  switch (p) {
    case Part::issue:
      return busy ? "the memory system does not limit it; more SMs or schedulers would help"
                  : "more SMs or schedulers would shorten this part and no other";
    case Part::compute:
      return "more warps per SM would hide these latencies";
    case Part::no_warp:
      return "more CTAs, larger kernels or fewer SMs would use the machine better";
    case Part::l1:
      return busy ? "the L1s' ports are full" : "L1 hits in flight: more warps or loads in flight would hide them";
    case Part::mshr:
      return "l1.mshrs, l1.mshr_merges, l1.pending_stores, llc.mshrs, llc.mshr_merges or llc.bypass_reads bound it";
    case Part::page_home:
      return "control.latency_cycles and first touch bound it";
    case Part::request:
    case Part::response:
      return busy ? "noc.cluster_gbps and noc.slice_gbps bound it"
                  : "ports are full in bursts or at single places, or it is their latency";
    case Part::l2:
      return busy ? "l2.slice_gbps and l2.slices bound it"
                  : "single slices are full, or it is their latency (l2.latency_cycles)";
    case Part::slice:
      return busy ? "llc.slice_gbps and llc.slices bound it"
                  : "single slices are full, or it is their latency (llc.latency_cycles)";
    case Part::link_out:
    case Part::link_in:
      return busy ? "link.bandwidth_gbps (with a graph, link.edges) bounds it; an organisation with more local data would "
                    "help"
                  : "one of its links is full (link.bandwidth_gbps, link.edges), or it is link.latency_cycles, "
                    "link.buffer_packets, noc.link_port_gbps, or bursts";
    case Part::dram:
      return busy ? "memory bandwidth bounds it; a larger or better used LLC would help"
                  : "memory's latency, bank conflicts, or single channels bound it; more loads in flight would help";
    case Part::flush:
      return "what the LLC holds at a kernel's end, how often kernels end, and the controller's word then "
             "(control.latency_cycles, there and back) bound it";
    case Part::balance:
      return "the chips have unequal work, or unequal memory";
    case Part::launch:
      return "kernels are short beside control.launch_latency_cycles";
    default:
      return "";
  }
}

std::string links_split(const Stack& s) {
  const double whole = s.total();
  return fmt::format(" ({} % outwards, {} % inwards)", share(s[Part::link_out], whole), share(s[Part::link_in], whole));
}

double time_of(const Stack& s, Part limit) {
  const bool links = limit == Part::link_out || limit == Part::link_in;
  return links ? s[Part::link_out] + s[Part::link_in] : s[limit];
}

/// A resource that is busy all the time, and busier than the one that most is waited for: behind bursts, requests line up
/// where they come from.
std::string also_busy(const RunResult& r, const Capacities& capacities, std::size_t chip, Part limit) {
  const ResourceInfo *named = resource_of(r, capacities, chip, limit), *busiest = named;
  double most = named == nullptr ? 0 : utilisation(r, capacities, chip, named->id).mean;
  for (const ResourceInfo& i : resources())
    if (const double use = utilisation(r, capacities, chip, i.id).mean; use > most) most = use, busiest = &i;
  if (busiest == named || most < kBusy) return "";
  return fmt::format("; busiest of all: {}, {:.0f} %: {}", busiest->label, 100 * most, advice(busiest->part, true));
}

/// "chip 2: 61.0 % of the run waits for links (..); links outwards 98 % busy, 100 % in the busiest period: ..."
std::string verdict(const RunResult& r, const Capacities& capacities, std::size_t chip) {
  const Stack s = over_kernels(r, chip);
  if (s.total() <= 0) return "has no SMs";
  const Part limit = limit_of(s);
  std::string text = fmt::format("{} % of the run {}", share(time_of(s, limit), s.total()), verb(limit));
  if (limit == Part::link_out || limit == Part::link_in) text += links_split(s);
  bool busy = false;
  if (const ResourceInfo* resource = resource_of(r, capacities, chip, limit)) {
    const Utilisation u = utilisation(r, capacities, chip, resource->id);
    // Loads wait in other chips, too: any of them may be the one that is full.
    double most = u.most;
    std::size_t where = chip;
    for (std::size_t c = 0; c < r.chips.size(); ++c) {
      const double other = utilisation(r, capacities, c, resource->id).most;
      if (other > most + 0.1) most = other, where = c;
    }
    busy = most >= kBusy;
    text += fmt::format("; {} {:.0f} % busy", resource->label, 100 * u.mean);
    if (u.most > u.mean + 0.02) text += fmt::format(", {:.0f} % in the busiest period", 100 * u.most);
    if (where != chip) text += fmt::format(", chip {}'s {:.0f} %", where, 100 * most);
  }
  if (limit == Part::no_warp) {
    Stack with_warps = s;
    for (const Part p : {Part::no_warp, Part::launch, Part::flush, Part::balance}) with_warps[p] = 0;
    const Part next = limit_of(with_warps);
    text += fmt::format("; where it has some, it {} most ({} % of the run)", verb(next), share(time_of(s, next), s.total()));
  }
  const std::string help = advice(limit, busy);
  if (!help.empty()) text += ": " + help;
  return text + also_busy(r, capacities, chip, limit);
}

std::string stack_table(const RunResult& r) {
  std::string out = fmt::format("  {:<20}{:>8}", "% of the cycles", "mean");
  std::vector<Stack> chips;
  Stack mean;
  for (std::size_t c = 0; c < r.chips.size(); ++c) {
    out += fmt::format("{:>8}", fmt::format("chip {}", c));
    mean += chips.emplace_back(over_kernels(r, c));
  }
  out += "\n";
  for (const StackPartInfo& p : stack_parts()) {
    if (mean[p.id] <= 0) continue;
    out += fmt::format("    {:<18}{:>8}", p.label, share(mean[p.id], mean.total()));
    for (const Stack& s : chips) out += fmt::format("{:>8}", share(s[p.id], s.total()));
    out += "\n";
  }
  return out;
}

std::string busy_table(const RunResult& r, const Capacities& capacities) {
  std::string out = fmt::format("  {:<20}{:>8}", "% busy", "mean");
  for (std::size_t c = 0; c < r.chips.size(); ++c) out += fmt::format("{:>8}", fmt::format("chip {}", c));
  out += "   most in a sampling period\n";
  for (const ResourceInfo& i : resources()) {
    if (std::ranges::all_of(capacities, [&](const Capacity& c) { return c[i.id] <= 0; })) continue;
    double sum = 0, most = 0, have = 0;
    std::string cells;
    for (std::size_t c = 0; c < r.chips.size(); ++c) {
      if (capacities[c][i.id] <= 0) {
        cells += fmt::format("{:>8}", "-");
        continue;
      }
      ++have;
      const Utilisation u = utilisation(r, capacities, c, i.id);
      sum += u.mean, most = std::max(most, u.most);
      cells += fmt::format("{:>8.1f}", 100 * u.mean);
    }
    out += fmt::format("    {:<18}{:>8.1f}{}{:>8.1f}\n", i.label, 100 * sum / have, cells, 100 * most);
  }
  return out;
}

std::string kernel_table(const RunResult& r) {
  std::vector<std::size_t> order;
  std::vector<Stack> sums;
  for (std::size_t k = 0; k < r.stack.size(); ++k)
    if (sums.push_back(over_chips(r.stack[k])); sums[k].total() > 0) order.push_back(k);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return sums[a].total() > sums[b].total(); });
  const auto chips_of_mean = static_cast<double>(chips_with_stacks(r.stack));
  std::string out = fmt::format("  {:<20}\n", "kernels, longest first");
  for (std::size_t i = 0; i < std::min(order.size(), kKernelsShown); ++i) {
    const std::size_t k = order[i];
    const double cycles = sums[k].total() / chips_of_mean;
    const Part limit = limit_of(sums[k]);
    out += fmt::format("    {:>4}  {:<28} {:>14} cycles, {:>5} % {}{}\n", k, shortened(function_name(r.kernels[k].name), 28),
                       grouped(static_cast<std::uint64_t>(cycles + 0.5)), share(time_of(sums[k], limit), sums[k].total()),
                       verb(limit), r.kernels[k].finished == kNever ? "; unfinished, these are its cycles so far" : "");
  }
  if (order.size() > kKernelsShown) out += fmt::format("    ... and {} more\n", order.size() - kKernelsShown);
  return out;
}

/// Of what was never simulated, as kernels behind the end of a stopped run, nothing.
nlohmann::ordered_json limit_json(const Stack& s) {
  return s.total() > 0 ? nlohmann::ordered_json(info(limit_of(s)).name) : nlohmann::ordered_json();
}

nlohmann::ordered_json stack_json(const Stack& s) {
  nlohmann::ordered_json out;
  for (const StackPartInfo& p : stack_parts()) out[std::string(p.name)] = s[p.id];
  return out;
}

}  // namespace

StackPart limit_of(const Stack& stack) {
  Stack s = stack;
  s[Part::link_out] += s[Part::link_in], s[Part::link_in] = 0;
  const auto most = static_cast<Part>(std::ranges::max_element(s.cycles) - s.cycles.begin());
  return most == Part::link_out && stack[Part::link_in] > stack[Part::link_out] ? Part::link_in : most;
}

std::string explanation_text(const RunResult& r, const Capacities& capacities) {
  std::string out = fmt::format("  {:<12} {} ({} chips)\n", "system", r.provenance.system, r.chips.size());
  if (const std::string caches = caches_text(r); !caches.empty()) out += fmt::format("  {:<12} {}\n", "caches", caches);
  out += fmt::format("  {:<12} {}\n", "workload", r.provenance.workload);
  for (const RunCondition& c : conditions_of(r)) out += fmt::format("  {:<12} {}\n", c.name, c.text);
  out += fmt::format("  {:<12} {}{}\n\n", "cycles", grouped(r.cycles), r.complete ? "" : "  (stopped early)");
  if (r.sampling)
    out.insert(out.size() - 1, fmt::format("  {:<12} {}; what follows is of the former\n", "sampled", sampled_text(r)));
  out += stack_table(r) + "\n" + busy_table(r, capacities) + "\n";
  for (std::size_t c = 0; c < r.chips.size(); ++c) out += fmt::format("  chip {}: {}\n", c, verdict(r, capacities, c));
  if (r.stack.size() > 1) out += "\n" + kernel_table(r);
  return out;
}

std::string explanation_json(const RunResult& r, const Capacities& capacities) {
  using Json = nlohmann::ordered_json;
  Json out;
  out["cycles"] = r.cycles;
  out["complete"] = r.complete;
  if (r.sampling) out["sampled"] = sampled_text(r);
  out["conditions"] = conditions_json(conditions_of(r));
  Stack run;
  Json chips = Json::array();
  for (std::size_t c = 0; c < r.chips.size(); ++c) {
    const Stack s = over_kernels(r, c);
    run += s;
    Json chip = {{"limit", limit_json(s)}, {"verdict", verdict(r, capacities, c)}, {"stack", stack_json(s)}};
    for (const ResourceInfo& i : resources()) {
      const Utilisation u = utilisation(r, capacities, c, i.id);
      chip["utilisation"][std::string(i.name)] = {{"mean", u.mean}, {"most", u.most}};
    }
    chips.push_back(std::move(chip));
  }
  const auto chips_of_mean = static_cast<double>(chips_with_stacks(r.stack));
  for (double& cycles : run.cycles) cycles /= chips_of_mean;
  out["limit"] = limit_json(run);
  out["stack"] = stack_json(run);
  out["chips"] = std::move(chips);
  out["kernels"] = Json::array();
  for (std::size_t k = 0; k < r.stack.size(); ++k) {
    Stack mean = over_chips(r.stack[k]);
    for (double& cycles : mean.cycles) cycles /= chips_of_mean;
    out["kernels"].push_back({{"name", r.kernels[k].name},
                              {"finished", r.kernels[k].finished != kNever},
                              {"limit", limit_json(mean)},
                              {"stack", stack_json(mean)}});
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace atl
