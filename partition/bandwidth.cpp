#include "partition/bandwidth.hpp"

#include "inputs/config/link_edges.hpp"

namespace atl {

double memory_bandwidth(const SystemConfig& c) {
  const DramTiming& t = c.dram.timing;
  return c.dram.channels * t.burst_bytes * t.clock_mhz / t.ccd / 1e3;
}

double link_bandwidth_in(const SystemConfig& c, std::uint32_t chip) {
  if (c.link.topology != Topology::graph) return row_of(c.link.topology).ports(c.chips - 1) * c.link.bandwidth_gbps;
  double sum = 0;
  for (const LinkEdge& e : link_edges(c.link, c.chips)) sum += e.a == chip ? e.back_gbps : e.b == chip ? e.gbps : 0;
  return sum;
}

SystemBandwidth system_bandwidth(const SystemConfig& c) {
  const double chips = c.chips;
  const std::uint32_t clusters = c.sm.count / c.noc.sms_per_cluster;
  const double ports = clusters * c.noc.memory_routers;
  double inter = chips * link_bandwidth_in(c, 0);
  if (c.link.topology == Topology::graph) {
    inter = 0;
    for (const LinkEdge& e : link_edges(c.link, c.chips)) inter += e.gbps + e.back_gbps;
  }
  return {.intra = chips * ports * c.noc.cluster_gbps,
          .inter = inter,
          .llc = chips * c.llc.slices * c.llc.slice_gbps,
          .memory = chips * memory_bandwidth(c)};
}

}  // namespace atl
