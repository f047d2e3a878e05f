#pragma once
#include <chrono>
#include <deque>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "comm/batch_plan.hpp"
#include "comm/mailbox.hpp"
#include "comm/transport.hpp"
#include "comm/window_pool.hpp"
#include "core/engine/logical_process.hpp"

namespace atl {

/// What may be done where all ranks have met. Everything before `boundary` is over, every message that was sent has
/// been received, and those that are kept arrive at `boundary` or later.
class Meeting {
 public:
  static constexpr std::uint32_t kRequests = 4;
  virtual ~Meeting() = default;
  /// Of this rank, for a reason that the others need not see: 0, or 1 to kRequests.
  virtual std::uint32_t request() = 0;
  /// Collective; `request` is the lowest of all ranks, or 0. The next one is at `next` or before. False: the run ends here.
  virtual bool meet(Cycle boundary, Cycle next, std::uint32_t request) = 0;
};

/// Conservative time windows over logical processes that are spread over ranks.
///
/// With W the smallest latency of all edges, a process may run [kW, (k+1)W) once it holds what its neighbours sent
/// before kW. Two groups of processes in different ranks that share edges (BatchPlan) swap one batch every
/// floor(smallest shared latency / W) windows, even an empty one (the null message); groups that share none never wait for
/// each other. Every `kSkipWindows` windows all ranks agree on the earliest pending event and jump to its window.
class Synchroniser {
 public:
  static constexpr Cycle kSkipWindows = 32;

  /// Ranks that are threads of one process run each other's processes where they would wait otherwise (WindowPool).
  struct Sharing {
    WindowPool::Adopt adopt;
    LpId fixed = WindowPool::kNobody;
  };

  /// `local`: the processes of this rank, in ascending id. `rank_of[lp]`: where each process lives. `edges`: of all
  /// processes, so that every rank derives the same windows. With `sharing`, collective. Throws InputError for an edge
  /// without latency.
  Synchroniser(Transport& transport, const std::vector<LogicalProcess*>& local, const std::vector<int>& rank_of,
               const std::vector<std::vector<Edge>>& edges, const Sharing* sharing = nullptr);

  /// Runs until no process anywhere has anything to do: true. If a process throws, every rank ends: see
  /// throw_if_any_failed(). A `meeting`, of which every rank has its own, is held every kSkipWindows windows, and when it
  /// says so the run ends there: false.
  bool run(Meeting* meeting = nullptr);

  /// Messages to a process of this rank that it has not been handed yet, by ascending source. Where ranks meet.
  std::vector<Mail> undelivered(LpId to);
  /// Before run(): goes on at `boundary`, where ranks had met after so many windows, and with these messages to a process
  /// of this rank.
  void resume_at(Cycle boundary, std::uint64_t windows);
  void redeliver(LpId to, std::vector<Mail>& mail);

  Cycle window() const { return window_; }
  std::uint64_t windows_run() const { return windows_run_; }
  /// Seconds of run() in which this rank exchanged batches or waited for others; 0 if it is the only one.
  double seconds_waited() const {
    return std::chrono::duration<double>(waited_ + (shared_ ? shared_->waited() : waited_.zero())).count();
  }
  /// How often this rank has run a process that another rank ran before.
  std::uint64_t taken_over() const { return shared_ ? shared_->taken_over() : 0; }

 private:
  static constexpr Cycle kFailed = 0;  ///< no event is that early any more when ranks meet
  struct Local {
    LogicalProcess* process;
    Mailbox box;
  };
  /// Of a group of this rank with one of another.
  struct Pair {
    LpId there;    ///< the other group
    Cycle period;  ///< windows between batches
    std::unique_ptr<Stream> stream;
    std::string send{};
    bool under_way = false;  ///< a batch was sent and the other's is not yet here
  };
  struct Group {
    std::vector<Local*> members;
    std::vector<Pair> pairs;
  };

  void make_groups(const std::vector<int>& rank_of);
  void run_window(Cycle index, Cycle end, bool all, std::exception_ptr& error);
  void deliver(Local& l, Cycle index);
  void collect(Group& g, Local& l, Cycle boundary);
  void send_batches(Group& g, Cycle boundary, bool all);
  void receive_batches(Group& g, Cycle boundary, std::exception_ptr& error);
  Cycle least_of_all(Cycle mine);
  Cycle earliest() const;
  bool busy_soon(Cycle end) const;
  Mailbox& box(LpId to);

  Transport& transport_;
  BatchPlan plan_;
  std::deque<Mailbox::Spare> spare_;  ///< one, or of each process if others may run it
  std::vector<Local> local_;
  std::vector<int> local_index_;             ///< [lp], -1 if elsewhere
  std::vector<Group> groups_;                ///< in the order of running
  std::vector<Outbox::Sent<Message>> sent_;  ///< memory that the process before has used, which the host's caches still hold
  std::vector<Mail> away_;                   ///< [lp] of the process that is being collected, to processes of other ranks
  std::vector<LpId> away_to_;                ///< those that have some
  std::string batch_;
  Mail scratch_;
  Cycle window_ = 1;
  Cycle index_ = 0;  ///< of the next window
  std::uint64_t windows_run_ = 0;
  std::chrono::steady_clock::duration waited_{};
  std::unique_ptr<WindowPool::Thread> shared_;
};

}  // namespace atl
