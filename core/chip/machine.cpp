#include "core/chip/machine.hpp"

#include <cmath>

namespace atl {

Machine::Machine(const SystemConfig& c) : config(c), map(c), replicas(c) {
  clusters = c.sm.count / c.noc.sms_per_cluster;
  cluster_ports = clusters * c.noc.memory_routers;
  line_sectors = c.line_bytes / 32;
  full_line = static_cast<std::uint8_t>((1u << line_sectors) - 1);
  page_shift = static_cast<std::uint32_t>(std::countr_zero(c.partition.page_kib * 1024 / c.line_bytes));
  const double per_cycle = 1e3 / c.core_clock_mhz;  // GB/s to bytes per core cycle
  cluster_bpc = c.noc.cluster_gbps * per_cycle;
  slice_bpc = c.noc.slice_gbps * per_cycle;
  link_port_bpc = c.noc.link_port_gbps * per_cycle;
  lookup_bpc = c.llc.slice_gbps * per_cycle;
  link_bpc = c.link.bandwidth_gbps * per_cycle;
  full_map = c.coherence.protocol == CoherenceProtocol::full_map;
  replicates = c.llc.replication != Replication::shared;
  const CoherenceProtocol protocol = c.coherence.protocol;
  home_directory = has_home_directory(protocol);
  l1_keeps_remote = protocol != CoherenceProtocol::none_remote;
  // SAC's next kernel starts memory-side, where a slice's dirty lines are found.
  release_cleans = c.llc.organisation == LlcOrganisation::sm_side
                       ? home_directory || keeps_remote_out_of_llc(protocol)
                       : home_directory && (c.llc.organisation == LlcOrganisation::fixed_split ||
                                            c.llc.organisation == LlcOrganisation::dynamic_split);
  shared_network = c.llc.network == LlcNetwork::automatic ? c.llc.organisation != LlcOrganisation::sm_side
                                                          : c.llc.network == LlcNetwork::shared;
  const auto flits = [&](std::uint32_t bytes) {
    return static_cast<std::uint16_t>((bytes + c.noc.flit_bytes - 1) / c.noc.flit_bytes * c.noc.flit_bytes);
  };
  for (std::size_t k = 0; k < kPacketKinds; ++k) {
    const auto kind = static_cast<PacketKind>(k);
    const bool data = kind == PacketKind::write || kind == PacketKind::writeback || kind == PacketKind::read_data ||
                      kind == PacketKind::atomic || kind == PacketKind::atomic_data;
    for (std::uint32_t s = 0; s < bytes_[k].size(); ++s) bytes_[k][s] = flits(c.noc.header_bytes + (data ? 32 * s : 0));
  }
  // A queue's credits also cover what is on the wire towards it, so that a small queue does not throttle a long wire.
  const double packet = flits(c.noc.header_bytes + c.line_bytes);
  router_packets =
      std::max(1u, c.noc.virtual_channels * c.noc.channel_flits * c.noc.flit_bytes / static_cast<std::uint32_t>(packet));
  const auto slots = [](double packets) { return static_cast<std::uint32_t>(std::ceil(std::min(packets, 1e6))); };
  const Cycle directory = home_directory ? c.coherence.directory_latency_cycles : 0;
  request_flight = slots((c.l1.latency_cycles + c.noc.request_latency_cycles + directory + c.llc.latency_cycles + 2) *
                         std::max(1.0, lookup_bpc / c.line_bytes));
  response_flight = slots((c.noc.response_latency_cycles + 2) * std::max(1.0, cluster_bpc / packet));
}

}  // namespace atl
