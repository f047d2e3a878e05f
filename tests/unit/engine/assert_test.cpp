#include "core/engine/assert.hpp"

#include <doctest/doctest.h>

#include "core/engine/event_queue.hpp"
#include "core/engine/parked_messages.hpp"

namespace atl {
namespace {

TEST_CASE("a failed assertion names file, line and condition") {
  CHECK_THROWS_WITH_AS(fail_assertion("a < b", "core/x.hpp", 7), "core/x.hpp:7: assertion failed: a < b", AssertionFailure);
}

TEST_CASE("an event in the past is refused where assertions are built in" * doctest::skip(!kAssertions)) {
  EventQueue<int> queue;
  queue.push(100, 1);
  queue.run_until(101, [](Cycle, int) {});
  CHECK_NOTHROW(queue.push(100, 2));  // the cycle that is being handled
  CHECK_THROWS_AS(queue.push(99, 3), AssertionFailure);
  CHECK_THROWS_AS(queue.push_first(99, 3), AssertionFailure);
}

TEST_CASE("a message cannot be taken twice where assertions are built in" * doctest::skip(!kAssertions)) {
  ParkedMessages parked;
  const std::uint32_t number = parked.put({3, 0, 0, {}});
  CHECK(parked.take(number).arrival == 3);
  CHECK_THROWS_AS(parked.take(number), AssertionFailure);
  CHECK_THROWS_AS(parked.take(number + 1), AssertionFailure);
}

}  // namespace
}  // namespace atl
