#include "partition/bandwidth.hpp"

namespace atl {

double memory_bandwidth(const SystemConfig& c) {
  const DramTiming& t = c.dram.timing;
  return c.dram.channels * t.burst_bytes * t.clock_mhz / t.ccd / 1e3;
}

double link_bandwidth_in(const SystemConfig& c) {
  return row_of(c.link.topology).ports(c.chips - 1) * c.link.bandwidth_gbps;
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
