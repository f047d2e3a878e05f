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

/// One virtual channel of a chip: a buffer per neighbour, class and, on a ring, side of the dateline.
struct Channel {
  std::uint32_t port;           ///< physical port of this chip
  std::uint32_t neighbour;      ///< chip at the other end
  std::uint32_t at_neighbour;   ///< index of the matching channel there
  std::uint32_t message_class;  ///< 0: requests, 1: responses
  bool past_dateline;
};

/// Ports, channels and routes of one chip.
///
/// Ring: port 0 leads to the next higher chip, port 1 to the next lower (two chips: one link, port 0). Packets take the
/// shorter direction; at equal length the line address's parity decides. A ring of finite buffers can wait for
/// itself in a circle; therefore packets change to a second set of buffers when they pass the dateline between the last
/// chip and chip 0. Full: one port per neighbour. Switched: one port, and the switch is the wire between.
class ChipTopology {
 public:
  ChipTopology(Topology kind, std::uint32_t chips, std::uint32_t self);

  std::uint32_t ports() const { return ports_; }
  /// Directions in which a packet can leave: the two of a ring, or one per neighbour.
  std::uint32_t directions() const { return static_cast<std::uint32_t>(channels_.size()) / (kClasses * sides_); }
  std::uint32_t direction_of(std::uint32_t channel) const { return channel / (sides_ * kClasses); }
  const std::vector<Channel>& channels() const { return channels_; }
  /// Links that a packet crosses from here to chip `destination`.
  std::uint32_t hops(std::uint32_t destination) const;
  /// Chips that this one sends to directly, ascending.
  std::vector<LpId> neighbours() const;

  /// Channel for a packet that starts here (`arrived_on` = kStart) or passes through.
  static constexpr std::uint32_t kStart = ~0u;
  std::uint32_t route(std::uint32_t destination, std::uint64_t line, std::uint32_t message_class,
                      std::uint32_t arrived_on) const;

 private:
  std::uint32_t index(std::uint32_t direction, std::uint32_t message_class, bool past_dateline) const {
    return (direction * kClasses + message_class) * sides_ + past_dateline;
  }
  bool crosses_dateline(std::uint32_t direction) const { return direction == 0 ? self_ == chips_ - 1 : self_ == 0; }

  Topology kind_;
  std::uint32_t chips_, self_, ports_;
  std::uint32_t sides_;  ///< of a dateline: 2 where packets change buffers there, else 1
  std::vector<Channel> channels_;
};

/// All edges of the system: chips 0..N-1 by the links, and each to and from the controller N.
std::vector<std::vector<Edge>> system_edges(const SystemConfig& config);

}  // namespace atl
