#pragma once
#include <atomic>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "comm/mailbox.hpp"
#include "comm/patience.hpp"
#include "core/engine/logical_process.hpp"

namespace atl {

/// The logical processes of threads that share them: each thread runs one of them for one window, then another.
///
/// A process may run a window once those that send to it have come far enough (synchroniser.hpp). A thread takes, of those
/// that it ran last itself, the one that is furthest behind; if none may run, it takes one whose own thread is busy with
/// another just then. So work that is uneven within windows evens out, and a process stays where a processor's caches hold
/// it unless that thread has too much to do. Who runs what depends on the host's clock; what a process is handed in a window
/// does not, and so neither does any result.
class WindowPool {
 public:
  /// A thread is about to run a process that another one ran before.
  using Adopt = std::function<void(LogicalProcess&)>;
  /// `edges`: of all processes. `fixed`: is run by the thread that adds it only, or kNobody.
  WindowPool(const std::vector<std::vector<Edge>>& edges, Cycle window, int threads, LpId fixed);
  static constexpr LpId kNobody = ~LpId{0};

  /// One of the threads, and what it uses while it runs processes.
  class Thread;

 private:
  /// What one thread has sent to a process, for whoever runs that one next.
  struct Parcel {
    LpId source;
    Cycle boundary;               ///< of the window in which it was sent
    std::uint32_t data, control;  ///< so many of each
  };
  struct Post {
    std::vector<Parcel> parcels;
    std::vector<Message> data;
    std::vector<ControlMessage> control;
    void clear() { parcels.clear(), data.clear(), control.clear(); }
  };
  struct Source {
    LpId from;
    Cycle windows;  ///< what it sends in window k arrives in window k + `windows` or later
  };
  struct Lane {
    LogicalProcess* process = nullptr;
    Mailbox* box = nullptr;
    std::vector<Source> sources;
    std::vector<LpId> receivers;
    std::mutex mutex;  ///< of `post`
    Post post;
    Post reading;     ///< of whoever runs the process
    int adopted = 0;  ///< thread that adopted it last, at first the one that added it
  };
  /// What threads that look for work read of all processes; apart from the rest, so that it takes few cache lines.
  struct State {
    std::atomic<Cycle> next{0};          ///< window
    std::atomic<std::uint32_t> turn{0};  ///< of the thread that ran it last: its windows until then
    std::atomic<std::int16_t> last{0};   ///< thread
    std::atomic<bool> taken{false};
  };

  struct Running;

  /// A thread, if it sleeps.
  struct Sleeper {
    std::atomic<bool> asleep{false};
    std::atomic<std::uint32_t> calls{0};
  };

  bool may_run(const Lane& lane, Cycle index) const;
  bool all_at(Cycle stop) const;
  void tell_polling();
  void wake_for(LpId lp, Cycle stop);
  void wake_others(int thread, Cycle stop);
  void wake(Sleeper& sleeper);
  void release(LpId lp, Cycle stop);
  void fail();
  static void deliver(Lane& lane);

  Cycle window_;
  LpId fixed_;
  bool enough_processors_;
  std::deque<Lane> lanes_;               ///< [lp]
  std::vector<State> states_;            ///< [lp]
  std::vector<std::atomic<bool>> busy_;  ///< [thread]
  std::vector<Sleeper> sleepers_;        ///< [thread]
  std::atomic<bool> failed_{false};
  std::atomic<int> polling_{0}, sleeping_{0};  ///< threads
  std::atomic<std::uint32_t> changes_{0};      ///< of anything that those who poll may be waiting for
};

class WindowPool::Thread {
 public:
  /// `number`: from 0. It keeps a pool that others are still using.
  Thread(std::shared_ptr<WindowPool> pool, int number, Adopt adopt);
  ~Thread();
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  /// Before the first run(): a process of this thread. `box` is read by whoever runs the process.
  void add(LogicalProcess& process, Mailbox& box);
  /// Runs windows [first, stop) of all processes together with the other threads, which call this as well and with the same
  /// windows. Then all that was sent is in the boxes, and this thread has adopted its own processes: true. False: a thread
  /// has failed, others may still run processes of this one, and `error` has the first exception of one that it ran.
  bool run(Cycle first, Cycle stop, std::exception_ptr& error);
  std::chrono::steady_clock::duration waited() const { return waited_; }
  /// How often it has run a process that another thread ran before.
  std::uint64_t taken_over() const { return taken_over_; }

 private:
  int choose(Cycle stop);
  bool look(Cycle stop, int& found);
  int wait_for_work(Cycle stop);
  void run_window(LpId lp);
  void adopt(Lane& lane);
  void send(LpId from, Outbox& sent, Cycle boundary);

  std::shared_ptr<WindowPool> pool_;
  int number_;
  Adopt adopt_;
  std::vector<LpId> own_;
  std::vector<Outbox::Sent<Message>> spare_;  ///< memory that this thread has used, which the host's caches still hold
  std::vector<Mail> to_;                      ///< [lp] what the process that has just run sends
  std::vector<LpId> receivers_;               ///< those that are sent something
  std::uint32_t turns_ = 0;
  std::uint64_t taken_over_ = 0;
  Patience patience_;
  std::chrono::steady_clock::duration waited_{};
};

}  // namespace atl
