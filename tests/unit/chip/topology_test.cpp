#include "core/chip/noc/topology.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace atl {
namespace {

std::vector<ChipTopology> all_chips(Topology kind, std::uint32_t chips) {
  std::vector<ChipTopology> all;
  for (std::uint32_t c = 0; c < chips; ++c) all.emplace_back(kind, chips, c);
  return all;
}

using Step = std::pair<std::uint32_t, std::uint32_t>;  ///< chip and its channel

/// The channels that a packet takes.
std::vector<Step> walk(const std::vector<ChipTopology>& chips, std::uint32_t from, std::uint32_t to, std::uint64_t line,
                       std::uint32_t message_class) {
  std::vector<Step> steps;
  std::uint32_t at = from, arrived_on = ChipTopology::kStart;
  while (at != to && steps.size() <= chips.size()) {
    const std::uint32_t channel = chips[at].route(to, line, message_class, arrived_on);
    steps.emplace_back(at, channel);
    const Channel& c = chips[at].channels().at(channel);
    CHECK(c.message_class == message_class);
    arrived_on = c.at_neighbour, at = c.neighbour;
  }
  CHECK(at == to);
  return steps;
}

void for_each_topology(const std::function<void(Topology, std::uint32_t)>& f) {
  for (const Topology kind : {Topology::ring, Topology::full, Topology::switched}) {
    for (std::uint32_t chips = 2; chips <= 9; ++chips) {
      CAPTURE(static_cast<int>(kind));
      CAPTURE(chips);
      f(kind, chips);
    }
  }
}

TEST_CASE("every packet reaches its destination by a shortest path, in channels of its own class") {
  for_each_topology([](Topology kind, std::uint32_t n) {
    const auto chips = all_chips(kind, n);
    for (std::uint32_t from = 0; from < n; ++from) {
      for (std::uint32_t to = 0; to < n; ++to) {
        for (std::uint32_t k = 0; from != to && k < 4; ++k) {
          const std::uint32_t up = (to + n - from) % n, shortest = kind == Topology::ring ? std::min(up, n - up) : 1;
          CHECK(walk(chips, from, to, k / 2, k % 2).size() == shortest);
        }
      }
    }
  });
}

TEST_CASE("on an even ring, half the lines go to the opposite chip either way") {
  const auto chips = all_chips(Topology::ring, 6);
  CHECK(chips[chips.size() / 2].channels()[walk(chips, 3, 0, 0, 0)[0].second].neighbour == 4);
  CHECK(chips[chips.size() / 2].channels()[walk(chips, 3, 0, 1, 0)[0].second].neighbour == 2);
}

TEST_CASE("the channels at the two ends of a link name each other") {
  for_each_topology([](Topology kind, std::uint32_t n) {
    const auto chips = all_chips(kind, n);
    for (std::uint32_t a = 0; a < n; ++a) {
      CHECK(chips[a].ports() == (kind == Topology::switched ? 1 : kind == Topology::full ? n - 1 : n == 2 ? 1 : 2));
      for (std::uint32_t i = 0; i < chips[a].channels().size(); ++i) {
        const Channel& mine = chips[a].channels()[i];
        const Channel& other = chips[mine.neighbour].channels().at(mine.at_neighbour);
        CHECK(other.neighbour == a);
        CHECK(other.at_neighbour == i);
        CHECK(other.message_class == mine.message_class);
        CHECK(other.past_dateline == mine.past_dateline);
      }
    }
  });
}

/// Does some set of channels wait for itself, when a packet in one channel waits for the next on its way?
bool has_cycle(const std::map<Step, std::set<Step>>& graph) {
  std::map<Step, int> state;  // 1: on the path, 2: done
  const std::function<bool(const Step&)> visit = [&](const Step& s) {
    if (state[s] != 0) return state[s] == 1;
    state[s] = 1;
    if (const auto it = graph.find(s); it != graph.end()) {
      for (const Step& next : it->second) {
        if (visit(next)) return true;
      }
    }
    state[s] = 2;
    return false;
  };
  return std::any_of(graph.begin(), graph.end(), [&](const auto& node) { return visit(node.first); });
}

/// Without `dateline`, channels that differ in nothing else count as one.
std::map<Step, std::set<Step>> dependencies(const std::vector<ChipTopology>& chips, std::uint32_t message_class,
                                            bool dateline) {
  const auto name = [&](const Step& s) {
    const Channel& c = chips[s.first].channels()[s.second];
    return Step{s.first, dateline ? s.second : c.neighbour};
  };
  std::map<Step, std::set<Step>> graph;
  const auto n = static_cast<std::uint32_t>(chips.size());
  for (std::uint32_t from = 0; from < n; ++from) {
    for (std::uint32_t to = 0; to < n; ++to) {
      for (std::uint64_t line = 0; from != to && line < 2; ++line) {
        const auto steps = walk(chips, from, to, line, message_class);
        for (std::size_t i = 1; i < steps.size(); ++i) graph[name(steps[i - 1])].insert(name(steps[i]));
      }
    }
  }
  return graph;
}

TEST_CASE("no channels of a class can wait for each other in a circle") {
  for_each_topology([](Topology kind, std::uint32_t n) {
    for (std::uint32_t message_class = 0; message_class < kClasses; ++message_class) {
      CHECK(!has_cycle(dependencies(all_chips(kind, n), message_class, true)));
    }
  });
}

TEST_CASE("a ring of four or more chips would deadlock without the dateline") {
  for (std::uint32_t n = 4; n <= 9; ++n) CHECK(has_cycle(dependencies(all_chips(Topology::ring, n), 0, false)));
}

}  // namespace
}  // namespace atl
