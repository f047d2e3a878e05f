#include "core/control/energy_model.hpp"

#include <algorithm>

namespace atl {
namespace {

using enum Counter;
using Part = EnergyComponent;

/// What one chip did, and for how long.
struct Use {
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
  double (*amount)(const Use& u);
};

using E = EnergyConfig;

constexpr Term kTerms[] = {
    {Part::core, &E::warp_instruction_pj, kPico, [](const Use& u) { return u.count(warp_instructions); }},
    {Part::l1, &E::l1_tag_pj, kPico,
     [](const Use& u) { return u.config.l1.enabled ? u.count(l1_accesses) + u.count(l1_stores) : 0; }},
    {Part::l1, &E::l1_sector_pj, kPico,  // a miss is a fill and the read that answers
     [](const Use& u) { return u.config.l1.enabled ? u.count(l1_sector_accesses) + u.count(l1_sector_misses) : 0; }},
    {Part::l1, &E::l1_tag_pj, kPico,  // at the owner; its read of the sectors stands where the requester does without a fill
     [](const Use& u) { return u.count(cluster_served) + u.count(cluster_false_positives); }},
    {Part::l2, &E::l2_tag_pj, kPico, [](const Use& u) { return u.count(l2_accesses) + u.count(l2_atomics); }},
    {Part::l2, &E::l2_sector_pj, kPico,
     [](const Use& u) { return u.count(l2_sector_accesses) + u.count(l2_sector_misses) + u.count(l2_writeback_sectors); }},
    {Part::llc, &E::llc_tag_pj, kPico, [](const Use& u) { return u.count(llc_accesses); }},
    {Part::llc, &E::llc_sector_pj, kPico,
     [](const Use& u) {
       return u.count(llc_sector_accesses) + u.count(llc_sector_misses) + u.count(llc_writeback_sectors);
     }},
    {Part::noc, &E::noc_pj_per_byte, kPico,
     [](const Use& u) {
       return u.count(noc_request_bytes) + u.count(noc_response_bytes) + u.count(noc_link_bytes) + u.count(noc_l2_bytes);
     }},
    {Part::noc, &E::cluster_pj_per_byte, kPico, [](const Use& u) { return u.count(cluster_bytes); }},
    {Part::noc, &E::cluster_table_pj, kPico,  // misses look it up, answers of the network and stores change it
     [](const Use& u) {
       return u.config.cluster.sharing == ClusterShare::none
                  ? 0
                  : u.count(cluster_lookups) + u.count(l1_misses) - u.count(cluster_served) + u.count(l1_stores);
     }},
    {Part::link, &E::link_pj_per_bit, kPico, [](const Use& u) { return u.count(link_bytes) * kBitsPerByte; }},
    {Part::dram, &E::dram_activate_pj, kPico,
     [](const Use& u) { return u.count(dram_row_misses) + u.count(dram_row_conflicts); }},
    {Part::dram, &E::dram_read_pj_per_bit, kPico, [](const Use& u) { return u.count(dram_read_bytes) * kBitsPerByte; }},
    {Part::dram, &E::dram_write_pj_per_bit, kPico, [](const Use& u) { return u.count(dram_write_bytes) * kBitsPerByte; }},
    {Part::sm_static, &E::sm_static_w, kWatt, [](const Use& u) { return u.seconds * u.powered.sms * u.config.sm.count; }},
    {Part::llc_static, &E::llc_static_w_per_mib, kWatt,
     [](const Use& u) {
       const bool at_sms = row_of(u.config.llc.organisation).traits.roles == Roles(LlcRole::sm_side);
       const double llc = (at_sms ? u.powered.sms : u.powered.memory) * u.config.llc.size_kib;
       return u.seconds * (llc + (u.config.l2.present() ? u.powered.sms * u.config.l2.size_kib : 0)) / 1024;
     }},
    {Part::chip_static, &E::chip_static_w, kWatt, [](const Use& u) { return u.seconds; }},
    {Part::dram_static, &E::dram_channel_static_w, kWatt,
     [](const Use& u) { return u.seconds * u.powered.memory * u.config.dram.channels; }},
};

constexpr bool every_component_has_a_term() {
  for (std::size_t i = 0; i < kEnergyComponents; ++i) {
    if (std::ranges::none_of(kTerms, [&](const Term& t) { return static_cast<std::size_t>(t.component) == i; }))
      return false;
  }
  return true;
}
static_assert(every_component_has_a_term());

}  // namespace

Powered powered(const SystemConfig& config, std::uint32_t chip) {
  return {config.computes(chip) ? 1.0 : 0.0, config.has_memory(chip) ? 1.0 : 0.0};
}

Energy energy_of_chip(const SystemConfig& config, const Counters& counters, Cycle cycles, Powered powered) {
  const Use use{config, counters, static_cast<double>(cycles) / (config.core_clock_mhz * 1e6), powered};
  Energy energy;
  for (const Term& t : kTerms) energy[t.component] += config.energy.*t.price * t.unit * t.amount(use);
  return energy;
}

}  // namespace atl
