#include "partition/bandwidth.hpp"

#include <algorithm>

namespace atl {

double memory_bandwidth(const SystemConfig& c) {
  const DramTiming& t = c.dram.timing;
  return c.dram.channels * t.burst_bytes * t.clock_mhz / t.ccd / 1e3;
}

double link_bandwidth_in(const SystemConfig& c) {
  const std::uint32_t others = c.chips - 1;
  switch (c.link.topology) {
    case Topology::ring:
      return std::min(2u, others) * c.link.bandwidth_gbps;
    case Topology::full:
      return others * c.link.bandwidth_gbps;
    case Topology::switched:
      return std::min(1u, others) * c.link.bandwidth_gbps;
  }
  return 0;
}

SystemBandwidth system_bandwidth(const SystemConfig& c) {
  const double chips = c.chips;
  const std::uint32_t clusters = c.sm.count / c.noc.sms_per_cluster;
  const double ports = clusters * c.noc.memory_routers;
  return {.intra = chips * ports * c.noc.cluster_gbps,
          .inter = chips * link_bandwidth_in(c),
          .llc = chips * c.llc.slices * c.llc.slice_gbps,
          .memory = chips * memory_bandwidth(c)};
}

}  // namespace atl
