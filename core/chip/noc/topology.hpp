#pragma once
#include <cstdint>
#include <vector>

#include "core/engine/logical_process.hpp"
#include "inputs/config/system_config.hpp"

/// Who is linked to whom, and in which direction a packet goes. Pure functions of the configuration; every chip has the same
/// view.
namespace atl {

/// Request and response classes never share a buffer: a response never waits behind a request.
inline constexpr std::uint32_t kClasses = 2;

/// One virtual channel of a chip: a buffer per neighbour, class and stage of the way.
struct Channel {
  std::uint32_t port;           ///< physical port of this chip
  std::uint32_t neighbour;      ///< chip at the other end
  std::uint32_t at_neighbour;   ///< index of the matching channel there
  std::uint32_t message_class;  ///< 0: requests, 1: responses
  std::uint32_t stage;          ///< ring: 1 past the dateline; graph: links that its packets have crossed before
};

/// Ports, channels and routes of one chip.
///
/// Ring: port 0 leads to the next higher chip, port 1 to the next lower (two chips: one link, port 0). Packets take the
/// shorter direction; at equal length the line address's parity decides. A ring of finite buffers can wait for
/// itself in a circle; therefore packets change to a second set of buffers when they pass the dateline between the last
/// chip and chip 0. Full: one port per neighbour. Switched: one port, and the switch is the wire between.
///
/// Graph: one port per link. Packets take a shortest way; of several, a hash of the line address chooses, another one at
/// each chip. Each link of a way has a set of buffers of its own, so that a packet waits only for those that are nearer to
/// their ends, and no circle can form, whatever the graph.
class ChipTopology {
 public:
  ChipTopology(const LinkConfig& link, std::uint32_t chips, std::uint32_t self);

  std::uint32_t ports() const { return ports_; }
  /// Directions in which a packet can leave: the two of a ring, or one per neighbour.
  std::uint32_t directions() const { return static_cast<std::uint32_t>(channels_.size()) / (kClasses * stages_); }
  std::uint32_t direction_of(std::uint32_t channel) const { return channel / (stages_ * kClasses); }
  const std::vector<Channel>& channels() const { return channels_; }
  /// What leaves by a port, and what comes in, GB/s.
  double bandwidth_gbps(std::uint32_t port) const { return gbps_[port]; }
  double bandwidth_in_gbps(std::uint32_t port) const { return in_gbps_[port]; }
  /// Of all links from here, and to here.
  double bandwidth_out_gbps() const;
  double bandwidth_in_gbps() const;
  /// Of the link to a neighbour, cycles.
  std::uint32_t latency(std::uint32_t neighbour) const { return latency_[neighbour]; }
  /// Links that a packet crosses from here to chip `destination`.
  std::uint32_t hops(std::uint32_t destination) const;
  /// Chips that this one sends to directly, ascending.
  std::vector<LpId> neighbours() const;

  /// Channel for a packet that starts here (`arrived_on` = kStart) or passes through.
  static constexpr std::uint32_t kStart = ~0u;
  std::uint32_t route(std::uint32_t destination, std::uint64_t line, std::uint32_t message_class,
                      std::uint32_t arrived_on) const;

 private:
  void set_up_ring();
  void set_up_all();
  void set_up_graph(const LinkConfig& link);
  std::uint32_t way_of(std::uint64_t line, std::size_t ways) const;
  void add_direction(std::uint32_t port, std::uint32_t neighbour, std::uint32_t reverse);
  std::uint32_t index(std::uint32_t direction, std::uint32_t message_class, std::uint32_t stage) const {
    return (direction * kClasses + message_class) * stages_ + stage;
  }
  bool crosses_dateline(std::uint32_t direction) const { return direction == 0 ? self_ == chips_ - 1 : self_ == 0; }

  Topology kind_;
  std::uint32_t chips_, self_, ports_ = 0;
  std::uint32_t stages_ = 1;  ///< sets of buffers: ring 2, graph the most links of any way, else 1
  std::vector<Channel> channels_;
  std::vector<double> gbps_, in_gbps_;              ///< [port]
  std::vector<std::uint32_t> latency_;              ///< [chip] of neighbours
  std::vector<std::uint32_t> hops_;                 ///< [chip] of a graph
  std::vector<std::vector<std::uint32_t>> onward_;  ///< [chip] directions of shortest ways in a graph
};

/// All edges of the system: chips 0..N-1 by the links, and each to and from the controller N.
std::vector<std::vector<Edge>> system_edges(const SystemConfig& config);

}  // namespace atl
