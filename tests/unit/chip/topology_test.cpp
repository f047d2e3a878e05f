#include "core/chip/noc/topology.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "inputs/config/link_edges.hpp"

namespace atl::topology_test {
namespace {

/// A graph is a tree with a circle of three or four chips at its root.
LinkConfig links_of(Topology kind, std::uint32_t chips) {
  LinkConfig link;
  link.topology = kind;
  for (std::uint32_t c = 1; kind == Topology::graph && c < chips; ++c) link.edges += fmt::format("{}-{} ", (c - 1) / 2, c);
  if (kind == Topology::graph && chips > 2) link.edges += chips > 3 ? "2-3:7/9@5" : "1-2";
  return link;
}

std::vector<ChipTopology> all_chips(Topology kind, std::uint32_t chips) {
  std::vector<ChipTopology> all;
  for (std::uint32_t c = 0; c < chips; ++c) all.emplace_back(links_of(kind, chips), chips, c);
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

/// Over the neighbours that chips name, whatever their routes.
std::uint32_t fewest_links(const std::vector<ChipTopology>& chips, std::uint32_t from, std::uint32_t to) {
  std::set<std::uint32_t> reached{from};
  for (std::uint32_t links = 0;; ++links) {
    if (reached.contains(to)) return links;
    std::set<std::uint32_t> next = reached;
    for (const std::uint32_t at : reached)
      for (const LpId other : chips[at].neighbours()) next.insert(other);
    if (next == reached) return ~0u;
    reached = std::move(next);
  }
}

void for_each_topology(const std::function<void(Topology, std::uint32_t)>& f) {
  for (const TopologyRow& row : kTopologies) {
    for (std::uint32_t chips = 2; chips <= 9; ++chips) {
      CAPTURE(row.word);
      CAPTURE(chips);
      f(row.value, chips);
    }
  }
}

TEST_CASE("every packet reaches its destination by a shortest path, in channels of its own class") {
  for_each_topology([](Topology kind, std::uint32_t n) {
    const auto chips = all_chips(kind, n);
    for (std::uint32_t from = 0; from < n; ++from) {
      for (std::uint32_t to = 0; to < n; ++to) {
        for (std::uint32_t k = 0; from != to && k < 4; ++k) {
          const std::uint32_t up = (to + n - from) % n;
          if (kind == Topology::ring) CHECK(chips[from].hops(to) == std::min(up, n - up));
          if (kind == Topology::full || kind == Topology::switched) CHECK(chips[from].hops(to) == 1);
          CHECK(walk(chips, from, to, k / 2, k % 2).size() == chips[from].hops(to));
          CHECK(chips[from].hops(to) == fewest_links(chips, from, to));
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
      CHECK(chips[a].ports() == (kind == Topology::switched ? 1 : chips[a].neighbours().size()));
      if (kind == Topology::ring) CHECK(chips[a].ports() == (n == 2 ? 1 : 2));
      if (kind == Topology::full) CHECK(chips[a].ports() == n - 1);
      std::set<std::uint32_t> ports;  // each takes somebody's packets, and there is none besides
      for (const Channel& c : chips[a].channels()) ports.insert(c.port);
      CHECK(ports.size() == chips[a].ports());
      CHECK(*ports.rbegin() + 1 == chips[a].ports());
      for (std::uint32_t i = 0; i < chips[a].channels().size(); ++i) {
        const Channel& mine = chips[a].channels()[i];
        const Channel& other = chips[mine.neighbour].channels().at(mine.at_neighbour);
        CHECK(other.neighbour == a);
        CHECK(other.at_neighbour == i);
        CHECK(other.message_class == mine.message_class);
        CHECK(other.stage == mine.stage);
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

TEST_CASE("a graph's ways of equal length are all taken by lines, and a way has a set of buffers for each link") {
  LinkConfig square{.topology = Topology::graph, .edges = "0-1 1-3 0-2 2-3 3-4"};
  std::vector<ChipTopology> chips;
  for (std::uint32_t c = 0; c < 5; ++c) chips.emplace_back(square, 5, c);
  std::set<std::uint32_t> by;
  for (std::uint64_t line = 0; line < 20; ++line) {
    const auto steps = walk(chips, 0, 4, line, 1);
    REQUIRE(steps.size() == 3);
    by.insert(steps[1].first);
    for (std::uint32_t i = 0; i < 3; ++i) CHECK(chips[steps[i].first].channels()[steps[i].second].stage == i);
  }
  CHECK(by == std::set<std::uint32_t>{1, 2});
  CHECK(chips[0].hops(4) == 3);
  CHECK(chips[4].hops(0) == 3);
}

/// width x width chips, each linked to those beside, above and below it.
std::vector<ChipTopology> mesh(std::uint32_t width) {
  LinkConfig link;
  link.topology = Topology::graph;
  for (std::uint32_t c = 0; c < width * width; ++c) {
    if (c % width + 1 < width) link.edges += fmt::format("{}-{} ", c, c + 1);
    if (c / width + 1 < width) link.edges += fmt::format("{}-{} ", c, c + width);
  }
  std::vector<ChipTopology> chips;
  for (std::uint32_t c = 0; c < width * width; ++c) chips.emplace_back(link, width * width, c);
  return chips;
}

TEST_CASE("lines of any stride take every way through a mesh, and half of those at a chip go either way from it") {
  constexpr std::uint32_t kLines = 4096;
  for (const auto& [width, ways] : {std::pair(3u, 6u), std::pair(4u, 20u)}) {
    const auto chips = mesh(width);
    for (std::uint64_t stride = 1; stride <= 1024; stride *= 2) {
      CAPTURE(width);
      CAPTURE(stride);
      std::map<std::vector<Step>, std::uint32_t> taken;
      std::vector<std::array<double, 2>> right_and_down(chips.size());
      for (std::uint64_t line = 0; line < kLines; ++line) {
        const auto steps = walk(chips, 0, width * width - 1, line * stride, 0);
        ++taken[steps];
        for (const auto& [at, channel] : steps) ++right_and_down[at][chips[at].channels()[channel].neighbour != at + 1];
      }
      CHECK(taken.size() == ways);
      for (std::uint32_t at = 0; at < chips.size(); ++at) {
        if (at % width + 1 == width || at / width + 1 == width) continue;  // there is no choice
        const auto [right, down] = right_and_down[at];
        CHECK(std::abs(right - down) < 0.15 * (right + down));
      }
    }
  }
}

TEST_CASE("a graph's links have bandwidths for each direction, and latencies of their own") {
  const LinkConfig link{
      .topology = Topology::graph, .bandwidth_gbps = 3, .latency_cycles = 8, .edges = "1-0:5/7@4 1-2@9 2-0:6"};
  const ChipTopology zero(link, 3, 0), one(link, 3, 1), two(link, 3, 2);
  CHECK(zero.bandwidth_gbps(0) == 7);  // to chip 1
  CHECK(zero.bandwidth_gbps(1) == 6);
  CHECK(one.bandwidth_gbps(0) == 5);
  CHECK(one.bandwidth_gbps(1) == 3);
  CHECK(zero.bandwidth_out_gbps() == 13);
  CHECK(zero.bandwidth_in_gbps() == 11);
  CHECK(zero.latency(1) == 4);
  CHECK(one.latency(0) == 4);
  CHECK(two.latency(1) == 9);
  CHECK(two.latency(0) == 8);
}

TEST_CASE("links that are none are refused, with what to write") {
  const auto error = [](const char* edges, std::uint32_t chips = 3) {
    try {
      link_edges({.topology = Topology::graph, .edges = edges}, chips);
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string("none");
  };
  CHECK(error("0-1 1-2:4/5@6") == "none");
  for (const char* text : {"0", "0-", "0+1", "0-1:", "0-1:x", "0-1@", "0-1@0", "0-1:1/", "0-1 junk", "0-3", "0-1:1e9",
                           "0-1:nan", "0-1:inf", "1-1"}) {
    CAPTURE(text);
    CHECK(error(text).find("write A-B, A-B:GBPS, A-B:GBPS/GBPS") != std::string::npos);
  }
  CHECK(error("0-1 1-2 1-0").find("links chips 0 and 1 twice") != std::string::npos);
  CHECK(error("0-1").find("leads nowhere from chip 0 to chip 2: link all 3 chips") != std::string::npos);
  CHECK(error("0-1 1-2 2-3 3-4 4-5 5-6 6-7 7-8 8-9", 10).find("has chips 0 and 9 9 links apart, and 8 are the most") !=
        std::string::npos);
}

}  // namespace
}  // namespace atl::topology_test
