#include "core/control/energy_model.hpp"

#include <algorithm>

#include "core/control/capacity.hpp"
#include "inputs/config/energy_range.hpp"

namespace atl {
namespace {

using enum Counter;
using Part = EnergyComponent;

/// What one chip did, and for how long.
struct Run {
  const SystemConfig& config;
  const Counters& counters;
  double seconds;
  Powered powered;
  double count(Counter c) const { return static_cast<double>(counters[c]); }
};

constexpr double kPico = 1e-12, kWatt = 1, kBitsPerByte = 8;

/// A component is the sum of its terms, each a price x how often, or how long.
struct Term {
  EnergyComponent component;
  double EnergyConfig::*price;
  double unit;
  double (*amount)(const Run& r);
  double joules(const Run& r) const { return r.config.energy.*price * unit * amount(r); }
};

using E = EnergyConfig;

constexpr Term kTerms[] = {
    {Part::core, &E::warp_instruction_pj, kPico, [](const Run& r) { return r.count(warp_instructions); }},
    {Part::l1, &E::l1_tag_pj, kPico,
     [](const Run& r) { return r.config.l1.enabled ? r.count(l1_accesses) + r.count(l1_stores) : 0; }},
    {Part::l1, &E::l1_sector_pj, kPico,  // a miss is a fill and the read that answers
     [](const Run& r) { return r.config.l1.enabled ? r.count(l1_sector_accesses) + r.count(l1_sector_misses) : 0; }},
    {Part::l1, &E::l1_tag_pj, kPico,  // at the owner; its read of the sectors stands where the requester does without a fill
     [](const Run& r) { return r.count(cluster_served) + r.count(cluster_false_positives); }},
    {Part::l2, &E::l2_tag_pj, kPico, [](const Run& r) { return r.count(l2_accesses) + r.count(l2_atomics); }},
    {Part::l2, &E::l2_sector_pj, kPico,
     [](const Run& r) { return r.count(l2_sector_accesses) + r.count(l2_sector_misses) + r.count(l2_writeback_sectors); }},
    {Part::llc, &E::llc_tag_pj, kPico, [](const Run& r) { return r.count(llc_accesses); }},
    {Part::llc, &E::llc_sector_pj, kPico,
     [](const Run& r) {
       return r.count(llc_sector_accesses) + r.count(llc_sector_misses) + r.count(llc_writeback_sectors);
     }},
    {Part::noc, &E::noc_pj_per_byte, kPico,
     [](const Run& r) {
       return r.count(noc_request_bytes) + r.count(noc_response_bytes) + r.count(noc_link_bytes) + r.count(noc_l2_bytes);
     }},
    {Part::noc, &E::cluster_pj_per_byte, kPico, [](const Run& r) { return r.count(cluster_bytes); }},
    {Part::noc, &E::cluster_table_pj, kPico,  // misses look it up, answers of the network, stores and atomics change it
     [](const Run& r) {
       return r.config.cluster.sharing == ClusterShare::none
                  ? 0
                  : r.count(cluster_lookups) + r.count(l1_misses) - r.count(cluster_served) + r.count(l1_stores) +
                        r.count(llc_atomics);
     }},
    {Part::link, &E::link_pj_per_bit, kPico, [](const Run& r) { return r.count(link_bytes) * kBitsPerByte; }},
    {Part::dram, &E::dram_activate_pj, kPico,
     [](const Run& r) { return r.count(dram_row_misses) + r.count(dram_row_conflicts); }},
    {Part::dram, &E::dram_read_pj_per_bit, kPico, [](const Run& r) { return r.count(dram_read_bytes) * kBitsPerByte; }},
    {Part::dram, &E::dram_write_pj_per_bit, kPico, [](const Run& r) { return r.count(dram_write_bytes) * kBitsPerByte; }},
    {Part::sm_static, &E::sm_static_w, kWatt, [](const Run& r) { return r.seconds * r.powered.sms * r.config.sm.count; }},
    {Part::llc_static, &E::llc_static_w_per_mib, kWatt,
     [](const Run& r) {
       const double llc = r.powered.llc * r.config.llc.size_kib;
       return r.seconds * (llc + (r.config.l2.present() ? r.powered.sms * r.config.l2.size_kib : 0)) / 1024;
     }},
    {Part::chip_static, &E::chip_static_w, kWatt, [](const Run& r) { return r.seconds; }},
    {Part::dram_static, &E::dram_channel_static_w, kWatt,
     [](const Run& r) { return r.seconds * r.powered.memory * r.config.dram.channels; }},
};

constexpr bool every_component_has_a_term() {
  for (std::size_t i = 0; i < kEnergyComponents; ++i) {
    if (std::ranges::none_of(kTerms, [&](const Term& t) { return static_cast<std::size_t>(t.component) == i; }))
      return false;
  }
  return true;
}
static_assert(every_component_has_a_term());

Run run_of(const SystemConfig& config, const Counters& counters, Cycle cycles, Powered powered) {
  return {config, counters, static_cast<double>(cycles) / (config.core_clock_mhz * 1e6), powered};
}

}  // namespace

Powered powered(const SystemConfig& config, std::uint32_t chip) {
  return {.sms = config.computes(chip) ? 1.0 : 0.0,
          .memory = config.has_memory(chip) ? 1.0 : 0.0,
          .llc = uses_llc(config, chip) ? 1.0 : 0.0};
}

Powered mean_powered(const SystemConfig& config) {
  Powered mean{0, 0, 0};
  for (std::uint32_t chip = 0; chip < config.chips; ++chip) {
    const Powered p = powered(config, chip);
    mean.sms += p.sms / config.chips, mean.memory += p.memory / config.chips, mean.llc += p.llc / config.chips;
  }
  return mean;
}

Energy energy_of_chip(const SystemConfig& config, const Counters& counters, Cycle cycles, Powered powered) {
  const Run run = run_of(config, counters, cycles, powered);
  Energy energy;
  for (const Term& t : kTerms) energy[t.component] += t.joules(run);
  return energy;
}

std::vector<PricedEnergy> energy_by_price(const SystemConfig& config, std::span<const ChipResult> chips, Cycle cycles) {
  std::vector<PricedEnergy> prices;
  for (const EnergyRange& range : kEnergyRanges) {
    PricedEnergy price{std::string(range.key), 0, range.factor};
    for (std::uint32_t c = 0; c < chips.size(); ++c) {
      const Run run = run_of(config, chips[c].totals, cycles, powered(config, c));
      for (const Term& t : kTerms)
        if (t.price == range.price) price.joules += t.joules(run);
    }
    prices.push_back(std::move(price));
  }
  return prices;
}

}  // namespace atl
