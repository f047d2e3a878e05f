#include "comm/window_pool.hpp"

#include <doctest/doctest.h>

#include <mutex>
#include <set>
#include <thread>

#include "comm/collective_errors.hpp"
#include "comm/launcher.hpp"
#include "comm/serial_transport.hpp"
#include "comm/thread_transport.hpp"
#include "tests/contract/toy_network.hpp"

namespace atl::test {
namespace {

const Synchroniser::Sharing kSharing{[](LogicalProcess&) {}};

/// Process i belongs to thread i, the surplus is dealt round.
std::vector<int> dealt(std::size_t processes, int threads) {
  std::vector<int> map;
  for (std::size_t i = 0; i < processes; ++i) map.push_back(static_cast<int>(i) % threads);
  return map;
}

/// Plays on 2 to 5 threads that share the processes, which all belong to the first thread, or are dealt: each time the
/// outcome must be that of one thread.
void check_same_as_alone(const Edges& edges, const Rules& rules) {
  SerialTransport serial;
  const Outcome alone = play(serial, edges, dealt(edges.size(), 1), rules);
  CHECK(alone.events > rules.balls * edges.size());
  for (int threads = 2; threads <= 5; ++threads) {
    for (const auto& map : {dealt(edges.size(), threads), dealt(edges.size(), 1)}) {
      run_threads(threads, [&](Transport& t) {
        const Outcome here = play(t, edges, map, rules, nullptr, &kSharing);
        CHECK(here.digest == alone.digest);
        CHECK(here.events == alone.events);
      });
    }
  }
}

/// Says on which threads it runs, and fails if one runs it that has not adopted it.
class WatchedProcess final : public LogicalProcess {
 public:
  explicit WatchedProcess(LpId id) : LogicalProcess(id, {}), adopted_by(std::this_thread::get_id()) {}
  void receive(std::span<const Message>) override {}
  void receive(const ControlMessage&) override {}
  void run_until(Cycle end) override {
    const auto me = std::this_thread::get_id();
    CHECK(adopted_by == me);
    ran_by.insert(me);
    if (at_window) at_window();
    next_ = end < last_window * 100 ? end : kNever;
  }
  Cycle next_event() const override { return next_; }
  std::uint64_t digest() const override { return 0; }
  std::uint64_t events() const override { return 0; }

  std::thread::id adopted_by;
  std::set<std::thread::id> ran_by;
  std::function<void()> at_window;
  Cycle last_window = 1;

 private:
  Cycle next_ = 0;
};

const Synchroniser::Sharing kWatch{
    [](LogicalProcess& p) { static_cast<WatchedProcess&>(p).adopted_by = std::this_thread::get_id(); }};

}  // namespace

TEST_CASE("threads that share processes come to the digest of one, whoever runs what") {
  check_same_as_alone(ring_with_controller(4, 32, 200), {});
  check_same_as_alone(ring_with_controller(6, 20, 90), {4, 40});
  check_same_as_alone(ring_with_controller(4, 10, 509), {4, 80, 30});  // a control edge 50 windows slow
  Edges pairs(6);
  for (LpId a = 0; a < 6; ++a) pairs[a].push_back({a ^ 1u, 10 + a / 2 * 7});
  check_same_as_alone(pairs, {});
  check_same_as_alone(Edges(5), {});
}

TEST_CASE(
    "edges of very different latencies, one slow and none a multiple of another, change nothing for threads that share") {
  Edges edges(5);
  const Cycle latency[] = {7, 10, 13, 29, 1000, 64, 7, 301, 15, 8};
  unsigned k = 0;
  for (LpId a = 0; a < 5; ++a)
    for (const LpId step : {1u, 2u}) edges[a].push_back({(a + step) % 5, latency[k++]});
  check_same_as_alone(edges, {6, 50});
}

TEST_CASE("idle gaps are skipped by threads that share, too") {
  Rules rules{1, 40, 50};
  rules.pause = 100'000'000;
  check_same_as_alone(ring_with_controller(4, 10, 40), rules);
}

TEST_CASE("a thread that has nothing to do takes over what another cannot run just then, and its owner has it back") {
  if (processors_of_process() < 2) return;  // a thread that sleeps is left asleep there
  run_threads(2, [](Transport& t) {
    // Both belong to the first thread, and each waits until both run: without a second thread, neither would end.
    std::atomic<int> running{0};
    const auto meet = [&] {
      ++running;
      const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
      while (running < 2 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
      CHECK(running >= 2);
    };
    std::vector<std::unique_ptr<WatchedProcess>> mine;
    std::vector<LogicalProcess*> local;
    for (LpId lp = 0; lp < 2 && t.rank() == 0; ++lp) {
      mine.push_back(std::make_unique<WatchedProcess>(lp));
      mine.back()->at_window = meet;
      local.push_back(mine.back().get());
    }
    {
      Synchroniser s(t, local, {0, 0}, Edges(2), &kWatch);
      s.run();
      const auto taken = t.all_gather(std::to_string(s.taken_over()));
      CHECK(taken == std::vector<std::string>{"0", "1"});
    }
    for (const auto& p : mine) CHECK(p->adopted_by == std::this_thread::get_id());
  });
}

TEST_CASE("a fixed process is run by its own thread only, whatever others have to do") {
  run_threads(3, [](Transport& t) {
    Synchroniser::Sharing sharing = kWatch;
    sharing.fixed = 1;
    std::vector<std::unique_ptr<WatchedProcess>> mine;
    std::vector<LogicalProcess*> local;
    for (LpId lp = 0; lp < 4 && t.rank() == 0; ++lp) {
      mine.push_back(std::make_unique<WatchedProcess>(lp));
      mine.back()->last_window = 400;
      mine.back()->at_window = [] { std::this_thread::sleep_for(std::chrono::microseconds(20)); };
      local.push_back(mine.back().get());
    }
    Synchroniser s(t, local, std::vector<int>(4), Edges(4), &sharing);
    s.run();
    if (t.rank() == 0) CHECK(mine[1]->ran_by == std::set<std::thread::id>{std::this_thread::get_id()});
  });
}

TEST_CASE("a process that throws ends all threads that share: one with its message, the others with exit code 3") {
  for (const Cycle when : {Cycle{0}, Cycle{100}, Cycle{3000}}) {
    for (LpId thief = 0; thief < 5; ++thief) {
      Rules rules;
      rules.thief = thief, rules.theft = when;
      std::mutex mutex;
      std::multiset<std::string> ends;
      run_threads(3, [&](Transport& t) {
        std::string end = "done";
        try {
          play(t, ring_with_controller(4, 32, 200), dealt(5, 3), rules, nullptr, &kSharing);
        } catch (const PeerFailure& e) {
          end = "peer " + std::to_string(e.exit_code());
        } catch (const Error& e) {
          end = e.what();
        }
        const std::lock_guard lock(mutex);
        ends.insert(end);
      });
      CHECK(ends == std::multiset<std::string>{"peer 3", "peer 3", "process " + std::to_string(thief) + " lost its balls"});
    }
  }
}

TEST_CASE("a message that breaks its edge's promise is found by threads that share") {
  Rules rules;
  rules.cheat = 2;
  std::string end;
  try {
    run_threads(3, [&](Transport& t) { play(t, ring_with_controller(4, 32, 200), dealt(5, 3), rules, nullptr, &kSharing); });
  } catch (const std::exception& e) {
    end = e.what();
  }
  CHECK_MESSAGE(end.starts_with("a message from process 2 arrives at cycle "), end);
  CHECK_MESSAGE(end.find(", before the window that starts at ") != std::string::npos, end);
}

/// Throws at its third time on one thread: of no error that all threads would agree on.
class Leaving final : public Meeting {
 public:
  explicit Leaving(bool leaves) : leaves_(leaves) {}
  std::uint32_t request() override { return 0; }
  bool meet(Cycle, Cycle, std::uint32_t) override {
    if (++times_ == 3 && leaves_) throw std::runtime_error("gone");
    return true;
  }

 private:
  bool leaves_;
  int times_ = 0;
};

TEST_CASE("a thread that leaves where all meet takes its processes with it, and nobody waits for them") {
  for (int leaver = 0; leaver < 3; ++leaver) {
    std::string end;
    try {
      run_threads(3, [&](Transport& t) {
        Leaving meeting(t.rank() == leaver);
        play(t, ring_with_controller(4, 32, 200), dealt(5, 3), {}, &meeting, &kSharing);
      });
    } catch (const std::exception& e) {
      end = e.what();
    }
    CHECK(end == "gone");
  }
}

}  // namespace atl::test
