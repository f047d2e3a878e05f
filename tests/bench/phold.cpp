// PHOLD-like benchmark of the event engine and the synchroniser: no simulated machine, only events.
//
// Each logical process has 1024 components. Handling an event draws a delay and a target; a share of the events goes to
// another process as a message, with the lookahead as its least delay. The number of pending events stays constant.
//
//   bench_phold [processes] [pending] [remote %] [events] [threads]
#include <fmt/format.h>
#include <time.h>

#include <cstdlib>
#include <memory>

#include "comm/serial_transport.hpp"
#include "comm/synchroniser.hpp"
#include "comm/thread_transport.hpp"
#include "core/engine/digest.hpp"
#include "core/engine/event_queue.hpp"

namespace {

using namespace atl;

constexpr Cycle kLookahead = 100;
constexpr std::uint32_t kComponents = 1024;

struct Event {
  using PlainState = void;
  std::uint32_t component = 0, visits = 0;
  std::uint64_t load[3] = {};  ///< as large as a packet
};

class Process final : public LogicalProcess {
 public:
  Process(LpId id, std::vector<Edge> edges, std::uint32_t pending, std::uint32_t remote_percent, Cycle end)
      : LogicalProcess(id, std::move(edges)),
        random_(id * 0x9E3779B97F4A7C15ull + 1),
        remote_(remote_percent),
        end_(end),
        state_(kComponents) {
    for (std::uint32_t i = 0; i < pending; ++i) queue_.push(draw() % kLookahead, {draw() % kComponents, 0, {}});
  }
  void receive(std::span<const Message> messages) override {
    for (const Message& m : messages) queue_.push(m.arrival, m.as<Event>());
  }
  void receive(const ControlMessage&) override {}
  void run_until(Cycle end) override {
    queue_.run_until(end, [this](Cycle now, const Event& e) {
      state_[e.component] += now;
      digest_.add(now, e.component);
      if (now >= end_) return;
      const std::uint32_t r = draw();
      const Event next{(r >> 8) % kComponents, e.visits + 1, {e.load[0] + now, e.load[1], e.load[2]}};
      const Cycle delay = 1 + (r >> 20) % (2 * kLookahead);
      if (!edges().empty() && (r & 0xFF) * 100 < remote_ * 256) {
        outbox().data.push_back(
            {edges()[(r >> 18) % edges().size()].to, Message::make(now + kLookahead + delay, id(), 0, next)});
      } else {
        queue_.push(now + delay, next);
      }
    });
  }
  Cycle next_event() const override { return queue_.next(); }
  std::uint64_t digest() const override { return digest_.value(); }
  std::uint64_t events() const override { return queue_.handled(); }

 private:
  std::uint32_t draw() {
    random_ ^= random_ << 13, random_ ^= random_ >> 7, random_ ^= random_ << 17;
    return static_cast<std::uint32_t>(random_ >> 16);
  }
  EventQueue<Event> queue_;
  Digest digest_;
  std::uint64_t random_;
  std::uint32_t remote_;
  Cycle end_;
  std::vector<std::uint64_t> state_;
};

double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, std::uint64_t otherwise) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  const auto processes = static_cast<std::uint32_t>(argument(1, 4));
  const auto pending = static_cast<std::uint32_t>(argument(2, 10000) / processes),
             remote = static_cast<std::uint32_t>(argument(3, 5));
  const std::uint64_t events = argument(4, 50'000'000);
  const auto threads = static_cast<int>(argument(5, 1));
  // A pending event fires about every lookahead + 1 cycles.
  const Cycle end = events / (std::uint64_t{pending} * processes) * kLookahead;
  std::vector<std::vector<Edge>> edges(processes);
  for (LpId a = 0; a < processes; ++a) {
    for (LpId b = 0; b < processes; ++b) {
      if (a != b) edges[a].push_back({b, kLookahead});
    }
  }
  std::vector<int> rank_of;
  for (std::uint32_t p = 0; p < processes; ++p)
    rank_of.push_back(static_cast<int>(p) * threads / static_cast<int>(processes));
  std::vector<std::unique_ptr<Process>> all(processes);
  const auto body = [&](Transport& t) {
    std::vector<LogicalProcess*> local;
    for (LpId p = 0; p < processes; ++p) {
      if (rank_of[p] != t.rank()) continue;
      all[p] = std::make_unique<Process>(p, edges[p], pending, remote, end);
      local.push_back(all[p].get());
    }
    Synchroniser(t, local, rank_of, edges).run();
  };
  const double before = cpu_seconds();
  if (threads == 1) {
    SerialTransport alone;
    body(alone);
  } else {
    run_threads(threads, body);
  }
  const double seconds = cpu_seconds() - before;
  std::uint64_t handled = 0;
  Digest digest;
  for (const auto& p : all) handled += p->events(), digest.add(p->digest());
  fmt::print(
      "{} processes, {} pending, {} % remote, {} thread(s): {:.1f} M events/s per core ({:.1f} M events, {:.2f} CPU s), "
      "digest {:016x}\n",
      processes, pending * processes, remote, threads, 1e-6 * static_cast<double>(handled) / seconds,
      1e-6 * static_cast<double>(handled), seconds, digest.value());
}
