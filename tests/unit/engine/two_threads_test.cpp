#include <doctest/doctest.h>

#include <thread>

#include "core/engine/second_thread.hpp"
#include "core/engine/spsc_ring.hpp"

namespace atl::test {

TEST_CASE("a ring hands over what is published, in order, and has room again for what was given back") {
  SpscRing<int> ring(3);  // 4 places
  CHECK(ring.room(4));
  CHECK(!ring.room(5));
  for (int i = 0; i < 4; ++i) ring.push(i);
  CHECK(!ring.room(1));
  CHECK(ring.first() == nullptr);
  ring.publish();
  for (int i = 0; i < 3; ++i) {
    REQUIRE(ring.first() != nullptr);
    CHECK(*ring.first() == i);
    ring.take();
  }
  CHECK(!ring.room(1));
  ring.give_back();
  CHECK(ring.room(3));
  CHECK(!ring.room(4));
}

TEST_CASE("a ring that has been emptied may grow, and keeps what is pushed and not yet published") {
  SpscRing<int> ring(4);
  for (int i = 0; i < 3; ++i) ring.push(i);
  ring.publish();
  while (ring.first() != nullptr) ring.take();
  ring.give_back();
  REQUIRE(ring.room(4));
  for (int i = 3; i < 7; ++i) ring.push(i);
  CHECK(ring.all_given_back());
  CHECK(!ring.room(1));
  ring.grow();
  CHECK(ring.room(4));
  CHECK(!ring.room(5));
  for (int i = 7; i < 11; ++i) ring.push(i);
  ring.publish();
  for (int i = 3; i < 11; ++i) {
    REQUIRE(ring.first() != nullptr);
    CHECK(*ring.first() == i);
    ring.take();
  }
  CHECK(ring.first() == nullptr);
}

TEST_CASE("two threads hand each other a million numbers by rings, each waiting for the other's") {
  constexpr int kCount = 1'000'000;
  SpscRing<int> there(64), back(64);
  long long sum = 0;
  SecondThread echo;
  echo.start([&] {
    ShortWait wait;
    for (int n = 0; n < kCount;) {
      const int* next = there.first();
      if (next == nullptr || !back.room(1)) {
        wait.pause();
        continue;
      }
      back.push(*next), back.publish();
      there.take(), there.give_back(), ++n;
    }
  });
  ShortWait wait;
  for (int sent = 0, got = 0; got < kCount;) {
    if (sent < kCount && there.room(1)) there.push(sent++), there.publish();
    if (const int* next = back.first()) {
      REQUIRE(*next == got);
      sum += *next, ++got;
      back.take(), back.give_back();
    } else {
      wait.pause();
    }
  }
  echo.wait();
  CHECK(sum == (kCount - 1LL) * kCount / 2);
}

TEST_CASE("a second thread does one piece of work after another, soon or after it has gone to sleep") {
  SecondThread thread;
  int done = 0;
  for (int i = 0; i < 2000; ++i) {
    thread.start([&] { ++done; });
    thread.wait();
    REQUIRE(done == i + 1);
    if (i % 400 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
}

}  // namespace atl::test
