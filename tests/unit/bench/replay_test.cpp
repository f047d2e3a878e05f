#include "tests/bench/replay.hpp"

#include <doctest/doctest.h>

using namespace atl;
using namespace atl::bench;

namespace {

/// Two processes with an edge each way, `latency` cycles long.
std::vector<std::vector<Edge>> two(Cycle latency) { return {{{1, latency}}, {{0, latency}}}; }

WorkLog log_of(std::vector<std::vector<std::uint32_t>> windows) {
  WorkLog log;
  log.length = 10;
  for (auto& events : windows) log.windows.push_back({log.windows.size(), std::move(events)});
  return log;
}

}  // namespace

TEST_CASE("one rank takes the sum of all events") {
  const Replayed r =
      replay(log_of({{3, 1}, {2, 5}}), {0, 0}, two(10), {.event = 1, .batch = 100, .wire = 100, .meeting = 100});
  CHECK(r.seconds == doctest::Approx(11));
  CHECK(r.waited == doctest::Approx(0));
  CHECK(r.windows == 2);
}

TEST_CASE("a rank begins a window when the other has ended the one before") {
  // Unevenness that an average does not show: 9 and 1, then 1 and 9, are 20 events, and both ranks wait 8 in turn.
  const Replayed r = replay(log_of({{9, 1}, {1, 9}}), {0, 1}, two(10), {.event = 1});
  CHECK(r.seconds == doctest::Approx(18));
  CHECK(r.waited == doctest::Approx(16. / 36));
  // With twice the lookahead the second window needs nothing of the first.
  CHECK(replay(log_of({{9, 1}, {1, 9}}), {0, 1}, two(20), {.event = 1}).seconds == doctest::Approx(10));
}

TEST_CASE("a batch takes both processors, and its way only time") {
  // Window 1: 4 of work, 1 to send; the batch comes at 4 + 1 + 3; 1 to receive, 4 of work, 1 to send.
  const Replayed r = replay(log_of({{4, 4}, {4, 4}}), {0, 1}, two(10), {.event = 1, .batch = 2, .wire = 3});
  CHECK(r.seconds == doctest::Approx(14));
  CHECK(r.waited == doctest::Approx(3. / 14));
}

TEST_CASE("groups of a rank wait for their own neighbours, and work while another's batch is on its way") {
  // A chain 0 - 1 - 2 - 3 on two ranks: 1 and 2 swap batches, 0 and 3 wait for nobody.
  const std::vector<std::vector<Edge>> chain{{{1, 10}}, {{0, 10}, {2, 10}}, {{1, 10}, {3, 10}}, {{2, 10}}};
  const Replayed r = replay(log_of({{5, 1, 1, 5}, {5, 1, 1, 5}}), {0, 0, 1, 1}, chain, {.event = 1, .wire = 5});
  CHECK(r.seconds == doctest::Approx(12));
}

TEST_CASE("windows in which nothing happens end where all ranks meet") {
  WorkLog log = log_of({{1, 1}, {1, 1}});
  log.windows[1].index = 100;
  CHECK(replay(log, {0, 0}, two(10), {.event = 1}).windows == 2);
  const Replayed r = replay(log, {0, 1}, two(10), {.event = 1, .meeting = 7});
  CHECK(r.windows == 33);  // 0 to 31, and 100
  CHECK(r.seconds == doctest::Approx(1 + 7 + 1));
}
