#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "inputs/cuda/runtime/streams.hpp"
#include "inputs/ptx/exec.hpp"

namespace atl::cudart {
struct Runtime;

/// Something that a stream was given.
class StreamTask {
 public:
  using State = ptx::Execution::State;
  StreamTask() = default;
  virtual ~StreamTask() = default;
  StreamTask(const StreamTask&) = delete;
  StreamTask& operator=(const StreamTask&) = delete;
  /// Goes on with it a little.
  virtual State turn(Runtime& r) = 0;
  /// The kernel that it is at, or null.
  virtual ptx::Execution* execution() { return nullptr; }
  /// The program ends while it is under way.
  virtual void fail() {}
};

/// What streams were given and that could not be done at once, because a kernel does nothing but poll: it waits for a kernel
/// in another stream, or for the program. It is set aside, and what its stream gets afterwards lines up behind it. Kernels
/// that are not done take turns, in an order at random that the seed fixes, whenever the program launches another one, asks
/// whether a stream is done, or waits for one. Guarded by the runtime's lock.
class Backlog {
 public:
  explicit Backlog(std::uint64_t seed) : random_(seed) {}

  /// Whether what is called now may be done now, whatever its stream: nothing is set aside, or this call is itself part of
  /// what was.
  bool idle() const { return entries_.empty() || runner_ == std::this_thread::get_id(); }

  /// Does the work now, or when all has been done that its stream (InStream::now()) has got and waits for. Of calls that the
  /// program waits for, waits for that instead. A later failure is said on standard error.
  template <class Work> int in_turn(Runtime& r, Work&& work) {
    return idle() ? work(r) : line_up(r, std::forward<Work>(work));
  }
  /// Gives the stream a task, and goes on with everything.
  void give(Runtime& r, std::unique_ptr<StreamTask> task);
  /// In the current stream, behind what it has got and these tasks. Returns its number; 0: it was done at once.
  std::uint64_t add(Runtime& r, std::function<int(Runtime&)> work, const std::vector<std::uint64_t>& also = {});
  /// A function of the program, which will run without the lock. False: it is to run at once, by the caller.
  bool add_host_function(Runtime& r, std::function<void()> function);

  /// The number of the next task.
  std::uint64_t next() const { return last_ + 1; }
  bool pending(std::uint64_t task) const;
  /// What must be done before something that this stream gets now.
  std::vector<std::uint64_t> before(const Runtime& r, InStream::Place place) const;
  std::vector<std::uint64_t> of_device(unsigned device) const;
  std::vector<std::uint64_t> all() const;

  /// Whether these tasks are done, after everything has gone on as far as it can.
  bool done(Runtime& r, const std::vector<std::uint64_t>& tasks);
  /// The program waits for these tasks. If nothing goes on but polling, and no other thread of the program could change it,
  /// throws ExecutionError with the kernel, line and blocks that wait.
  void finish(Runtime& r, const std::vector<std::uint64_t>& tasks);
  /// The program ends: goes on a last time, and says what still waits.
  void end(Runtime& r);

 private:
  struct Entry {
    std::uint64_t number = 0;
    InStream::Place place;
    std::thread::id thread;       // that gave it
    unsigned current_device = 0;  // of this thread then
    std::vector<std::uint64_t> after;
    std::unique_ptr<StreamTask> task;
  };
  int line_up(Runtime& r, std::function<int(Runtime&)> work);
  Entry& enter(Runtime& r, std::unique_ptr<StreamTask> task, const std::vector<std::uint64_t>& also);
  bool any_pending(const std::vector<std::uint64_t>& tasks) const;
  std::vector<Entry*> ready();
  StreamTask::State turn(Runtime& r, Entry& entry);
  bool go_on(Runtime& r, bool until_stuck);
  bool others_may_help(Runtime& r, std::uint64_t& calls) const;
  [[noreturn]] void raise() const;

  std::list<Entry> entries_;  // in the order of their numbers
  std::uint64_t last_ = 0, random_;
  std::thread::id runner_;           // that goes on with them; none: nobody
  std::uint64_t asked_in_vain_ = 0;  // whether something is done, and nothing had changed
  std::chrono::steady_clock::time_point asking_since_{};
};

}  // namespace atl::cudart
