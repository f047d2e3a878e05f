#include "core/monitor/live_view.hpp"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <utility>

#include "core/chip/base/machine.hpp"
#include "core/control/capacity.hpp"
#include "core/engine/function_name.hpp"
#include "core/stats/explanation.hpp"
#include "core/stats/human.hpp"
#include "inputs/config/organisations.hpp"

namespace atl {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kKernelsShown = 8, kDecisionsShown = 8;
constexpr std::array<std::string_view, kSpans> kSpanNames{"running",  "changing",     "draining", "waiting",
                                                          "flushing", "invalidating", "idle"};

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }
double ratio(std::uint64_t part, std::uint64_t whole) {
  return ratio(static_cast<double>(part), static_cast<double>(whole));
}

/// What happened between two looks at one kernel, or since its start if the one before was at another.
WaitCensus since(const ChipLook& now, const ChipLook& before, std::size_t chips) {
  if (now.kernel != before.kernel || before.census.packets.size() != chips) return now.census;
  std::vector<std::uint64_t> numbers = flatten({now.census});
  const std::vector<std::uint64_t> earlier = flatten({before.census});
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] -= std::min(numbers[i], earlier[i]);
  return unflatten(numbers, chips)[0];
}

Cycle length(const WaitCensus& census) { return std::reduce(census.span.begin(), census.span.end()); }

std::uint64_t packets(const std::array<Waits, kPacketUses>& uses) {
  std::uint64_t sum = 0;
  for (const Waits& w : uses) sum = std::reduce(w.begin(), w.end(), sum);
  return sum;
}

Json modes_json(const Modes& m) {
  Json out{{"llc", name_of(m.llc)}};
  if (m.llc == LlcRole::split) out["local_ways"] = m.local_ways;
  if (m.replication.level != 0) out["replication_degree"] = 1u << m.replication.level;
  if (m.profile || m.replication.profile) out["profiles"] = true;
  if (m.range_bytes != 0) out["directory_range_bytes"] = m.range_bytes;
  return out;
}

Json queues_json(const Counters& c) {
  Json out;
  const double looked = static_cast<double>(c[Counter::queue_looked]);
  constexpr std::array kQueues{
      std::pair{"l1_mshrs", Counter::queue_l1_mshrs}, std::pair{"request", Counter::queue_request},
      std::pair{"slice", Counter::queue_slice},       std::pair{"llc_mshrs", Counter::queue_llc_mshrs},
      std::pair{"dram", Counter::queue_dram},         std::pair{"response", Counter::queue_response},
      std::pair{"link_out", Counter::queue_link_out}, std::pair{"link_in", Counter::queue_link_in}};
  for (const auto& [name, counter] : kQueues) out[name] = ratio(static_cast<double>(c[counter]), looked);
  return out;
}

Json kernels_json(std::span<const KernelResult> kernels) {
  Json out = Json::array();
  std::vector<std::size_t> last;  // from the latest back; a sampled run skips some
  for (std::size_t k = kernels.size(); k-- > 0 && last.size() < kKernelsShown;)
    if (kernels[k].finished != kNever) last.push_back(k);
  for (const std::size_t k : last | std::views::reverse)
    out.push_back({{"kernel", k},
                   {"name", function_name(kernels[k].name)},
                   {"ctas", kernels[k].ctas},
                   {"cycles", kernels[k].finished - kernels[k].launched}});
  return out;
}

Json decisions_json(std::span<const Decision> decisions) {
  Json last = Json::array();
  for (const Decision& d : decisions.last(std::min(decisions.size(), kDecisionsShown))) {
    Json values = Json::object();
    for (const auto& [name, value] : d.values) values[name] = value;
    last.push_back({{"kernel", d.kernel}, {"cycle", d.cycle}, {"choice", d.choice}, {"values", std::move(values)}});
  }
  return {{"number", decisions.size()}, {"last", std::move(last)}};
}

/// Names of files and programs may be in any encoding.
std::string text_of(const Json& state) { return state.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

LiveView::LiveView(const SystemConfig& config, LiveRun run, bool resumed, Clock::time_point start)
    : config_(config),
      machine_(stack_machine(Machine(config))),
      capacities_(capacities_of(config)),
      resumed_(resumed),
      start_(start),
      due_(start),
      last_(start),
      recent_(config.chips),
      all_(config.chips),
      looks_(config.chips) {
  state_["run"] = {
      {"system", run.system},   {"workload", run.workload},     {"organisation", row_of(config.llc.organisation).word},
      {"chips", config.chips},  {"ranks", run.ranks},           {"output", run.output},
      {"command", run.command}, {"started_at", run.started_at}, {"version", run.version}};
  for (const char* part : {"progress", "rates", "chips", "kernels", "decisions", "ended"}) state_[part] = nullptr;
}

std::string LiveView::state() const { return text_of(state_); }

std::optional<std::string> LiveView::update(const LiveSample& s, Clock::time_point now) {
  if (!first_cycle_) {
    first_cycle_ = last_cycle_ = resumed_ ? s.progress.cycle : 0;
    if (resumed_) before_ = s.progress;
  }
  for (std::size_t c = 0; c < s.chips.size(); ++c) recent_[c] += s.chips[c], all_[c] += s.chips[c];
  if (now < due_ || s.progress.cycle <= last_cycle_) return std::nullopt;
  due_ = now + kInterval;
  state_["progress"] = progress(s.progress, s.kernels, now);
  state_["rates"] = rates(s.progress, std::chrono::duration<double>(now - last_).count());
  state_["chips"] = chips(s, s.progress.cycle - last_cycle_);
  state_["kernels"] = kernels_json(s.kernels);
  state_["decisions"] = decisions_json(s.decisions);
  looks_.assign(s.looks.begin(), s.looks.end());
  std::ranges::fill(recent_, Counters{});
  last_ = now, last_cycle_ = s.progress.cycle;
  return state();
}

/// The kernel is the last that has begun, counted from 0 as in `atoll info`.
LiveView::Json LiveView::progress(ProgressState p, std::span<const KernelResult> kernels, Clock::time_point now) {
  p.seconds = std::chrono::duration<double>(now - start_).count();
  p.ctas_before = before_.ctas_done, p.requests_before = before_.requests;
  const std::size_t kernel = p.kernel == 0 ? 0 : p.kernel - 1;
  Json out{{"kernel", kernel},
           {"kernels", p.kernels},
           {"name", kernel < kernels.size() ? function_name(kernels[kernel].name) : ""},
           {"cycle", p.cycle},
           {"ctas_done", p.ctas_done},
           {"ctas_total", p.ctas_total},
           {"seconds", p.seconds},
           {"seconds_left", nullptr}};
  if (const auto left = seconds_left(p)) out["seconds_left"] = *left;
  return out;
}

/// Per second of host time, since the last state and since watching began.
LiveView::Json LiveView::rates(const ProgressState& p, double seconds) {
  const auto of = [](const std::vector<Counters>& chips, Cycle cycles, double time) {
    Counters sum;
    for (const Counters& c : chips) sum += c;
    return Json{
        {"cycles", ratio(static_cast<double>(cycles), time)},
        {"instructions", ratio(static_cast<double>(sum[Counter::warp_instructions]), time)},
        {"requests", ratio(static_cast<double>(sum[Counter::requests_local] + sum[Counter::requests_remote]), time)}};
  };
  const double whole = state_["progress"]["seconds"];
  return {{"now", of(recent_, p.cycle - last_cycle_, seconds)}, {"mean", of(all_, p.cycle - *first_cycle_, whole)}};
}

/// `lately`: [chip] what it looked like since the last state.
std::vector<Stack> LiveView::stacks(const LiveSample& s, std::vector<WaitCensus>& lately) const {
  KernelSpan span;
  for (std::size_t c = 0; c < s.looks.size(); ++c) {
    lately.push_back(s.looks[c].census.packets.empty() ? WaitCensus(s.looks.size())
                                                       : since(s.looks[c], looks_[c], s.looks.size()));
    span.finished = std::max(span.finished, length(lately.back()));
  }
  return bottleneck_stack(machine_, span, lately);
}

LiveView::Json LiveView::chips(const LiveSample& s, Cycle cycles) {
  std::vector<WaitCensus> lately;
  const std::vector<Stack> spent = stacks(s, lately);
  Json out = Json::array();
  for (std::size_t c = 0; c < s.chips.size(); ++c) {
    const Counters& n = recent_[c];
    const ChipLook& look = s.looks[c];
    Json waits = Json::object(), busy, packets_at = Json::array();
    for (const StackPartInfo& p : stack_parts())
      if (spent[c][p.id] > 0) waits[std::string(p.name)] = ratio(spent[c][p.id], spent[c].total());
    for (const ResourceInfo& r : resources())
      if (const Capacity& most = capacities_[c]; most[r.id] > 0)
        busy[std::string(r.name)] = ratio(work_of(n, most, r.id), most[r.id] * static_cast<double>(cycles));
    for (const WaitCensus& at : lately) packets_at.push_back(ratio(packets(at.packets[c]), length(at)));
    out.push_back(
        {{"does", kSpanNames[static_cast<std::size_t>(look.now)]},
         {"ctas_done", look.ctas_done},
         {"ctas", look.ctas},
         {"limit", spent[c].total() > 0 ? Json(stack_parts()[static_cast<std::size_t>(limit_of(spent[c]))].name) : Json()},
         {"spent", std::move(waits)},
         {"busy", std::move(busy)},
         {"queues", queues_json(n)},
         {"packets_at", std::move(packets_at)},
         {"l1_hit_rate", ratio(n[Counter::l1_hits], n[Counter::l1_accesses])},
         {"llc_hit_rate", ratio(n[Counter::llc_hits], n[Counter::llc_accesses])},
         {"remote", ratio(n[Counter::requests_remote], n[Counter::requests_local] + n[Counter::requests_remote])},
         {"modes", c < s.modes.size() ? modes_json(s.modes[c]) : Json()}});
  }
  return out;
}

std::string LiveView::ended(const LiveEnd& end, Clock::time_point now) {
  state_["ended"] = {{"how", end.how}, {"message", end.message}, {"exit_code", end.exit_code}};
  if (!state_["progress"].is_null()) state_["progress"]["seconds"] = std::chrono::duration<double>(now - start_).count();
  if (const RunResult* r = end.result) {
    state_["ended"]["cycles"] = r->cycles, state_["ended"]["digest"] = hex(r->digest);
    ProgressState p{0, r->kernels.size(), r->cycles, 0, 0, 0};
    for (const ChipResult& c : r->chips) p.ctas_done += c.totals[Counter::ctas];
    for (std::size_t k = 0; k < r->kernels.size(); ++k) {
      p.ctas_total += r->kernels[k].ctas;
      if (r->kernels[k].started != kNever) p.kernel = k + 1;
    }
    if (r->complete) p.ctas_done = p.ctas_total;  // with those that a sampled run skips
    state_["progress"] = progress(p, r->kernels, now);
    state_["progress"]["seconds_left"] = nullptr;
    if (first_cycle_ && !resumed_) {  // what was seen last is of before the end; of a resumed run only that is known
      for (std::size_t c = 0; c < all_.size(); ++c) all_[c] = r->chips[c].totals;
      state_["rates"] = rates(p, 0);
      state_["rates"]["now"] = state_["rates"]["mean"];
    }
    state_["kernels"] = kernels_json(r->kernels), state_["decisions"] = decisions_json(r->decisions);
    for (std::size_t c = 0; c < state_["chips"].size(); ++c)  // the rest is what was seen last
      state_["chips"][c]["does"] = "ended",
      state_["chips"][c]["ctas_done"] = state_["chips"][c]["ctas"] = r->chips[c].totals[Counter::ctas];
  }
  return state();
}

}  // namespace atl
