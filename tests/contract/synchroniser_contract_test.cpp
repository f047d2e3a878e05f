#include <algorithm>

#include "comm/collective_errors.hpp"
#include "comm/serial_transport.hpp"
#include "tests/contract/toy_network.hpp"
#include "tests/contract/transport_contract.hpp"

namespace atl::test {
namespace {

/// Process i in rank i, the surplus dealt round.
std::vector<int> dealt(std::size_t processes, int ranks) {
  std::vector<int> map;
  for (std::size_t i = 0; i < processes; ++i) map.push_back(static_cast<int>(i) % ranks);
  return map;
}

std::vector<int> shuffled(std::size_t processes, int ranks, std::uint32_t seed) {
  std::vector<int> map = dealt(processes, ranks);
  std::mt19937 random(seed);  // std::shuffle may differ between libraries; any permutation will do
  for (std::size_t i = map.size(); i > 1; --i) std::swap(map[i - 1], map[random() % i]);
  return map;
}

/// Plays on the transport and on one rank alone: every rank must come to the same end.
void check_same_as_alone(Transport& t, const Edges& edges, const std::vector<int>& map, const Rules& rules) {
  SerialTransport serial;
  const Outcome alone = play(serial, edges, dealt(edges.size(), 1), rules);
  const Outcome here = play(t, edges, map, rules);
  CHECK(here.digest == alone.digest);
  CHECK(here.events == alone.events);
  CHECK(alone.events > rules.balls * edges.size());
}

/// "done", "peer <exit code>" or the message of the error that ended the game on this rank.
std::string ending(Transport& t, const Edges& edges, const std::vector<int>& map, const Rules& rules) {
  try {
    play(t, edges, map, rules);
    return "done";
  } catch (const PeerFailure& e) {
    return "peer " + std::to_string(e.exit_code());
  } catch (const Error& e) {
    return e.what();
  }
}

}  // namespace

TEST_CASE("four chips and a controller come to the same digest on any number of ranks") {
  on_all_ranks([](Transport& t) { check_same_as_alone(t, ring_with_controller(4, 32, 200), dealt(5, t.size()), {}); });
}

TEST_CASE("the digest is the same for any map of processes to ranks") {
  on_all_ranks([](Transport& t) {
    for (std::uint32_t seed = 1; seed <= 10; ++seed) {
      check_same_as_alone(t, ring_with_controller(6, 20, 90), shuffled(7, t.size(), seed), {4, 40});
    }
  });
}

TEST_CASE("batches too large to be sent before they are asked for cross without a deadlock, whatever the map") {
  // On this map each rank's first group sends to the other's last, and batches of both cross in every window.
  on_all_ranks([](Transport& t) {
    std::vector<int> map = {0, 1, 0, 0, 1, 0};
    for (int& rank : map) rank %= t.size();
    Rules rules{16, 12, 30};
    rules.freight = 200'000;
    check_same_as_alone(t, ring_with_controller(5, 32, 200), map, rules);
  });
}

TEST_CASE("edges of very different latencies, one slow and none a multiple of another, change nothing") {
  on_all_ranks([](Transport& t) {
    Edges edges(5);
    const Cycle latency[] = {7, 10, 13, 29, 1000, 64, 7, 301, 15, 8};
    unsigned k = 0;
    for (LpId a = 0; a < 5; ++a) {
      for (const LpId step : {1u, 2u}) edges[a].push_back({(a + step) % 5, latency[k++]});
    }
    for (std::uint32_t seed = 1; seed <= 5; ++seed) check_same_as_alone(t, edges, shuffled(5, t.size(), seed), {6, 50});
  });
}

TEST_CASE("a control edge 50 windows slow is served in time, in both directions") {
  on_all_ranks([](Transport& t) {
    check_same_as_alone(t, ring_with_controller(4, 10, 509), dealt(5, t.size()), {4, 80, 30});
  });
}

/// Requests something of its own at its `at`-th meeting, notes what it hears, and ends the game when it hears `end_at`.
class Gathering final : public Meeting {
 public:
  std::uint32_t request() override { return ++asked_ == at ? mine : 0; }
  bool meet(Cycle boundary, Cycle next, std::uint32_t request) override {
    in_order = in_order && boundary >= last_ && next > boundary;
    last_ = boundary;
    if (request != 0) heard.push_back(request), where = boundary;
    return request == 0 || request != end_at;
  }
  int at = 0;
  std::uint32_t mine = 0, end_at = 0;
  std::vector<std::uint32_t> heard{};
  Cycle where = 0;
  bool in_order = true;

 private:
  int asked_ = 0;
  Cycle last_ = 0;
};

TEST_CASE("meetings change nothing, and all ranks hear the lowest request of any at the same cycle") {
  on_all_ranks([](Transport& t) {
    const Edges edges = ring_with_controller(4, 32, 200);
    const std::vector<int> map = dealt(5, t.size());
    const Outcome wanted = play(t, edges, map, {});
    Gathering g;
    g.at = 3;
    g.mine = t.rank() == t.size() - 1 ? 2 : t.rank() == 0 ? 3 : 0;
    CHECK(play(t, edges, map, {}, &g).digest == wanted.digest);
    REQUIRE(g.heard == std::vector<std::uint32_t>{2});
    CHECK(g.in_order);
    const auto all = t.all_gather(std::to_string(g.where));
    CHECK(all == std::vector<std::string>(all.size(), all[0]));
  });
}

TEST_CASE("a request of one rank ends the game on all") {
  on_all_ranks([](Transport& t) {
    const Edges edges = ring_with_controller(4, 32, 200);
    Gathering g;
    g.at = 2, g.end_at = 1;
    g.mine = t.rank() == t.size() - 1 ? 1 : 0;
    const Outcome whole = play(t, edges, dealt(5, t.size()), {});
    CHECK(play(t, edges, dealt(5, t.size()), {}, &g).events < whole.events);
    CHECK(g.heard == std::vector<std::uint32_t>{1});
  });
}

TEST_CASE("pairs that share no edge do not disturb each other") {
  on_all_ranks([](Transport& t) {
    Edges edges(6);
    for (LpId a = 0; a < 6; ++a) edges[a].push_back({a ^ 1u, 10 + a / 2 * 7});
    check_same_as_alone(t, edges, dealt(6, t.size()), {});
  });
}

TEST_CASE("processes without any edge run to their end") {
  on_all_ranks([](Transport& t) { check_same_as_alone(t, Edges(5), dealt(5, t.size()), {}); });
}

TEST_CASE("idle gaps of 10 million windows are skipped, at a cost of at most 64 windows each") {
  on_all_ranks([](Transport& t) {
    Rules rules{1, 40, 50};
    rules.pause = 100'000'000;
    const Edges edges = ring_with_controller(4, 10, 40);
    check_same_as_alone(t, edges, dealt(5, t.size()), rules);
    const Outcome out = play(t, edges, dealt(5, t.size()), rules);
    CHECK(out.windows < 5 * 4 * 64 + 5 * 40 * 20);  // gaps, and the bounces between them
  });
}

TEST_CASE("a process that throws ends all ranks: its own with the message, the others with PeerFailure and exit code 3") {
  on_all_ranks([](Transport& t) {
    for (const Cycle when : {Cycle{0}, Cycle{100}, Cycle{3000}}) {
      for (LpId thief = 0; thief < 5; ++thief) {
        Rules rules;
        rules.thief = thief, rules.theft = when;
        const auto map = dealt(5, t.size());
        const std::string end = ending(t, ring_with_controller(4, 32, 200), map, rules);
        CHECK(end == (map[thief] == t.rank() ? "process " + std::to_string(thief) + " lost its balls" : "peer 3"));
      }
    }
  });
}

TEST_CASE("a message that breaks its edge's promise ends all ranks with an error that names both times") {
  on_all_ranks([](Transport& t) {
    Rules rules;
    rules.cheat = 2;
    const std::string end = ending(t, ring_with_controller(4, 32, 200), dealt(5, t.size()), rules);
    const bool names = end.find("a message from process 2 arrives at cycle ") == 0 &&
                       end.find(", before the window that starts at ") != std::string::npos;
    CHECK_MESSAGE((names || end == "peer 3"), end);
    const auto all = t.all_gather(names ? "x" : "");
    CHECK(std::count(all.begin(), all.end(), "x") == 1);
  });
}

TEST_CASE("an edge without latency is refused on every rank, naming its ends") {
  on_all_ranks([](Transport& t) {
    Edges edges = ring_with_controller(4, 32, 200);
    edges[1][0].latency = 0;
    CHECK(ending(t, edges, dealt(5, t.size()), {}) ==
          "link: the edge from process 1 to 2 has no latency: there is no lookahead");
  });
}

TEST_CASE("the window is the smallest latency of all edges") {
  SerialTransport serial;
  CHECK(Synchroniser(serial, {}, dealt(5, 1), ring_with_controller(4, 32, 200)).window() == 32);
  CHECK(Synchroniser(serial, {}, dealt(5, 1), ring_with_controller(4, 500, 20)).window() == 20);
}

}  // namespace atl::test
