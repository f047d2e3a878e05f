#include "core/stats/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/stats/human.hpp"

namespace atl {
namespace {

using enum Counter;

constexpr std::size_t kKernelsShown = 5;
constexpr std::size_t kAllKernels = std::numeric_limits<std::size_t>::max();

/// Launch to end; nothing for a kernel that --max-cycles cut off.
std::optional<Cycle> cycles_of(const KernelResult& kernel) {
  if (kernel.finished == kNever || kernel.finished <= kernel.launched) return std::nullopt;
  return kernel.finished - kernel.launched;
}

std::string row(std::string_view label, std::string_view value) { return fmt::format("  {:<12} {}\n", label, value); }

std::string per(double amount, double of, int digits = 2) {
  return of > 0 ? fmt::format("{:.{}f}", amount / of, digits) : "-";
}

std::string rate(double amount, double seconds) { return seconds > 0 ? si(amount / seconds) : "-"; }

std::string kernel_rows(const RunResult& result, std::size_t shown) {
  const bool all = shown == kAllKernels;
  std::string out;
  for (std::size_t k = 0; k < std::min(result.kernels.size(), shown); ++k) {
    const auto& kernel = result.kernels[k];
    const auto cycles = cycles_of(kernel);
    // Mangled names run to hundreds of characters; where all kernels are shown, so are all of their names.
    const std::string name = all ? kernel.name : fmt::format("{:.28}", kernel.name);
    out += fmt::format("    {:>3}  {:<28} {:>15} cycles {:>10} CTAs\n", k, name, cycles ? grouped(*cycles) : "unfinished,",
                       grouped(kernel.ctas));
  }
  if (result.kernels.size() > shown) out += fmt::format("    ... and {} more\n", result.kernels.size() - shown);
  return out;
}

std::string table(const RunResult& result, std::size_t kernels_shown) {
  const Counters sum = sum_of_chips(result);
  const auto& p = result.provenance;
  const auto count = [&](Counter c) { return static_cast<double>(sum[c]); };
  const auto cycles = static_cast<double>(result.cycles);
  double channels = 0;
  for (const auto& chip : result.chips) channels += static_cast<double>(chip.channel_reads.size());
  const double dram_bytes = count(dram_read_bytes) + count(dram_write_bytes);
  const double requests = count(requests_local) + count(requests_remote);

  std::string out;
  out += row("system", fmt::format("{} ({} chips)", p.system, result.chips.size()));
  out += row("workload", p.workload);
  out += row("cycles", grouped(result.cycles) + (result.complete ? "" : "  (stopped by --max-cycles)"));
  out += row("kernels", grouped(result.kernels.size()));
  out += kernel_rows(result, kernels_shown);
  out += row("IPC", per(count(warp_instructions), cycles) + " warp instructions per cycle");
  out += row("L1", percent(count(l1_hits), count(l1_accesses)) + " hits of " + si(count(l1_accesses)) + " loaded lines");
  out += row("LLC", percent(count(llc_hits), count(llc_accesses)) + " hits of " + si(count(llc_accesses)) + " requests");
  out += row("remote", percent(count(requests_remote), requests) + " of " + si(requests) + " L1 misses");
  out += row("DRAM",
             per(dram_bytes, cycles) + " bytes per cycle, " + percent(count(dram_bus_busy), cycles * channels) + " busy");
  out += row("links", per(count(link_bytes), cycles) + " bytes per cycle");
  out += row("load", per(count(load_latency_cycles), count(loads_completed), 1) + " cycles on average");
  out += row("host",
             fmt::format("{} on {} rank{}; {} events/s, {} requests/s, {} cycles/s", duration(p.host_seconds),
                         p.hosts.size(), p.hosts.size() == 1 ? "" : "s", rate(static_cast<double>(p.events), p.host_seconds),
                         rate(requests, p.host_seconds), rate(cycles, p.host_seconds)));
  out += row("digest", hex(result.digest));
  return out;
}

}  // namespace

Counters sum_of_chips(const RunResult& result) {
  Counters sum;
  for (const auto& chip : result.chips) sum += chip.totals;
  return sum;
}

std::string summary_table(const RunResult& result) { return table(result, kKernelsShown); }

std::string info_text(const RunResult& result) {
  const auto& p = result.provenance;
  std::string out = table(result, kAllKernels);
  out += row("started", p.started_at);
  out += row("written by", fmt::format("Atoll {} ({})", p.version, p.git_commit));
  out += row("command", p.command);
  out += row("samples", grouped(result.samples.size()));
  out += row("counters", "sum over chips");
  const Counters sum = sum_of_chips(result);
  for (const auto& counter : counter_table()) {
    out += fmt::format("    {:<22} {:>22} {}\n", counter.name, grouped(sum[counter.id]), counter.unit);
  }
  return out;
}

std::string info_json(const RunResult& result) {
  using Json = nlohmann::ordered_json;
  const auto& p = result.provenance;
  Json out;
  out["digest"] = hex(result.digest);
  out["cycles"] = result.cycles;
  out["complete"] = result.complete;
  out["chips"] = result.chips.size();
  out["samples"] = result.samples.size();
  out["kernels"] = Json::array();
  for (const auto& kernel : result.kernels) {
    const auto cycles = cycles_of(kernel);
    out["kernels"].push_back({{"name", kernel.name}, {"ctas", kernel.ctas}, {"cycles", cycles ? Json(*cycles) : Json()}});
  }
  const Counters sum = sum_of_chips(result);
  for (const auto& counter : counter_table()) out["totals"][std::string(counter.name)] = sum[counter.id];
  out["provenance"] = {{"version", p.version},   {"git_commit", p.git_commit},
                       {"command", p.command},   {"system", p.system},
                       {"workload", p.workload}, {"started_at", p.started_at},
                       {"hosts", p.hosts},       {"host_seconds", p.host_seconds},
                       {"events", p.events},     {"workload_digest", p.workload_digest}};
  // A name that is not UTF-8 must not cost the user the rest of the output.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace atl
