#pragma once
#include <array>
#include <bit>

#include "core/chip/base/packet.hpp"
#include "inputs/config/system_config.hpp"
#include "partition/address_map.hpp"
#include "partition/device_homes.hpp"
#include "partition/replica_map.hpp"

namespace atl {

/// One shared level of a chip: what all of its slices have in common.
struct SliceLevel {
  std::uint32_t slices, sets, ways;  ///< slices: of a chip; sets: of a slice
  std::uint32_t mshrs, mshr_merges, write_buffer;
  std::uint32_t request_flight;  ///< requests that fit in the wires to a slice besides its queue
  std::uint32_t latency;
  Cycle below;        ///< to what it asks on a miss, or to an inter-chip port
  double lookup_bpc;  ///< bytes per core cycle
  bool sectored;
  SetIndex index;
};

/// The system's constants in the units of the simulation (cycles, bytes per cycle), computed once.
struct Machine {
  explicit Machine(const SystemConfig& config, const DeviceHomes& devices = {});

  const SystemConfig config;
  const AddressMap map;
  const AddressMap front_map;  ///< of the slices that SMs ask: the L2's, or without one the LLC's
  const ReplicaMap replicas;
  const DeviceHomes devices;  ///< of a program of several
  bool has_l2;
  SliceLevel llc, l2;
  std::uint32_t front_slices;                             ///< per chip, that SMs ask
  Cycle port_to_slice;                                    ///< requests of SMs, until the slice may look at them
  Cycle link_to_slice, link_to_fetcher, link_to_cluster;  ///< from an inter-chip port: requests, a slice's data, an SM's
  std::uint32_t clusters, cluster_ports;         ///< per chip; every cluster has one port to each memory-side router
  std::uint32_t line_sectors;                    ///< 32-byte sectors per line
  std::uint8_t full_line;                        ///< mask of all sectors of a line
  std::uint32_t page_shift;                      ///< log2 of lines per page
  double cluster_bpc, slice_bpc, l2_memory_bpc;  ///< bytes per core cycle
  bool full_map;                                 ///< SM-side slices are kept coherent by directories (SAC section 2.1)
  bool replicates;                               ///< a line may live in several slices of a chip
  bool replicates_read_only;  ///< what a kernel only reads may be replicated at any time, without a change of mode
  bool directories() const { return full_map || home_directory; }
  bool home_directory;  ///< slices that hold remote lines are kept coherent by directories at the homes (REC, HMG)
  bool l1_keeps_remote;
  bool shared_network;  ///< what slices exchange with links takes its share of their crossbar ports (SAC section 2.1)
  std::uint32_t router_packets;   ///< lines that an input of a router holds in its virtual channels
  std::uint32_t response_flight;  ///< packets that fit in the wires of the response crossbar besides its queues

  /// Size on a crossbar: header, data sectors, rounded to flits.
  std::uint32_t bytes(const Packet& p) const { return size(bytes_, p); }
  /// Size on a link: the same in whole slots.
  std::uint32_t link_bytes(const Packet& p) const { return size(link_bytes_, p); }
  /// The slice that serves an SM's request for data that may be replicated; `level` is the logarithm of the degree.
  std::uint32_t slice(LineAddr line, std::uint32_t sm, std::uint32_t level) const {
    const std::uint32_t shared = front_map.slice(line);
    return level == 0 ? shared : replicas.slice(shared, sm / config.noc.sms_per_cluster, level);
  }
  /// Bytes per core cycle of so many GB/s.
  double per_cycle(double gbps) const { return gbps * (1e3 / config.core_clock_mhz); }
  PageAddr page_of(LineAddr line) const { return {line.value >> page_shift}; }
  std::uint32_t cluster_port(std::uint32_t sm, std::uint32_t slice) const {
    return sm / config.noc.sms_per_cluster * config.noc.memory_routers + front_map.router_of_slice(slice);
  }

 private:
  using Sizes = std::array<std::array<std::uint16_t, 9>, kPacketKinds>;  ///< [kind][sectors]
  static std::uint32_t size(const Sizes& sizes, const Packet& p) {
    if (p.has(kRides)) [[unlikely]]
      return 0;
    return sizes[static_cast<std::size_t>(p.kind)][static_cast<std::size_t>(std::popcount(p.sectors))];
  }
  Sizes bytes_{}, link_bytes_{};
};

}  // namespace atl
