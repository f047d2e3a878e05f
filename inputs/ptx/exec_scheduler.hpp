#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "inputs/ptx/exec_cta.hpp"

namespace atl::ptx::exec {

/// Notices that all that goes on in a launch is polling.
class PollWatch {
 public:
  /// After each round; `ended`: some CTA has ended in it. `epoch`: rounds without any change after which it is looked.
  void round(const std::deque<std::unique_ptr<Cta>>& live, bool ended, std::uint64_t epoch);

  /// What others have done since may have changed what is polled.
  void begin_anew() { moves(), anew_ = true; }
  /// Of those that waited it is soon seen whether they still do.
  void look_again() { known_ |= waits_, idle_ = 0, polls_ = waits_ = stuck_ = proved_ = circles_ = false, anew_ = true; }

  bool changed() const { return changed_; }    ///< in the last round
  bool by_value() const { return by_value_; }  ///< as Launch::by_value
  bool circles() const { return circles_; }    ///< stuck, over barriers and stores that change nothing for others
  bool only_polls() const { return polls_; }   ///< perhaps the first of many polls, perhaps of a loop that does something
  bool waits() const { return waits_; }        ///< only polling goes on, perhaps until a time has come
  bool stuck() const { return stuck_; }        ///< only polling, and no time that could come
  bool proved() const { return proved_; }      ///< stuck, and each poll is the same as the one before
  /// Cycles that pass after the last round, so that a wait for a clock ends: the more, the longer nothing else goes on.
  std::uint64_t passes() const { return passes_; }

 private:
  void moves() { idle_ = 0, known_ = polls_ = waits_ = stuck_ = proved_ = circles_ = false; }
  void look(const std::deque<std::unique_ptr<Cta>>& live, std::uint64_t epoch);
  void look_for_circles(const std::deque<std::unique_ptr<Cta>>& live, bool stirred);

  std::uint64_t idle_ = 0;    // rounds
  std::uint64_t busy_ = 0;    // rounds with changes
  std::uint64_t passes_ = 0;  // cycles
  std::uint64_t before_ = 0;  // instructions that the live CTAs had executed when nothing had changed for the first time
  bool known_ = false, changed_ = false, polls_ = false, timed_ = false, waits_ = false, stuck_ = false, proved_ = false;
  bool by_value_ = false, circles_ = false;
  bool anew_ = false;  // something outside has changed: no CTA has come back to where it was
};

/// Runs the CTAs of a launch on one thread, in long turns or in short ones, and counts what they executed.
class Scheduler {
 public:
  /// `launch` stays where it is as long as this lives.
  explicit Scheduler(Launch& launch);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// A turn of everything that is resident. False: all CTAs have ended.
  bool round();

  PollWatch& watch() { return watch_; }
  const LaunchStats& stats() const { return stats_; }  ///< of CTAs that have ended
  LaunchStats stats_so_far() const;
  /// Throws an ExecutionError that names those CTAs that wait.
  [[noreturn]] void raise() const;

 private:
  void long_round();
  void interleaved_round();
  std::size_t resident() const;
  bool may_add() const;
  bool add_awaited();
  void add_to_circles();
  void add();
  void add(std::uint64_t number, const std::shared_ptr<Cluster>& cluster);
  void finish(std::unique_ptr<Cta> cta);

  Launch& launch_;
  std::uint64_t next_ = 0, total_ = 0, each_ = 1;  // CTAs; in a cluster
  std::deque<std::unique_ptr<Cta>> live_;
  PollWatch watch_;
  std::uint64_t random_ = 0;                 // of the order of turns
  std::uint64_t unmoved_ = 0;                // rounds
  std::vector<std::unique_ptr<Cta>> spare_;  // that have ended; their buffers are used again
  LaunchStats stats_;
};

}  // namespace atl::ptx::exec
