#include "core/stats/info_json.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/stats/human.hpp"
#include "core/stats/summary.hpp"

namespace atl {
namespace {

nlohmann::ordered_json to_json(const SharedBytes& s) {
  return {{"true_shared", s.truly},
          {"true_shared_copies", s.truly_copies},
          {"false_shared", s.falsely},
          {"not_shared", s.unshared}};
}

nlohmann::ordered_json to_json(const SharingResult& sharing) {
  const SharingMean mean = mean_of_epochs(sharing);
  nlohmann::ordered_json out;
  out["footprint"] = to_json(sharing.footprint);
  out["epochs"] = mean.epochs;
  for (std::size_t w = 0; w < kSharingWindows; ++w) {
    nlohmann::ordered_json window = {{"cycles", sharing_window(sharing.epoch_cycles, w)}};
    window.update(to_json(mean.bytes[w]));
    out["mean_windows"].push_back(std::move(window));
  }
  return out;
}

nlohmann::ordered_json to_json(const SamplingResult& s) {
  nlohmann::ordered_json out = {{"error", s.error},
                                {"confidence", s.confidence},
                                {"simulated_launches", s.simulated()},
                                {"work", s.work},
                                {"simulated_work", s.simulated_work}};
  for (const SampledFigure& f : s.figures) out["figures"][f.name] = {{"value", f.value}, {"half_width", f.half_width}};
  for (const SampledLaunch& l : s.launches)
    out["launches"].push_back(
        {{"cluster", l.cluster}, {"simulated", l.simulated}, {"cycles", l.cycles}, {"half_width", l.half_width}});
  return out;
}

nlohmann::ordered_json to_json(const std::vector<Decision>& decisions) {
  auto out = nlohmann::ordered_json::array();
  for (const Decision& d : decisions) {
    auto values = nlohmann::ordered_json::object();
    for (const auto& [name, value] : d.values) {
      if (std::isnan(value)) continue;  // of other decisions
      values[name] = value;
      if (std::isinf(value)) values[name] = value < 0 ? "-inf" : "inf";  // JSON has no number for it
    }
    out.push_back({{"kernel", d.kernel}, {"cycle", d.cycle}, {"choice", d.choice}, {"values", std::move(values)}});
  }
  return out;
}

}  // namespace

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
    const auto cycles = kernel.cycles();
    out["kernels"].push_back({{"name", kernel.name}, {"ctas", kernel.ctas}, {"cycles", cycles ? Json(*cycles) : Json()}});
  }
  out["decisions"] = to_json(result.decisions);
  if (result.sampling) out["sampling"] = to_json(*result.sampling);
  const Counters sum = sum_of_chips(result);
  for (const auto& counter : counter_table()) {
    const bool known = std::ranges::find(result.not_in_file, counter.id) == result.not_in_file.end();
    out["totals"][std::string(counter.name)] = known ? Json(sum[counter.id]) : Json();
  }
  const auto by_origin = responses_by_origin(result);
  for (std::size_t o = 0; o < kOrigins; ++o) out["responses"][std::string(kOriginNames[o])] = by_origin[o];
  const Energy energy = energy_of_chips(result);
  for (const auto& part : energy_table()) out["energy_joules"][std::string(part.name)] = energy[part.id];
  if (!result.energy_prices.empty()) {
    const EnergyBounds bounds = energy_bounds(result.energy_prices);
    out["energy_range_joules"] = {{"least", bounds.least}, {"greatest", bounds.greatest}};
  }
  if (result.sharing) out["sharing"] = to_json(*result.sharing);
  if (result.sm_sharing) {
    const SmSharing sum = result.sm_sharing->total();
    for (const SmSharingColumn& c : kSmSharingColumns) out["sm_sharing"][std::string(c.name)] = sum.*c.field;
  }
  Json& provenance = out["provenance"];
  for (const ProvenanceText& text : kProvenanceTexts)
    if (text.field != &Provenance::effective_config) provenance[text.name] = p.*text.field;  // hundreds of keys: in the file
  provenance["hosts"] = p.hosts, provenance["host_seconds"] = p.host_seconds;
  provenance["events"] = p.events, provenance["process_events"] = p.process_events;
  provenance["windows"] = p.windows, provenance["wait_shares"] = p.wait_shares, provenance["moves"] = p.moves;
  // A name that is not UTF-8 must not cost the user the rest of the output.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace atl
