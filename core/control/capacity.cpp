#include "core/control/capacity.hpp"

#include "core/chip/base/machine.hpp"
#include "core/chip/noc/topology.hpp"

namespace atl {

bool uses_llc(const SystemConfig& config, std::uint32_t chip) {
  const ProtocolRow& protocol = row_of(config.coherence.protocol);
  const bool at_sms = protocol.llc_keeps_remote && row_of(config.llc.organisation).traits.roles == Roles(LlcRole::sm_side);
  const bool at_homes = !at_sms || protocol.home.present;
  return (at_sms && config.computes(chip)) || (at_homes && config.has_memory(chip));
}

Capacities capacities_of(const SystemConfig& config) {
  const Machine m(config);
  Capacity c;
  c.line_bytes = config.llc.sectored ? 0 : config.line_bytes;
  c[Resource::issue] = static_cast<double>(config.sm.count) * config.sm.schedulers;
  c[Resource::l1] = config.sm.count;
  c[Resource::request] = c[Resource::response] = m.cluster_ports * m.cluster_bpc;
  c.l2_line_bytes = config.l2.sectored ? 0 : config.line_bytes;
  c[Resource::l2] = config.l2.slices * m.l2.lookup_bpc;
  c[Resource::slice] = config.llc.slices * m.llc.lookup_bpc;
  c[Resource::dram] = config.dram.channels;
  Capacities chips(config.chips, c);
  for (std::uint32_t chip = 0; chip < config.chips; ++chip) {
    const ChipTopology topology(config.link, config.chips, chip);
    if (!config.computes(chip))
      for (const Resource r : {Resource::issue, Resource::l1, Resource::request, Resource::response, Resource::l2})
        chips[chip][r] = 0;
    if (!uses_llc(config, chip)) chips[chip][Resource::slice] = 0;
    if (!config.has_memory(chip)) chips[chip][Resource::dram] = 0;
    chips[chip][Resource::link_out] = m.per_cycle(topology.bandwidth_out_gbps());
    chips[chip][Resource::link_in] = m.per_cycle(topology.bandwidth_in_gbps());
  }
  return chips;
}

}  // namespace atl
