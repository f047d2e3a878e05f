#include "tests/bench/part_log.hpp"

#include <doctest/doctest.h>

using namespace atl::bench;

TEST_CASE("threads share the parts, and each step lasts as long as the one with most to do in it") {
  PartLog log;
  log.parts = 3;
  log.events = {4, 2, 2, 0, 6, 2};  // parts have 4, 8 and 4 events: two threads have 8 each
  log.total = 16;
  CHECK(speed_up(log, 1, 5) == doctest::Approx(1));
  CHECK(speed_up(log, 2, 0) == doctest::Approx(16. / (6 + 6)));  // 2 against 6, then 6 against 2
  CHECK(speed_up(log, 2, 1) == doctest::Approx(16. / 14));
  CHECK(speed_up(log, 3, 0) == doctest::Approx(16. / (4 + 6)));
}
