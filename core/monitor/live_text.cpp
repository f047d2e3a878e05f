#include "core/monitor/live_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "core/stats/bottleneck_stack.hpp"
#include "core/stats/human.hpp"

namespace atl {
namespace {

using nlohmann::json;

constexpr std::size_t kPartsShown = 3, kDecisionRows = 3;
constexpr std::size_t kKernelWidth = 60;  // behind its number, in a window of 80 columns
constexpr double kLeastShown = 0.005;

std::string progress_text(const json& state) {
  const json& p = state.at("progress");
  if (p.is_null()) return "waiting for the run to begin";
  std::string out = fmt::format("kernel {}/{} | cycle {} | CTAs {}/{}", p.at("kernel").get<std::size_t>() + 1,
                                p.at("kernels").get<std::size_t>(), si(p.at("cycle")),
                                p.at("ctas_done").get<std::uint64_t>(), p.at("ctas_total").get<std::uint64_t>());
  if (const json& rates = state.at("rates"); !rates.is_null())
    out +=
        fmt::format(" | {} cycles/s | {} requests/s", si(rates.at("now").at("cycles")), si(rates.at("now").at("requests")));
  if (!p.at("seconds_left").is_null()) out += fmt::format(" | {} left", duration(p.at("seconds_left")));
  return out;
}

/// `41 % DRAM, 20 % issues`, the largest first. `shares`: by the names of parts.
std::string largest(std::vector<std::pair<double, std::string_view>> shares) {
  std::ranges::stable_sort(shares, std::greater{}, [](const auto& s) { return s.first; });
  std::vector<std::string> words;
  for (const auto& [share, label] : shares) {
    if (share < kLeastShown || words.size() == kPartsShown) break;
    words.push_back(fmt::format("{:.0f} % {}", 100 * share, label));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string spent_text(const json& chips) {
  std::vector<std::pair<double, std::string_view>> shares;
  for (const StackPartInfo& p : stack_parts()) {
    double sum = 0;
    for (const json& c : chips) sum += c.at("spent").value(std::string(p.name), 0.0);
    shares.emplace_back(sum / static_cast<double>(chips.size()), p.label);
  }
  return largest(std::move(shares));
}

std::string modes_text(const json& m) {
  if (m.is_null()) return "";
  std::string out = m.at("llc");
  if (m.contains("local_ways")) out += fmt::format(", {} local ways", m["local_ways"].get<unsigned>());
  if (m.contains("replication_degree")) out += fmt::format(", degree {}", m["replication_degree"].get<unsigned>());
  return out + (m.contains("profiles") ? ", profiles" : "");
}

std::string ended_text(const json& ended) { return "the run has ended: " + ended.at("message").get<std::string>(); }

/// Packets of a row's chip that wait in a column's.
void append_matrix(std::vector<std::string>& out, const json& chips) {
  std::string head = fmt::format("{:<18}", "packets that wait");
  for (std::size_t c = 0; c < chips.size(); ++c) head += fmt::format("{:>9}", fmt::format("in {}", c));
  out.push_back(head);
  for (std::size_t c = 0; c < chips.size(); ++c) {
    std::string row = fmt::format("  {:<16}", fmt::format("of chip {}", c));
    for (const json& n : chips[c].at("packets_at")) row += fmt::format("{:>9.1f}", n.get<double>());
    out.push_back(row);
  }
}

}  // namespace

std::string live_line(const json& state) {
  if (!state.at("ended").is_null()) return ended_text(state.at("ended"));
  const json& chips = state.at("chips");
  const std::string spent = chips.is_null() ? "" : spent_text(chips);
  return progress_text(state) + (spent.empty() ? "" : " | " + spent);
}

std::vector<std::string> live_screen(const json& state) {
  const json& run = state.at("run");
  std::vector<std::string> out{fmt::format("{} on {}, {}, {} chip{} in {} rank{}", run.at("workload").get<std::string>(),
                                           run.at("system").get<std::string>(), run.at("organisation").get<std::string>(),
                                           run.at("chips").get<unsigned>(), run.at("chips") == 1 ? "" : "s",
                                           run.at("ranks").get<unsigned>(), run.at("ranks") == 1 ? "" : "s"),
                               progress_text(state)};
  if (const json& p = state.at("progress"); !p.is_null())
    out.push_back(fmt::format("kernel {}: {}", p.at("kernel").get<std::size_t>(),
                              shortened(p.at("name").get<std::string>(), kKernelWidth)));
  if (const json& chips = state.at("chips"); !chips.is_null()) {
    out.emplace_back();
    for (std::size_t c = 0; c < chips.size(); ++c) {
      const json& chip = chips[c];
      std::vector<std::pair<double, std::string_view>> shares;
      for (const StackPartInfo& p : stack_parts())
        shares.emplace_back(chip.at("spent").value(std::string(p.name), 0.0), p.label);
      out.push_back(
          fmt::format("chip {:<3} {:<12} CTAs {:>13}  LLC {:>5.1f} %  {}", c, chip.at("does").get<std::string>(),
                      fmt::format("{}/{}", chip.at("ctas_done").get<std::uint64_t>(), chip.at("ctas").get<std::uint64_t>()),
                      100 * chip.at("llc_hit_rate").get<double>(), largest(std::move(shares))));
    }
    if (chips.size() > 1 && chips.size() <= 8) append_matrix(out, chips);
    out.push_back(fmt::format("policy: {}", modes_text(chips[0].at("modes"))));
  }
  if (const json& d = state.at("decisions"); !d.is_null()) {
    const json& last = d.at("last");
    for (std::size_t i = last.size() - std::min(last.size(), kDecisionRows); i < last.size(); ++i)
      out.push_back(fmt::format("  kernel {}, cycle {}: {}", last[i].at("kernel").get<std::uint64_t>(),
                                grouped(last[i].at("cycle")), last[i].at("choice").get<std::string>()));
  }
  return out;
}

}  // namespace atl
