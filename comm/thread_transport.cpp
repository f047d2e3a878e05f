#include "comm/thread_transport.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>

#include "comm/collective_errors.hpp"
#include "comm/patience.hpp"
#include "comm/short_slices.hpp"

namespace atl {
namespace {

/// Thrown into ranks that wait for one that has failed; never leaves this file.
struct PeerFailed {};

/// From which rank to which, by which stream.
using Way = std::tuple<int, int, int>;

/// One way of a stream. Only the rank that waits for it is woken: on a busy host each thread that wakes in vain costs a
/// turn.
class Box {
 public:
  void post(std::string body) {
    const std::lock_guard lock(mutex_);
    bodies_.push_back(std::move(body));
    changes_.fetch_add(1, std::memory_order_release);
    changed_.notify_one();
  }
  std::string take() {
    patience_.poll([&] { return changes_.load(std::memory_order_acquire) != taken_; });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failed_ || !bodies_.empty(); });
    if (bodies_.empty()) throw PeerFailed{};
    std::string body = std::move(bodies_.front());
    bodies_.pop_front();
    ++taken_;
    return body;
  }
  void fail() {
    const std::lock_guard lock(mutex_);
    failed_ = true;
    changes_.fetch_add(1, std::memory_order_release);
    changed_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> bodies_;
  bool failed_ = false;
  std::atomic<std::uint64_t> changes_{0};  // bodies that have come, and failures
  std::uint64_t taken_ = 0;                // of the bodies
  Patience patience_;                      // of the one who takes
};

/// Boxes of all streams, and one place for collectives.
class Hub {
 public:
  explicit Hub(int ranks) : ranks_(ranks), gathered_(static_cast<std::size_t>(ranks)) {}

  Box& box(const Way& way) {
    const std::lock_guard lock(mutex_);
    Box& box = boxes_[way];
    if (failed_) box.fail();
    return box;
  }
  /// All ranks enter with their body and leave with everybody's.
  std::vector<std::string> gather(int rank, const std::string& body, Patience& patience) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failed_ || !leaving_; });
    if (failed_) throw PeerFailed{};
    gathered_[static_cast<std::size_t>(rank)] = body;
    if (++inside_ == ranks_) {
      leaving_ = true;
      complete_.fetch_add(1, std::memory_order_release);
      changed_.notify_all();
    } else {
      const std::uint64_t before = complete_.load(std::memory_order_relaxed);
      lock.unlock();
      patience.poll([&] { return complete_.load(std::memory_order_acquire) != before; });
      lock.lock();
    }
    changed_.wait(lock, [&] { return failed_ || leaving_; });
    if (!leaving_) throw PeerFailed{};  // a round that is complete serves all, also if one of them failed right after it
    auto all = gathered_;
    if (--inside_ == 0) leaving_ = false, changed_.notify_all();
    return all;
  }
  void fail() {
    const std::lock_guard lock(mutex_);
    failed_ = true;
    complete_.fetch_add(1, std::memory_order_release);
    changed_.notify_all();
    for (auto& [way, box] : boxes_) box.fail();
  }
  int ranks() const { return ranks_; }

 private:
  int ranks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Way, Box> boxes_;
  std::vector<std::string> gathered_;
  int inside_ = 0;
  bool leaving_ = false, failed_ = false;
  std::atomic<std::uint64_t> complete_{0};  // rounds in which all have entered, and failures
};

class ThreadStream final : public Stream {
 public:
  ThreadStream(Hub& hub, int here, int there, int number)
      : out_(hub.box({here, there, number})), in_(hub.box({there, here, number})) {}
  void send(const std::string& body) override { out_.post(body); }
  void receive(std::string& body) override { body = in_.take(); }

 private:
  Box &out_, &in_;
};

class ThreadTransport final : public Transport {
 public:
  ThreadTransport(Hub& hub, int rank) : hub_(hub), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return hub_.ranks(); }
  int address_space(int) const override { return 0; }
  std::unique_ptr<Stream> open(int rank, int number) override {
    return std::make_unique<ThreadStream>(hub_, rank_, rank, number);
  }
  std::uint64_t all_min(std::uint64_t value) override {
    for (const auto& s : hub_.gather(rank_, std::string(reinterpret_cast<const char*>(&value), sizeof value), patience_)) {
      std::uint64_t other;
      s.copy(reinterpret_cast<char*>(&other), sizeof other);
      value = std::min(value, other);
    }
    return value;
  }
  void broadcast(std::string& body, int root) override {
    body = hub_.gather(rank_, rank_ == root ? body : std::string{}, patience_)[static_cast<std::size_t>(root)];
  }
  std::vector<std::string> all_gather(const std::string& body) override { return hub_.gather(rank_, body, patience_); }

 private:
  Hub& hub_;
  int rank_;
  Patience patience_;
};

}  // namespace

void run_threads(int ranks, const std::function<void(Transport&)>& body) {
  Hub hub(ranks);
  std::exception_ptr first, peers;
  std::mutex first_mutex;
  std::vector<std::jthread> threads;
  const auto run_rank = [&](int r) {
    ask_for_short_slices();
    ThreadTransport transport(hub, r);
    try {
      body(transport);
    } catch (const PeerFailed&) {
    } catch (const PeerFailure&) {  // says less than the failing rank's own error, which may still be on its way here
      const std::lock_guard lock(first_mutex);
      peers = std::current_exception();
      hub.fail();
    } catch (...) {
      const std::lock_guard lock(first_mutex);
      if (!first) first = std::current_exception();
      hub.fail();
    }
  };
  try {
    for (int r = 0; r < ranks; ++r) threads.emplace_back(run_rank, r);
  } catch (const std::system_error& e) {
    hub.fail();  // those that have started must not wait for one that never comes
    threads.clear();
    throw Error(std::string("cannot start a thread: ") + e.what() + "; use fewer --threads");
  }
  threads.clear();
  if (first) std::rethrow_exception(first);
  if (peers) std::rethrow_exception(peers);
}

}  // namespace atl
