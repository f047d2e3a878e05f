#include "core/chip/base/machine.hpp"

#include <cmath>

namespace atl {
namespace {

/// The system as SMs see it: with the L2's slices.
SystemConfig as_seen_by_sms(SystemConfig c) {
  if (c.l2.present()) c.llc.slices = c.l2.slices;
  return c;
}

template <class Config> SliceLevel level_of(const Config& c, const SystemConfig& system) {
  SliceLevel level{};
  level.slices = c.slices, level.ways = c.ways;
  if (c.slices != 0) level.sets = c.size_kib * 1024 / c.slices / system.line_bytes / c.ways;
  level.mshrs = c.mshrs, level.mshr_merges = c.mshr_merges, level.write_buffer = c.write_buffer;
  level.latency = c.latency_cycles, level.sectored = c.sectored, level.index = c.index;
  level.lookup_bpc = c.slice_gbps * (1e3 / system.core_clock_mhz);
  return level;
}

bool shares_network(const LlcConfig& llc) {
  switch (llc.network) {
    case LlcNetwork::separate:
      return false;
    case LlcNetwork::shared:
      return true;
    case LlcNetwork::automatic:
      return row_of(llc.organisation).traits.roles != Roles(LlcRole::sm_side);
  }
  return false;
}

}  // namespace

Machine::Machine(const SystemConfig& c, const DeviceHomes& d)
    : config(c),
      map(c),
      front_map(as_seen_by_sms(c)),
      replicas(c),
      devices(d),
      has_l2(c.l2.present()),
      llc(level_of(c.llc, c)),
      l2(level_of(c.l2, c)),
      front_slices(has_l2 ? c.l2.slices : c.llc.slices) {
  clusters = c.sm.count / c.noc.sms_per_cluster;
  cluster_ports = clusters * c.noc.memory_routers;
  line_sectors = c.line_bytes / 32;
  full_line = static_cast<std::uint8_t>((1u << line_sectors) - 1);
  page_shift = static_cast<std::uint32_t>(std::countr_zero(c.partition.page_bytes() / c.line_bytes));
  cluster_bpc = per_cycle(c.noc.cluster_gbps);
  slice_bpc = per_cycle(c.noc.slice_gbps);
  l2_memory_bpc = per_cycle(c.l2.memory_gbps);
  const ProtocolRow& protocol = row_of(c.coherence.protocol);
  full_map = protocol.full_map;
  home_directory = protocol.home.present;
  l1_keeps_remote = protocol.l1_keeps_remote;
  replicates = c.llc.replication != Replication::shared;
  replicates_read_only = replicates && row_of(c.llc.replication).read_only;
  shared_network = !has_l2 && shares_network(c.llc);  // the L2's ports to the memory side are no crossbar's
  llc.below = c.noc.memory_latency_cycles, l2.below = c.l2.memory_latency_cycles;
  port_to_slice = c.l1.latency_cycles + c.noc.request_latency_cycles + (has_l2 ? l2 : llc).latency;
  link_to_slice = has_l2 ? l2.below : c.noc.request_latency_cycles;
  link_to_fetcher = has_l2 ? l2.below : c.noc.memory_latency_cycles;
  link_to_cluster = c.noc.response_latency_cycles + (has_l2 ? l2.below : 0);
  const auto rounded = [](std::uint32_t bytes, std::uint32_t to) {
    return static_cast<std::uint16_t>((bytes + to - 1) / to * to);
  };
  for (std::size_t k = 0; k < kPacketKinds; ++k) {
    const auto kind = static_cast<PacketKind>(k);
    const bool data = kind == PacketKind::write || kind == PacketKind::writeback || kind == PacketKind::read_data ||
                      kind == PacketKind::atomic || kind == PacketKind::atomic_data;
    for (std::uint32_t s = 0; s < bytes_[k].size(); ++s) {
      bytes_[k][s] = rounded(c.noc.header_bytes + (data ? 32 * s : 0), c.noc.flit_bytes);
      link_bytes_[k][s] = rounded(bytes_[k][s], c.link.slot_bytes);
    }
  }
  // A queue's credits also cover what is on the wire towards it, so that a small queue does not throttle a long wire.
  const double packet = rounded(c.noc.header_bytes + c.line_bytes, c.noc.flit_bytes);
  router_packets =
      std::max(1u, c.noc.virtual_channels * c.noc.channel_flits * c.noc.flit_bytes / static_cast<std::uint32_t>(packet));
  const auto slots = [](double packets) { return static_cast<std::uint32_t>(std::ceil(std::min(packets, 1e6))); };
  const Cycle directory = home_directory ? c.coherence.directory_latency_cycles : 0;
  const auto flight = [&](Cycle wire, const SliceLevel& level) {
    return slots((wire + level.latency + 2) * std::max(1.0, level.lookup_bpc / c.line_bytes));
  };
  const Cycle from_sms = c.l1.latency_cycles + c.noc.request_latency_cycles + directory;
  llc.request_flight = flight(has_l2 ? std::max(from_sms, l2.below) : from_sms, llc);
  l2.request_flight = flight(from_sms, l2);
  response_flight = slots((link_to_cluster + 2) * std::max(1.0, cluster_bpc / packet));
}

}  // namespace atl
