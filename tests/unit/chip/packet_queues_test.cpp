#include "core/chip/noc/packet_queues.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <random>

#include "core/chip/base/turns.hpp"

namespace atl {
namespace {

Packet packet(std::uint32_t token) {
  Packet p{};
  p.token = token;
  return p;
}

TEST_CASE("queues that share a store keep their orders and notes while they grow, run empty, and give from behind") {
  PacketQueues store;
  std::vector<PacketQueues::Queue> queues(5);
  std::vector<std::deque<std::uint32_t>> reference(5);
  std::mt19937 random(1);
  const auto check = [&] {
    store.check([&](auto&& see) {
      for (const auto& q : queues) see(q);
    });
  };
  for (std::uint32_t i = 0; i < 40000; ++i) {
    const std::size_t k = random() % queues.size();
    auto& q = queues[k];
    auto& r = reference[k];
    if (r.empty() || random() % 100 < (i < 10000 ? 55u : 45u)) {
      store.push(q, packet(i), i + 1), r.push_back(i);
    } else if (random() % 4 == 0) {
      const auto even = [](std::uint32_t token) { return token % 2 == 0; };
      const auto at = std::find_if(r.begin() + 1, r.end(), even);
      const auto taken = store.take_behind(q, [&](const Packet& p) { return even(p.token); });
      REQUIRE(taken.has_value() == (at != r.end()));
      if (at != r.end()) {
        REQUIRE(taken->token == *at);
        r.erase(at);
      }
    } else {
      REQUIRE(store.note(q) == r.front() + 1);
      REQUIRE(store.take(q).token == r.front());
      r.pop_front();
    }
    REQUIRE(q.size == r.size());
    if (!r.empty()) REQUIRE(store.front(q).token == r.front());
    if (i % 1000 == 0) check();
  }
  std::deque<std::uint32_t> left;
  store.for_each(queues[0], [&](const Packet& p) { left.push_back(p.token); });
  CHECK(left == reference[0]);
}

TEST_CASE("a place in two queues, or a queue of another length than it says, is refused") {
  PacketQueues store;
  PacketQueues::Queue a, b;
  store.push(a, packet(0)), store.push(a, packet(1));
  const auto check = [&](const PacketQueues::Queue& first, const PacketQueues::Queue& second) {
    store.check([&](auto&& see) { see(first), see(second); });
  };
  check(a, b);
  CHECK_THROWS_AS(check(a, a), SimulationError);
  CHECK_THROWS_AS(check(b, b), SimulationError);  // the places of `a` are nowhere
  a.size = 1;
  CHECK_THROWS_AS(check(a, b), SimulationError);
}

TEST_CASE("who is next in turn is the first from a place on, round the end") {
  Turns t;
  CHECK(t.next(0) == Turns::kNobody);
  for (const std::uint32_t i : {3u, 63u, 64u, 127u}) t.set(i, true);
  CHECK(t.next(0) == 3);
  CHECK(t.next(4) == 63);
  CHECK(t.next(64) == 64);
  CHECK(t.next(65) == 127);
  t.set(127, false);
  CHECK(t.next(65) == 3);
  CHECK(t.has(64));
  CHECK(!t.has(127));
}

}  // namespace
}  // namespace atl
