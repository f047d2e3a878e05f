#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "inputs/config/system_config.hpp"

namespace atl {

/// A link of topology = graph.
struct LinkEdge {
  std::uint32_t a, b;            ///< its chips, a < b
  double gbps, back_gbps;        ///< from a to b, from b to a
  std::uint32_t latency_cycles;  ///< one hop, either way
};

/// The most links that a packet may cross: it has a set of buffers for each.
inline constexpr std::uint32_t kMaxHops = 8;

/// The links that `link.edges` names, by their chips. Throws InputError where the text is none, a chip does not exist, is
/// linked twice with another, or cannot be reached from every other in kMaxHops.
std::vector<LinkEdge> link_edges(const LinkConfig& link, std::uint32_t chips);

/// The bandwidths of the links of any topology, each way, with their latencies: for topology = graph those of link_edges(),
/// else one that stands for all.
struct Wire {
  std::string name;  ///< "`link.bandwidth_gbps`", or "link 0-1 of `link.edges`": from 0 to 1
  double gbps;
  std::uint32_t latency_cycles;
};
std::vector<Wire> wires(const SystemConfig& config);

/// Every link of a graph has a bandwidth of its own, or a latency, so that `link.bandwidth_gbps` or `latency_cycles` is
/// none's.
bool edges_state(const std::string& edges, char sign);

/// [from][to] links between two chips of a graph, at least.
std::vector<std::vector<std::uint32_t>> hops_between(const std::vector<LinkEdge>& edges, std::uint32_t chips);

}  // namespace atl
