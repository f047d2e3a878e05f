#pragma once
#include <functional>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "comm/synchroniser.hpp"
#include "core/engine/digest.hpp"
#include "core/engine/event_queue.hpp"

/// A small world for the synchroniser: processes that send each other balls, in the manner of PHOLD.
namespace atl::test {

using Edges = std::vector<std::vector<Edge>>;

struct Ball {
  using PlainState = void;
  std::uint64_t id = 0;
  std::uint32_t bounces = 0;  ///< left
  std::uint32_t unused = 0;
};

struct Rules {
  std::uint32_t balls = 8, bounces = 60;
  Cycle longest_wait = 200;  ///< between a ball's arrival and its next throw
  Cycle pause = 0;           ///< every tenth bounce waits so long: idle gaps
  LpId thief = ~0u;          ///< process that throws an exception ...
  Cycle theft = kNever;      ///< ... from this cycle on
  LpId cheat = ~0u;          ///< process that sends faster than its edges promise
  std::size_t freight = 0;   ///< above 0: every ball goes in a control message with so many bytes
};

class Player final : public LogicalProcess {
 public:
  Player(LpId id, std::vector<Edge> edges, const Rules& rules) : LogicalProcess(id, std::move(edges)), rules_(rules) {
    for (std::uint32_t i = 0; i < rules.balls; ++i) queue_.push(i * 17 % 101, {id * 1000u + i, rules.bounces});
  }
  void receive(std::span<const Message> messages) override {
    for (const Message& m : messages) queue_.push(m.arrival, m.as<Ball>());
  }
  void receive(const ControlMessage& m) override {
    queue_.push(m.arrival, {std::stoull(m.body.substr(0, m.body.find(' '))), m.kind});
  }
  void run_until(Cycle end) override {
    queue_.run_until(end, [this](Cycle at, const Ball& ball) { bounce(at, ball); });
  }
  Cycle next_event() const override { return queue_.next(); }
  std::uint64_t digest() const override { return digest_.value(); }
  std::uint64_t events() const override { return queue_.handled(); }

 private:
  void bounce(Cycle at, Ball ball) {
    digest_.add(at, ball.id * 1000 + ball.bounces);
    if (id() == rules_.thief && at >= rules_.theft)
      throw SimulationError("process " + std::to_string(id()) + " lost its balls");
    if (ball.bounces == 0) return;
    // The state of the process enters every decision, so that any change of order changes everything that follows.
    std::minstd_rand random(static_cast<std::uint32_t>(digest_.value() % 2147483646u) + 1);
    --ball.bounces;
    const Cycle wait = ball.bounces % 10 == 0 && rules_.pause != 0 ? rules_.pause : random() % rules_.longest_wait;
    const auto choice = random() % (edges().size() + 1);
    if (choice == edges().size()) return queue_.push(at + wait, ball);
    const Edge& edge = edges()[choice];
    const Cycle arrival = id() == rules_.cheat ? at + 1 : at + edge.latency + wait;
    if (random() % 8 == 0 || rules_.freight != 0) {
      const std::string body = std::to_string(ball.id) + std::string(random() % 300 + rules_.freight, ' ');
      outbox().control.push_back({edge.to, {arrival, id(), ball.bounces, body}});
    } else {
      outbox().data.push_back({edge.to, Message::make(arrival, id(), 0, ball)});
    }
  }
  Rules rules_;
  EventQueue<Ball> queue_;
  Digest digest_;
};

struct Outcome {
  std::uint64_t digest = 0, events = 0, windows = 0;
};

/// Collective: plays to the end; digest and events over all processes in the order of their ids.
inline Outcome play(Transport& t, const Edges& edges, const std::vector<int>& rank_of, const Rules& rules,
                    Meeting* meeting = nullptr, const Synchroniser::Sharing* sharing = nullptr) {
  std::vector<std::unique_ptr<Player>> players;
  std::vector<LogicalProcess*> local;
  for (LpId lp = 0; lp < edges.size(); ++lp) {
    if (rank_of[lp] != t.rank()) continue;
    players.push_back(std::make_unique<Player>(lp, edges[lp], rules));
    local.push_back(players.back().get());
  }
  Synchroniser synchroniser(t, local, rank_of, edges, sharing);
  synchroniser.run(meeting);
  std::vector<std::uint64_t> digests(edges.size());
  Outcome out{0, 0, synchroniser.windows_run()};
  std::string mine;
  for (const auto& p : players)
    mine += std::to_string(p->id()) + " " + std::to_string(p->digest()) + " " + std::to_string(p->events()) + "\n";
  for (const std::string& text : t.all_gather(mine)) {
    std::istringstream in(text);
    std::uint64_t id, digest, events;
    while (in >> id >> digest >> events) digests[id] = digest, out.events += events;
  }
  Digest all;
  for (const std::uint64_t d : digests) all.add(d);
  out.digest = all.value();
  return out;
}

/// `chips` on a ring, and a controller (the last process) with slower edges to and from each, as Atoll has them.
inline Edges ring_with_controller(LpId chips, Cycle link, Cycle control) {
  Edges edges(chips + 1);
  for (LpId c = 0; c < chips; ++c) {
    edges[c].push_back({(c + 1) % chips, link});
    if (chips > 2) edges[c].push_back({(c + chips - 1) % chips, link});
    edges[c].push_back({chips, control});
    edges[chips].push_back({c, control});
  }
  return edges;
}

}  // namespace atl::test
