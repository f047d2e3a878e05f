#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <random>

#include "core/chip/base/gate.hpp"
#include "core/chip/base/server.hpp"

namespace atl {
namespace {

TEST_CASE("a server takes as many packets in one cycle as its bandwidth holds, and no more") {
  Server s(128);
  for (int i = 0; i < 16; ++i) {
    REQUIRE(s.idle(5));
    CHECK(s.serve(5, 8) == 6);
  }
  CHECK(!s.idle(5));
  CHECK(s.idle_from() == 6);
  CHECK(s.idle(6));
}

TEST_CASE("a packet that takes exactly one cycle departs after exactly one cycle") {
  for (const std::uint32_t bytes : {1u, 7u, 96u, 125u, 136u, 250u}) {
    Server s(bytes);
    CHECK(s.serve(100, bytes) == 101);
    CHECK(s.idle_from() == 101);
  }
}

TEST_CASE("a packet of a third more than a cycle's bytes departs after two cycles") {
  CHECK(Server(96).serve(10, 128) == 12);
}

TEST_CASE("9,600 packets of 136 bytes at 96 bytes per cycle take 13,600 cycles, to a few parts in a million") {
  Server s(96);
  Cycle now = 0, last = 0;
  for (int i = 0; i < 9600; ++i) {
    now = std::max(now, s.idle_from());
    REQUIRE(s.idle(now));
    last = s.serve(now, 136);
  }
  CHECK(last >= 13600);
  CHECK(last <= 13601);
}

TEST_CASE("a server does not save up the bandwidth of idle time") {
  Server s(64);
  CHECK(s.serve(0, 128) == 2);
  CHECK(s.serve(1000, 128) == 1002);
  CHECK(!s.idle(1000));
}

TEST_CASE("packets that begin in the last cycle of the longest run take as long as those of the first, to twice that run") {
  for (const double bandwidth : {0.001, 17.5, 96.0, 1e6}) {
    for (const Cycle begin : {kCycleLimit - 1, 2 * kCycleLimit - 200'000'000}) {
      CAPTURE(bandwidth);
      CAPTURE(begin);
      Server early(bandwidth), late(bandwidth);
      for (Cycle now = 0, i = 0; i < 1000; ++i, now = early.idle_from()) {
        REQUIRE(late.idle(begin + now));
        REQUIRE(late.serve(begin + now, 136) == begin + early.serve(now, 136));
        REQUIRE(late.idle_from() == begin + early.idle_from());
        REQUIRE(late.idle(begin + now) == early.idle(now));
      }
    }
  }
}

TEST_CASE("a freed credit goes to the first in line, and to nobody who asks later") {
  Gate g(2);
  CHECK(g.acquire());
  CHECK(g.acquire());
  CHECK(!g.acquire());
  g.wait({WaiterKind::sm, 0, 7});
  g.wait({WaiterKind::ingress, 0, 9});
  const auto first = g.release();
  REQUIRE(first.has_value());
  CHECK(first->index == 7);
  CHECK(!g.acquire());
  CHECK(g.release()->index == 9);
  CHECK(!g.full());
  CHECK(!g.release().has_value());
  CHECK(g.free() == 1);
  CHECK(!g.release().has_value());
  CHECK(g.full());
}

TEST_CASE("a FIFO keeps its order while it wraps around, grows, and gives from its middle") {
  Fifo<int> fifo;
  std::deque<int> reference;
  std::mt19937 random(1);
  for (int i = 0; i < 40000; ++i) {
    // It grows, shrinks, and then stays short.
    if (reference.empty() || random() % 100 < (i < 10000 ? 55u : i < 20000 ? 45u : 50u - 5u * (reference.size() > 3))) {
      fifo.push(i), reference.push_back(i);
    } else if (random() % 4 == 0) {
      const auto at = static_cast<std::ptrdiff_t>(random() % std::min<std::size_t>(reference.size(), 12));
      REQUIRE(fifo.take_at(static_cast<std::size_t>(at)) == reference[static_cast<std::size_t>(at)]);
      reference.erase(reference.begin() + at);
    } else {
      REQUIRE(fifo.take() == reference.front());
      reference.pop_front();
    }
    REQUIRE(fifo.size() == reference.size());
    if (reference.empty()) continue;
    REQUIRE(fifo.front() == reference.front());
    REQUIRE(fifo.at(reference.size() / 2) == reference[reference.size() / 2]);
    REQUIRE(fifo.at(reference.size() - 1) == reference.back());
  }
}

}  // namespace
}  // namespace atl
