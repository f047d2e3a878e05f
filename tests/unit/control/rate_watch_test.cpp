#include "core/control/rate_watch.hpp"

#include <doctest/doctest.h>

using namespace atl;

namespace {

/// Two chips that hold 4 CTAs each, of 1000; a period has the same of both.
struct WatchedRun {
  RateWatch watch{0.04, 0.95};
  WatchedRun() { watch.begin({500, 500}, 4); }
  bool period(std::uint64_t instructions, std::uint64_t ctas = 2, bool counts = true) {
    std::vector<Counters> chips(2);
    for (Counters& c : chips) c[Counter::warp_instructions] = instructions / 2, c[Counter::ctas] = ctas / 2;
    return watch.add(1000, chips, counts);
  }
};

}  // namespace

TEST_CASE("a steady launch is stable after its first wave and six periods in which another wave ended") {
  WatchedRun w;
  for (int i = 0; i < 4; ++i) CHECK_FALSE(w.period(100));  // 4 CTAs of each chip: the first wave
  for (int i = 0; i < 5; ++i) CHECK_FALSE(w.period(500));
  CHECK(w.watch.window().size() == 5);
  CHECK(w.period(500));
  CHECK(w.watch.window().size() == 6);
}

TEST_CASE("six periods in which less than a wave ended are too few") {
  WatchedRun w;
  CHECK_FALSE(w.period(100, 8));
  for (int i = 0; i < 11; ++i) CHECK_FALSE(w.period(500, i % 3 == 2 ? 2 : 0));  // 6 CTAs, and a wave is 8
  CHECK(w.period(500, 2));
}

TEST_CASE("a rate that scatters by more than half of the error's interval is not stable") {
  WatchedRun w;
  CHECK_FALSE(w.period(100, 8));
  // +-5 %: t(5) = 2.57 x 5.5 % / sqrt(6) = 5.7 % > 2 %; the halves' means are alike.
  for (const std::uint64_t rate : {950, 1050, 1050, 950, 1050, 950, 950, 1050}) CHECK_FALSE(w.period(rate));
}

TEST_CASE("a trend is not stable, however even") {
  WatchedRun w;
  CHECK_FALSE(w.period(100, 8));
  for (std::uint64_t rate = 1000; rate < 1400; rate += 20) CHECK_FALSE(w.period(rate, 2));
}

TEST_CASE("what was before a change of modes does not count") {
  WatchedRun w;
  CHECK_FALSE(w.period(100, 8));
  for (int i = 0; i < 5; ++i) CHECK_FALSE(w.period(500));
  w.watch.restart();
  CHECK_FALSE(w.period(700, 2, false));
  for (int i = 0; i < 5; ++i) CHECK_FALSE(w.period(700));
  CHECK(w.period(700));
  CHECK(w.watch.window().front().work() == 700);
}

TEST_CASE("a launch that is nearly over is left to end") {
  WatchedRun w;
  w.watch.begin({20, 20}, 4);  // two waves are 16 CTAs: worth while below 24
  CHECK_FALSE(w.period(100, 8));
  for (int i = 0; i < 20; ++i) CHECK(w.period(500) == (i == 5 || i == 6));  // 8 + 2 x 6 = 20, 22
}

TEST_CASE("a slow beginning is forgotten after two waves") {
  WatchedRun w;
  CHECK_FALSE(w.period(100, 8));
  for (int i = 0; i < 4; ++i) CHECK_FALSE(w.period(100));
  int periods = 0;
  while (!w.period(500) && periods < 40) ++periods;
  CHECK(periods < 10);
  CHECK(w.watch.window().front().work() == 500);
}

TEST_CASE("chips that would be done one after the other are no steady rate, until what the last is late by is little") {
  RateWatch watch(0.04, 0.95);
  watch.begin({500, 500}, 4);
  std::vector<Counters> chips(2);
  const std::uint64_t ctas[] = {6, 3};  // in 1000 cycles, of 100 instructions each
  for (std::size_t c = 0; c < 2; ++c)
    chips[c][Counter::ctas] = ctas[c], chips[c][Counter::warp_instructions] = 100 * ctas[c];
  // Done after 83 and 167 periods, and by their common rate after 111.
  for (int i = 0; i < 80; ++i) CHECK_FALSE(watch.add(1000, chips, true));

  watch.begin({500, 252}, 4);  // after 83 and 84: within 2 %
  bool stable = false;
  for (int i = 0; i < 20 && !stable; ++i) stable = watch.add(1000, chips, true);
  CHECK(stable);
}

TEST_CASE("a chip that has nothing left holds up nothing, one that stands still with work left does") {
  RateWatch watch(0.04, 0.95);
  std::vector<Counters> chips(2);
  chips[0][Counter::ctas] = 6, chips[0][Counter::warp_instructions] = 600;
  const auto stable_with = [&](std::uint64_t others) {
    watch.begin({500, others}, 4);
    chips[1] = chips[0];
    chips[1][Counter::ctas] = 4, chips[1][Counter::warp_instructions] = 400;
    CHECK_FALSE(watch.add(1000, chips, true));
    chips[1] = {};
    bool stable = false;
    for (int i = 0; i < 30 && !stable; ++i) stable = watch.add(1000, chips, true);
    return stable;
  };
  CHECK(stable_with(4));
  CHECK_FALSE(stable_with(40));
}
