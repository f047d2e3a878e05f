#include "core/chip/noc/topology.hpp"

#include <algorithm>

namespace atl {

ChipTopology::ChipTopology(Topology kind, std::uint32_t chips, std::uint32_t self)
    : kind_(kind),
      chips_(chips),
      self_(self),
      ports_(row_of(kind).ports(chips - 1)),
      sides_(kind == Topology::ring ? 2 : 1) {
  if (chips == 1) return;
  if (kind == Topology::ring) {
    for (std::uint32_t direction = 0; direction < ports_; ++direction) {
      const std::uint32_t other = (self + (direction == 0 ? 1 : chips - 1)) % chips;
      const std::uint32_t reverse = chips == 2 ? 0 : 1 - direction;
      for (std::uint32_t cls = 0; cls < kClasses; ++cls) {
        for (const bool past : {false, true}) channels_.push_back({direction, other, index(reverse, cls, past), cls, past});
      }
    }
  } else {
    for (std::uint32_t direction = 0; direction + 1 < chips; ++direction) {
      const std::uint32_t other =
          direction < self ? direction : direction + 1;  // neighbours in ascending order, without self
      const std::uint32_t reverse = self < other ? self : self - 1;
      for (std::uint32_t cls = 0; cls < kClasses; ++cls) {
        channels_.push_back({kind == Topology::full ? direction : 0, other, index(reverse, cls, false), cls, false});
      }
    }
  }
}

std::uint32_t ChipTopology::hops(std::uint32_t destination) const {
  const std::uint32_t up = (destination + chips_ - self_) % chips_;
  return kind_ == Topology::ring ? std::min(up, chips_ - up) : std::min(up, 1u);
}

std::vector<LpId> ChipTopology::neighbours() const {
  std::vector<LpId> all;
  for (const Channel& c : channels_) all.push_back(c.neighbour);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::uint32_t ChipTopology::route(std::uint32_t destination, std::uint64_t line, std::uint32_t message_class,
                                  std::uint32_t arrived_on) const {
  if (kind_ != Topology::ring) return index(destination < self_ ? destination : destination - 1, message_class, false);
  const std::uint32_t up = (destination + chips_ - self_) % chips_, down = chips_ - up;
  const std::uint32_t direction = chips_ == 2 ? 0 : up < down ? 0 : up > down ? 1 : static_cast<std::uint32_t>(line & 1);
  const bool past = (arrived_on != kStart && channels_[arrived_on].past_dateline) || crosses_dateline(direction);
  return index(direction, message_class, past);
}

std::vector<std::vector<Edge>> system_edges(const SystemConfig& config) {
  const std::uint32_t n = config.chips;
  std::vector<std::vector<Edge>> edges(n + 1);
  for (std::uint32_t chip = 0; chip < n; ++chip) {
    for (const LpId other : ChipTopology(config.link.topology, n, chip).neighbours()) {
      edges[chip].push_back({other, config.link.latency_cycles});
    }
    edges[chip].push_back({n, config.control.latency_cycles});
    edges[n].push_back({chip, config.control.latency_cycles});
  }
  return edges;
}

}  // namespace atl
