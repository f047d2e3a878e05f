#include "core/chip/noc/topology.hpp"

#include <algorithm>
#include <numeric>

#include "core/engine/split_mix.hpp"
#include "inputs/config/link_edges.hpp"

namespace atl {

ChipTopology::ChipTopology(const LinkConfig& link, std::uint32_t chips, std::uint32_t self)
    : kind_(link.topology), chips_(chips), self_(self), latency_(chips, link.latency_cycles) {
  if (chips == 1) return;
  if (const auto ports = row_of(kind_).ports; ports != nullptr) {
    ports_ = ports(chips - 1);
    gbps_.assign(ports_, link.bandwidth_gbps), in_gbps_ = gbps_;
  }
  switch (kind_) {  // without a default, as below: a compiler asks for a new topology's channels, hops and routes
    case Topology::ring:
      set_up_ring();
      break;
    case Topology::full:
    case Topology::switched:
      set_up_all();
      break;
    case Topology::graph:
      set_up_graph(link);
  }
}

/// `reverse`: the direction at the neighbour that leads back.
void ChipTopology::add_direction(std::uint32_t port, std::uint32_t neighbour, std::uint32_t reverse) {
  for (std::uint32_t cls = 0; cls < kClasses; ++cls) {
    for (std::uint32_t stage = 0; stage < stages_; ++stage)
      channels_.push_back({port, neighbour, index(reverse, cls, stage), cls, stage});
  }
}

void ChipTopology::set_up_ring() {
  stages_ = 2;
  for (std::uint32_t direction = 0; direction < ports_; ++direction)
    add_direction(direction, (self_ + (direction == 0 ? 1 : chips_ - 1)) % chips_, chips_ == 2 ? 0 : 1 - direction);
}

void ChipTopology::set_up_all() {
  for (std::uint32_t direction = 0; direction + 1 < chips_; ++direction) {
    const std::uint32_t other = direction < self_ ? direction : direction + 1;  // in ascending order, without self
    add_direction(kind_ == Topology::full ? direction : 0, other, self_ < other ? self_ : self_ - 1);
  }
}

void ChipTopology::set_up_graph(const LinkConfig& link) {
  const std::vector<LinkEdge> edges = link_edges(link, chips_);
  const auto hops = hops_between(edges, chips_);
  hops_ = hops[self_];
  for (const auto& from : hops) stages_ = std::max(stages_, *std::max_element(from.begin(), from.end()));
  const auto neighbours_of = [&](std::uint32_t chip) {
    std::vector<std::uint32_t> all;
    for (std::uint32_t other = 0; other < chips_; ++other)
      if (hops[chip][other] == 1) all.push_back(other);
    return all;
  };
  onward_.resize(chips_);
  for (const std::uint32_t other : neighbours_of(self_)) {
    const auto theirs = neighbours_of(other);
    const auto back = std::find(theirs.begin(), theirs.end(), self_) - theirs.begin();
    const auto edge = std::find_if(edges.begin(), edges.end(), [&](const LinkEdge& e) {
      return e.a == std::min(self_, other) && e.b == std::max(self_, other);
    });
    for (std::uint32_t to = 0; to < chips_; ++to)
      if (hops[other][to] + 1 == hops_[to]) onward_[to].push_back(ports_);
    add_direction(ports_++, other, static_cast<std::uint32_t>(back));
    gbps_.push_back(self_ < other ? edge->gbps : edge->back_gbps);
    in_gbps_.push_back(self_ < other ? edge->back_gbps : edge->gbps);
    latency_[other] = edge->latency_cycles;
  }
}

double ChipTopology::bandwidth_out_gbps() const { return std::accumulate(gbps_.begin(), gbps_.end(), 0.0); }
double ChipTopology::bandwidth_in_gbps() const { return std::accumulate(in_gbps_.begin(), in_gbps_.end(), 0.0); }

std::uint32_t ChipTopology::hops(std::uint32_t destination) const {
  if (chips_ == 1) return 0;
  const std::uint32_t up = (destination + chips_ - self_) % chips_;
  switch (kind_) {
    case Topology::ring:
      return std::min(up, chips_ - up);
    case Topology::full:
    case Topology::switched:
      return std::min(up, 1u);
    case Topology::graph:
      return hops_[destination];
  }
  return 0;  // not reached
}

std::vector<LpId> ChipTopology::neighbours() const {
  std::vector<LpId> all;
  for (const Channel& c : channels_) all.push_back(c.neighbour);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// Of several. Each chip on a way draws anew: by the line's number alone, chips would choose alike, one after the other, and
/// most ways through a mesh would be nobody's.
std::uint32_t ChipTopology::way_of(std::uint64_t line, std::size_t ways) const {
  return static_cast<std::uint32_t>((split_mix((line * chips_ + self_) * kSplitMixStep) >> 32) % ways);
}

std::uint32_t ChipTopology::route(std::uint32_t destination, std::uint64_t line, std::uint32_t message_class,
                                  std::uint32_t arrived_on) const {
  switch (kind_) {
    case Topology::ring: {
      const std::uint32_t up = (destination + chips_ - self_) % chips_, down = chips_ - up;
      const std::uint32_t direction = chips_ == 2 ? 0 : up < down ? 0 : up > down ? 1 : static_cast<std::uint32_t>(line & 1);
      const bool past = (arrived_on != kStart && channels_[arrived_on].stage == 1) || crosses_dateline(direction);
      return index(direction, message_class, past);
    }
    case Topology::full:
    case Topology::switched:
      return index(destination < self_ ? destination : destination - 1, message_class, 0);
    case Topology::graph: {
      const auto& ways = onward_[destination];
      const std::uint32_t stage = arrived_on == kStart ? 0 : channels_[arrived_on].stage + 1;
      return index(ways.size() == 1 ? ways[0] : ways[way_of(line, ways.size())], message_class, stage);
    }
  }
  return 0;  // not reached
}

std::vector<std::vector<Edge>> system_edges(const SystemConfig& config) {
  const std::uint32_t n = config.chips;
  std::vector<std::vector<Edge>> edges(n + 1);
  for (std::uint32_t chip = 0; chip < n; ++chip) {
    const ChipTopology topology(config.link, n, chip);
    for (const LpId other : topology.neighbours()) edges[chip].push_back({other, topology.latency(other)});
    edges[chip].push_back({n, config.control.latency_cycles});
    edges[n].push_back({chip, config.control.latency_cycles});
  }
  return edges;
}

}  // namespace atl
