#include "core/engine/event_queue.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <utility>

namespace atl::test {
namespace {

using Queue = EventQueue<std::uint32_t>;
using Log = std::vector<std::pair<Cycle, std::uint32_t>>;

/// What EventQueue must equal: std::multimap keeps equal keys in the order of insertion.
class Reference {
 public:
  void push(Cycle at, std::uint32_t event) { pending_.emplace(at, event); }
  template <class Handler> void run_until(Cycle end, Handler&& handle) {
    while (!pending_.empty() && pending_.begin()->first < end) {
      const auto [at, event] = *pending_.begin();
      pending_.erase(pending_.begin());
      handle(at, event);
    }
  }
  Cycle next() const { return pending_.empty() ? kNever : pending_.begin()->first; }

 private:
  std::multimap<Cycle, std::uint32_t> pending_;
};

/// Every event schedules up to three more: this cycle, near, at the wheel's edge, far, or after a long silence. What an
/// event does follows from its number, so both queues see the same schedule as long as their order agrees.
template <class Q> class Storm {
 public:
  explicit Storm(std::uint32_t seed, std::uint32_t limit) : limit_(limit), seed_(seed) {
    for (std::uint32_t i = 0; i < 20; ++i) queue.push(i * i * 37 % 9000, created_++);
  }
  void run_until(Cycle end) {
    queue.run_until(end, [this](Cycle at, std::uint32_t event) {
      log.emplace_back(at, event);
      std::mt19937 random(seed_ + event);
      for (std::uint32_t children = random() % 3 + (event % 7 == 0); children != 0 && created_ < limit_; --children) {
        queue.push(at + delay(random), created_++);
      }
    });
  }
  Q queue;
  Log log;

 private:
  static Cycle delay(std::mt19937& random) {
    constexpr Cycle wheel = Queue::kWheel;
    switch (random() % 8) {
      case 0:
        return 0;
      case 1:
        return wheel - 1 + random() % 3;
      case 2:
        return wheel * 2 + random() % wheel;
      case 3:
        return random() % 64 == 0 ? 10'000'000 + random() % 1000 : 4096;
      case 4:
        return random() % 5000;
      default:
        return random() % 20;
    }
  }
  std::uint32_t created_ = 0, limit_, seed_;
};

TEST_CASE("random schedules run in exactly the order of a multimap: cycle, then order of scheduling") {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    Storm<Queue> queue(seed * 1000003, 5000);
    Storm<Reference> reference(seed * 1000003, 5000);
    queue.run_until(kNever);
    reference.run_until(kNever);
    REQUIRE(queue.log.size() > 20);
    CHECK(queue.log == reference.log);
    CHECK(queue.queue.empty());
    CHECK(queue.queue.handled() == queue.log.size());
  }
}

/// Runs by single cycles and takes, as the owner of several queues does.
struct ByCycles : Queue {
  template <class Handler> void run_until(Cycle end, Handler&& handle) {
    while (next() < end) {
      const Cycle at = next();
      begin_cycle(at);
      while (const std::uint32_t* first = this->first()) {
        const std::uint32_t seen = *first, event = take([](std::uint32_t) {});
        REQUIRE(event == seen);
        handle(at, event);
      }
      end_cycle();
    }
  }
};

TEST_CASE("single events taken out of cycles come in the same order") {
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    Storm<ByCycles> queue(seed * 1000003, 5000);
    Storm<Reference> reference(seed * 1000003, 5000);
    queue.run_until(kNever), reference.run_until(kNever);
    CHECK(queue.log == reference.log);
    CHECK(queue.queue.empty());
    CHECK(queue.queue.handled() == queue.log.size());
  }
}

TEST_CASE("what is drained comes in the order in which it would have been handled") {
  Storm<Queue> queue(11, 3000);
  Storm<Reference> reference(11, 3000);
  queue.run_until(20000), reference.run_until(20000);
  Log drained, wanted;
  queue.queue.drain([&](Cycle at, std::uint32_t event) { drained.emplace_back(at, event); });
  reference.queue.run_until(kNever, [&](Cycle at, std::uint32_t event) { wanted.emplace_back(at, event); });
  REQUIRE(wanted.size() > 10);
  CHECK(drained == wanted);
  CHECK(queue.queue.empty());
}

TEST_CASE("the order is the same however run_until is cut into windows") {
  Storm<Queue> whole(77, 20000);
  whole.run_until(kNever);
  for (const Cycle window : {Cycle{1}, Cycle{32}, Cycle{4095}, Cycle{4096}, Cycle{4097}, Cycle{123457}}) {
    Storm<Queue> cut(77, 20000);
    for (Cycle end = window; !cut.queue.empty(); end = std::max(end, cut.queue.next() / window * window) + window) {
      cut.run_until(end);
      REQUIRE(cut.queue.next() >= end);
    }
    CHECK(cut.log == whole.log);
  }
}

TEST_CASE("pushes between windows take their place behind those of the same cycle, near and far") {
  Queue queue;
  Reference reference;
  Log got, wanted;
  std::mt19937 random(5);
  std::uint32_t created = 0;
  for (Cycle end = 50; end < 40000; end += 50) {
    for (unsigned i = 0; i < 4; ++i) {
      const Cycle at = end + random() % (i == 0 ? 12000u : 100u) / 10 * 10;
      queue.push(at, created), reference.push(at, created), ++created;
    }
    queue.run_until(end, [&](Cycle at, std::uint32_t event) { got.emplace_back(at, event); });
    reference.run_until(end, [&](Cycle at, std::uint32_t event) { wanted.emplace_back(at, event); });
    REQUIRE(queue.next() == reference.next());
  }
  CHECK(got == wanted);
}

TEST_CASE("an event of cycle 10000 that was scheduled first, from afar, runs before one scheduled nearby") {
  Queue queue;
  Log log;
  queue.push(10000, 1);  // beyond the wheel
  queue.push(9000, 2);
  const auto handle = [&](Cycle at, std::uint32_t event) {
    log.emplace_back(at, event);
    if (event == 2) queue.push(10000, 3);
  };
  queue.run_until(kNever, handle);
  CHECK(log == Log{{9000, 2}, {10000, 1}, {10000, 3}});
}

TEST_CASE("a handler's push to its own cycle runs in that cycle, after what was already there") {
  Queue queue;
  Log log;
  queue.push(5, 1), queue.push(5, 2);
  queue.run_until(6, [&](Cycle at, std::uint32_t event) {
    log.emplace_back(at, event);
    if (event < 3) queue.push(5, event + 2);
  });
  CHECK(log == Log{{5, 1}, {5, 2}, {5, 3}, {5, 4}});
  CHECK(queue.now() == 5);
}

TEST_CASE("run_until handles the last cycle before its end and leaves the end itself") {
  Queue queue;
  std::uint32_t handled = 0;
  queue.push(99, 1), queue.push(100, 2);
  queue.run_until(100, [&](Cycle, std::uint32_t event) { handled = event; });
  CHECK(handled == 1);
  CHECK(queue.next() == 100);
}

TEST_CASE("an empty queue's next event is never, also after clear") {
  Queue queue;
  CHECK(queue.next() == kNever);
  queue.push(3, 1), queue.push(1'000'000, 2);
  CHECK(queue.next() == 3);
  queue.clear();
  CHECK(queue.empty());
  CHECK(queue.next() == kNever);
  queue.push(7, 4);
  CHECK(queue.next() == 7);
}

TEST_CASE("every event is hinted once, before its turn and in its cycle's order, the first of a cycle in the one before") {
  Queue queue;
  std::vector<std::uint32_t> hinted[2], handled[2];  // of cycles 5 and 6
  for (std::uint32_t i = 0; i < 10; ++i) queue.push(5, i);
  for (std::uint32_t i = 10; i < 12; ++i) queue.push(6, i);
  std::uint32_t next = 12;
  bool early = false;
  queue.run_until(
      100,
      [&](Cycle at, std::uint32_t event) {
        CHECK(hinted[at - 5].size() > handled[at - 5].size());
        handled[at - 5].push_back(event);
        if (at == 5) early = hinted[1] == std::vector<std::uint32_t>{10};
        if (event % 4 == 1 && next < 20) queue.push(at, next++);
      },
      [&](std::uint32_t event) { hinted[event == 10 || event == 11].push_back(event); });
  CHECK(handled[0].size() + handled[1].size() == next);
  CHECK(early);
  CHECK(hinted[0] == handled[0]);
  CHECK(hinted[1] == handled[1]);
}

}  // namespace
}  // namespace atl::test
