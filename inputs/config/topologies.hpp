#pragma once
#include <algorithm>
#include <cstdint>

#include "inputs/config/table.hpp"

/// How chips can be linked. Who reaches whom by which channel is in `core/chip/noc/topology.cpp`.
namespace atl {

enum class Topology : std::uint8_t { ring, full, switched, graph };

struct TopologyRow {
  Topology value;
  std::string_view word, doc;
  /// Physical ports of a chip that has so many others, each of `link.bandwidth_gbps` per direction; not of a graph, whose
  /// chips have one for each of their links.
  std::uint32_t (*ports)(std::uint32_t others);
};

inline constexpr std::array kTopologies{
    TopologyRow{Topology::ring, "ring", "each chip is linked with two neighbours; chips in between forward",
                [](std::uint32_t others) { return std::min(2u, others); }},
    TopologyRow{Topology::full, "full", "every pair of chips has a link of its own",
                [](std::uint32_t others) { return others; }},
    TopologyRow{Topology::switched, "switch", "every chip has one port on a common switch",
                [](std::uint32_t others) { return std::min(1u, others); }},
    TopologyRow{Topology::graph, "graph", "the links of `link.edges`; chips in between forward", nullptr},
};
static_assert(in_order(kTopologies));

constexpr const TopologyRow& row_of(Topology t) { return kTopologies[static_cast<std::size_t>(t)]; }

template <> std::span<const Word<Topology>> words();

}  // namespace atl
