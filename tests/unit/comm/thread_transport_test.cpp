#include "comm/thread_transport.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "comm/collective_errors.hpp"

namespace atl::test {
namespace {

/// The message of what run_threads throws, "" if nothing.
std::string thrown(int ranks, const std::function<void(Transport&)>& body) {
  try {
    run_threads(ranks, body);
    return "";
  } catch (const std::exception& e) {
    return e.what();
  }
}

TEST_CASE("run_threads runs the body once per rank") {
  std::atomic<int> ran{0}, sum{0};
  run_threads(5, [&](Transport& t) {
    ++ran, sum += t.rank();
    CHECK(t.size() == 5);
  });
  CHECK(ran == 5);
  CHECK(sum == 10);
}

TEST_CASE("an error that ranks agreed on comes out of run_threads as the failing rank's own, every time") {
  for (int round = 0; round < 200; ++round) {
    const int bad = round % 4;
    CHECK(thrown(4, [&](Transport& t) {
            run_collectively(t, [&] {
              if (t.rank() == bad) throw InputError("file", "line");
              // The failing rank then sleeps when the others complete the round: they are the first to leave it.
              if (round % 2 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
            });
          }) == "file: line");
  }
}

TEST_CASE("a rank that throws while the others wait for a message, all_min or all_gather releases them") {
  for (int wait = 0; wait < 3; ++wait) {
    CHECK(thrown(3, [&](Transport& t) {
            if (t.rank() == 1) throw std::runtime_error("gone");
            std::string body;
            if (wait == 0) t.open(1, 0)->receive(body);
            if (wait == 1) t.all_min(1);
            if (wait == 2) t.all_gather("x");
            CHECK_MESSAGE(false, "the collective returned without rank 1");
          }) == "gone");
  }
}

}  // namespace
}  // namespace atl::test
