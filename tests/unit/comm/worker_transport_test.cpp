#include "comm/worker_transport.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "comm/collective_errors.hpp"
#include "comm/serial_transport.hpp"
#include "comm/thread_transport.hpp"

namespace atl::test {
namespace {

const auto never = [](const std::exception_ptr&) { CHECK_MESSAGE(false, "all ranks know of the error"); };

TEST_CASE("ranks are numbered process by process, and those of one share its address space") {
  run_threads(2, [](Transport& process) {
    run_workers(
        process, 3,
        [&](Transport& t) {
          CHECK(t.size() == 6);
          CHECK(t.rank() / 3 == process.rank());
          for (int r = 0; r < 6; ++r) CHECK(t.address_space(r) == r / 3);
          CHECK(t.all_gather(std::to_string(t.rank())) == std::vector<std::string>{"0", "1", "2", "3", "4", "5"});
        },
        never);
  });
}

TEST_CASE("streams of one number between different threads of two processes do not meet") {
  run_threads(2, [](Transport& process) {
    run_workers(
        process, 2,
        [](Transport& t) {
          std::vector<std::unique_ptr<Stream>> streams;
          for (int r = 0; r < t.size(); ++r) streams.push_back(r == t.rank() ? nullptr : t.open(r, 7));
          for (int r = 0; r < t.size(); ++r)
            if (r != t.rank()) streams[static_cast<std::size_t>(r)]->send(std::to_string(t.rank() * 10 + r));
          for (int r = t.size() - 1; r >= 0; --r) {
            std::string body;
            if (r == t.rank()) continue;
            streams[static_cast<std::size_t>(r)]->receive(body);
            CHECK(body == std::to_string(r * 10 + t.rank()));
          }
        },
        never);
  });
}

TEST_CASE("an error that all agreed on comes out of the failing process as itself, and of the other as a peer's") {
  for (int bad = 0; bad < 4; ++bad) {
    run_threads(2, [&](Transport& process) {
      std::string what;
      try {
        run_workers(
            process, 2,
            [&](Transport& t) {
              run_collectively(t, [&] {
                if (t.rank() == bad) throw InputError("file", "line");
              });
            },
            never);
      } catch (const PeerFailure& e) {
        what = "peer " + std::to_string(e.exit_code());
      } catch (const std::exception& e) {
        what = e.what();
      }
      CHECK(what == (process.rank() == bad / 2 ? "file: line" : "peer 2"));
    });
  }
}

TEST_CASE("an error that the others cannot know of is handed on at once, also after one that was agreed on before") {
  SerialTransport alone;
  std::atomic<int> given_up{0};
  const auto body = [](Transport& t) {
    CHECK_THROWS(run_collectively(t, [] { throw std::runtime_error("agreed"); }));
    run_collectively(t, [] {});
    if (t.rank() == 1) throw std::runtime_error("alone");
    t.all_min(1);
    CHECK_MESSAGE(false, "the collective returned without rank 1");
  };
  CHECK_THROWS_WITH(run_workers(alone, 2, body, [&](const std::exception_ptr&) { ++given_up; }), "alone");
  CHECK(given_up == 1);
}

}  // namespace
}  // namespace atl::test
