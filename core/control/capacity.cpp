#include "core/control/capacity.hpp"

#include "core/chip/base/machine.hpp"
#include "core/chip/noc/topology.hpp"

namespace atl {

Capacities capacities_of(const SystemConfig& config) {
  const Machine m(config);
  Capacity c;
  c.line_bytes = config.llc.sectored ? 0 : config.line_bytes;
  c[Resource::issue] = static_cast<double>(config.sm.count) * config.sm.schedulers;
  c[Resource::l1] = config.sm.count;
  c[Resource::request] = c[Resource::response] = m.cluster_ports * m.cluster_bpc;
  c.l2_line_bytes = config.l2.sectored ? 0 : config.line_bytes;
  c[Resource::l2] = config.l2.slices * m.l2.lookup_bpc;
  c[Resource::slice] = config.llc.slices * m.lookup_bpc;
  c[Resource::dram] = config.dram.channels;
  Capacities chips(config.chips, c);
  for (std::uint32_t chip = 0; chip < config.chips; ++chip) {
    const ChipTopology topology(config.link, config.chips, chip);
    chips[chip][Resource::link_out] = m.per_cycle(topology.bandwidth_out_gbps());
    chips[chip][Resource::link_in] = m.per_cycle(topology.bandwidth_in_gbps());
  }
  return chips;
}

}  // namespace atl
