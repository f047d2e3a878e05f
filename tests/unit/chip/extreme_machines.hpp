#pragma once
#include <fmt/format.h>

#include <algorithm>

#include "run.hpp"

namespace atl::test {

/// Least of everything: one place in every queue, one cycle on every wire.
inline void minimise(SystemConfig& c) {
  c.noc.queue_packets = c.link.buffer_packets = c.dram.queue = c.l1.mshrs = c.l1.mshr_merges = c.llc.mshrs =
      c.llc.mshr_merges = c.l2.mshrs = c.l2.mshr_merges = c.l2.write_buffer = 1;
  c.llc.write_buffer = c.llc.bypass_reads = c.l1.pending_stores = c.coherence.invalidation_queue = 1;
  c.cluster.input_queue = c.cluster.access_queue = c.cluster.response_buffer = c.cluster.table_latency_cycles = 1;
  c.l1.latency_cycles = c.noc.request_latency_cycles = c.noc.response_latency_cycles = c.noc.memory_latency_cycles = 1;
  c.llc.latency_cycles = c.link.latency_cycles = c.link.credit_cycles = 1;
  c.l2.latency_cycles = c.l2.memory_latency_cycles = 1;
}

/// A small L2 in front of a memory-side LLC, with more, as many or fewer slices than that has, writing back or through.
inline void add_l2(SystemConfig& c, std::uint32_t seed) {
  c.l2.slices = 1u << seed % 3, c.l2.size_kib = 16, c.l2.ways = 4;
  c.l2.writes = seed % 2 == 0 ? L2Writes::back : L2Writes::through;
  c.l2.sectored = c.llc.sectored || seed % 5 == 0;
  c.l2.memory_gbps = seed % 4 == 0 ? 4 : 64;
}

/// A tree with a circle in it, whose links are all unlike.
inline void link_as_graph(SystemConfig& c, std::uint32_t seed) {
  c.link.topology = Topology::graph, c.link.edges = "";
  const std::uint32_t latency = c.link.latency_cycles;
  for (std::uint32_t chip = 1; chip < c.chips; ++chip)
    c.link.edges += fmt::format("{}-{}:{}/{}@{} ", (chip - 1) / 2, chip, 4 + (seed + chip) % 13, 2 + (seed * chip) % 7,
                                latency + (seed + chip) % 3);
  if (c.chips > 2) c.link.edges += fmt::format("{}-{}", c.chips == 3 ? 1 : 0, c.chips - 1 == 2 ? 2 : c.chips - 1);
}

/// Compute dies with an L2 that writes through, and base dies whose LLCs keep a directory of all L2s, or none.
inline void separate_dies(SystemConfig& c, std::uint32_t seed) {
  using enum CoherenceProtocol;
  constexpr CoherenceProtocol kProtocols[] = {software, directory, hmg, rec, rec_adaptive, ideal};
  c.chips = std::max(c.chips, 3u);
  c.partition.memory_chips = 1 + seed % (c.chips - 2), c.partition.compute_chips = c.chips - c.partition.memory_chips;
  c.partition.fixed_chip = c.chips - 1;
  c.llc.organisation = LlcOrganisation::memory_side, c.llc.replication = Replication::shared;
  c.coherence.protocol = kProtocols[seed / 2 % 6];
  c.coherence.directory_entries = 8, c.coherence.directory_ways = 4, c.coherence.range_bytes = 1024;
  add_l2(c, seed);
  c.l2.writes = L2Writes::through;
}

/// Four SMs per chip that serve each other's misses, in clusters of two or four, with everything else varied by the seed.
inline void share_l1s(SystemConfig& c, std::uint32_t seed) {
  c.sm.count = 4, c.noc.sms_per_cluster = seed % 2 == 0 ? 2 : 4;
  c.cluster.sharing = ClusterShare::colab;
  c.cluster.arbitration = static_cast<L1Arbitration>(seed % 3);
  c.cluster.keep_table = seed % 5 == 0, c.cluster.owner_lru = seed % 7 != 0;
  c.cluster.port_bytes = seed % 4 == 0 ? 4 : 32;
  c.cluster.table_latency_cycles = 1 + seed % 11;
}

/// One chip whose responses pass routers with virtual channels, two memory-side ones, which hold one packet or several.
inline void route_responses(SystemConfig& c, std::uint32_t seed) {
  c.chips = 1, c.sm.count = 4, c.noc.sms_per_cluster = 1 + seed % 2, c.l2 = {};
  c.llc.slices = c.dram.channels = 4, c.noc.memory_routers = 2;
  c.noc.slice_gbps = c.noc.cluster_gbps;
  c.noc.virtual_channels = 1 + seed % 4, c.noc.channel_flits = seed % 3 == 0 ? 1 : 256;
}

/// Every organisation, and every protocol with one of them at least; those that change by themselves do it all the time, and
/// home directories are so small that they evict all the time. `full_map`: under that protocol, too.
inline std::vector<SystemConfig> organisations(const SystemConfig& base, bool full_map = false) {
  std::vector<SystemConfig> list;
  for (const auto& word : words<LlcOrganisation>()) {
    if (word.value == LlcOrganisation::plugin) continue;
    SystemConfig c = base;
    c.llc.organisation = word.value;
    c.llc.local_ways = 2;
    c.dynamic.period_cycles = 200, c.dynamic.saturation = 0.2;
    c.sac.window_cycles = 300, c.sac.reprofile_cycles = 400, c.sac.crd_ways = 4;
    list.push_back(c);
    if (full_map && (word.value == LlcOrganisation::sm_side || word.value == LlcOrganisation::sac)) {
      list.back().coherence.protocol = CoherenceProtocol::full_map;
      list.push_back(c);
    }
    if (word.value == LlcOrganisation::fixed_split || word.value == LlcOrganisation::dynamic_split) {
      list.back().llc.remote_writes = RemoteWrites::back;
      list.push_back(c);
    }
    using enum CoherenceProtocol;
    c.coherence.directory_entries = 8, c.coherence.directory_ways = 4, c.coherence.range_bytes = 1024;
    c.rec_adaptive.narrow_below = 0.5, c.rec_adaptive.widen_above = 0.51, c.rec_adaptive.min_evictions = 0;
    std::vector<CoherenceProtocol> protocols;
    if (word.value == LlcOrganisation::sm_side) protocols = {directory, hmg, rec, rec_adaptive, ideal, none_remote, l1_only};
    if (word.value == LlcOrganisation::sac) protocols = {hmg, rec};
    if (word.value == LlcOrganisation::fixed_split) protocols = {rec};
    if (word.value == LlcOrganisation::dynamic_split) protocols = {directory, rec_adaptive};
    for (c.coherence.protocol = software; const CoherenceProtocol p : protocols) {
      c.coherence.protocol = p;
      list.push_back(c);
    }
  }
  return list;
}

/// ... under full_map, too, and with an L2 that writes back or through.
inline std::vector<SystemConfig> machines(const SystemConfig& base) {
  std::vector<SystemConfig> list = organisations(base, true);
  for (std::uint32_t seed = 0; seed < 2; ++seed) add_l2(list.emplace_back(base), seed);
  return list;
}

}  // namespace atl::test
