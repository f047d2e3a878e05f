#include "comm/collective_errors.hpp"

#include <stdexcept>

#include "tests/contract/transport_contract.hpp"

namespace atl::test {
namespace {

/// What `step` ends in on this rank: "done", "peer <code>" or the error's own text.
std::string outcome(Transport& t, const std::function<void()>& step) {
  try {
    run_collectively(t, step);
    return "done";
  } catch (const PeerFailure& e) {
    return "peer " + std::to_string(e.exit_code());
  } catch (const std::exception& e) {
    return e.what();
  }
}

}  // namespace

TEST_CASE("a step in which nobody fails ends well on all ranks") {
  on_all_ranks([](Transport& t) { CHECK(outcome(t, [] {}) == "done"); });
}

TEST_CASE("one rank's error releases all: it throws its own, the others PeerFailure with its exit code") {
  on_all_ranks([](Transport& t) {
    for (int bad = 0; bad < t.size(); ++bad) {
      const std::string got = outcome(t, [&] {
        if (t.rank() == bad) throw IoError("disk", "full");
      });
      CHECK(got == (t.rank() == bad ? "disk: full" : "peer 4"));
    }
  });
}

TEST_CASE("when all ranks fail only the lowest keeps its error, so that the user reads one message") {
  on_all_ranks([](Transport& t) {
    const std::string got = outcome(t, [&] { throw SimulationError("rank " + std::to_string(t.rank())); });
    CHECK(got == (t.rank() == 0 ? "rank 0" : "peer 3"));
  });
}

TEST_CASE("when the last two ranks fail differently the lower one speaks and its code counts") {
  on_all_ranks([](Transport& t) {
    if (t.size() < 2) return;
    const std::string got = outcome(t, [&] {
      if (t.rank() == t.size() - 2) throw InputError("key", "wrong");
      if (t.rank() == t.size() - 1) throw std::logic_error("other");
    });
    CHECK(got == (t.rank() == t.size() - 2 ? "key: wrong" : "peer 2"));
  });
}

TEST_CASE("after an agreed failure the ranks can go on to the next step") {
  on_all_ranks([](Transport& t) {
    for (int i = 0; i < 20; ++i) {
      outcome(t, [&] {
        if (t.rank() == i % t.size()) throw std::runtime_error("again");
      });
      CHECK(outcome(t, [] {}) == "done");
    }
  });
}

TEST_CASE("exit codes: 2 input, 3 simulation, 4 files, 1 anything else, and a peer's own") {
  const auto code = [](const auto& error) { return exit_code_of(std::make_exception_ptr(error)); };
  CHECK(code(InputError("a", "b")) == 2);
  CHECK(code(SimulationError("a")) == 3);
  CHECK(code(IoError("a", "b")) == 4);
  CHECK(code(std::runtime_error("a")) == 1);
  CHECK(code(PeerFailure(7)) == 7);
}

}  // namespace atl::test
