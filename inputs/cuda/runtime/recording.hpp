#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "inputs/cuda/arena.hpp"
#include "inputs/cuda/copy_kernel.hpp"
#include "inputs/cuda/launch_selection.hpp"
#include "inputs/cuda/record_options.hpp"
#include "inputs/cuda/runtime/checking.hpp"
#include "inputs/cuda/runtime/held_kernel.hpp"
#include "inputs/cuda/runtime/trace_sink.hpp"
#include "inputs/ptx/exec.hpp"
#include "inputs/ptx/global_races.hpp"
#include "inputs/ptx/out_of_bounds.hpp"
#include "inputs/trace/trace_format.hpp"

namespace atl::cudart {

class Recording;

/// A launch between its begin and its end, of several that may be at the same time.
class RecordedLaunch {
 public:
  /// Of one that has not ended, the trace gets nothing.
  ~RecordedLaunch();
  RecordedLaunch(const RecordedLaunch&) = delete;
  RecordedLaunch& operator=(const RecordedLaunch&) = delete;
  ptx::Execution::State turn();
  /// It is not gone on with: says what was found in it so far. turn() does so where it throws an ExecutionError.
  void fail();
  ptx::Execution& execution() { return *execution_; }

 private:
  friend class Recording;
  explicit RecordedLaunch(Recording& recording) : recording_(recording) {}

  Recording& recording_;
  std::shared_ptr<HeldKernel> held_;  // null: the trace hears of it at once, if it is recorded
  bool recorded_ = false, alone_ = false;
  // Books of its own, where another launch has those of the recording.
  std::unique_ptr<ptx::AccessCheck> own_check_;
  std::unique_ptr<ptx::GlobalRaces> own_races_;
  std::unique_ptr<ptx::Execution> execution_;
};

/// The trace of this process: which launches go into it, and how it ends. All may be called from any thread.
class Recording {
 public:
  Recording();
  ~Recording();

  void note_allocation(const cuda::Allocation& block, const std::string& name);
  /// That kernels may be executed on.
  unsigned threads() const { return threads_; }
  /// Whether CTAs that can learn of each other take short turns.
  bool interleaves() const { return options_ && !options_->long_turns; }
  /// Of the order in which they do.
  std::uint64_t schedule_seed() const { return options_ ? options_->schedule_seed.value_or(0) : 0; }
  /// A launch begins; the trace hears of it if it is to be recorded, after all that began before it. `claims`: what it must
  /// not write.
  std::unique_ptr<RecordedLaunch> begin(ptx::LaunchSpec spec, std::vector<ptx::ReadOnlyClaim> claims, ptx::Device& device,
                                        LaunchPlace place);
  /// A copy between devices, which has been made: a launch of the trace.
  void copy(const cuda::CopyKernel& kernel, LaunchPlace place);
  /// PTX under the name that messages have for it, before it is parsed: for the user, if asked for.
  void keep_ptx(const std::string& name, const std::string& text) const;
  /// A launch of this kernel was refused, which the program may not look at. `why`: a limit and what was beyond it.
  void note_refused(const std::string& kernel, const std::string& why);
  /// The launches of this library, whose CUDA runtime could not be redirected, are lost.
  void note_lost(const std::string& library);
  /// The program ends: says what it launched if there is no trace.
  void say_unrecorded();
  /// Completes the trace with the kernels that are finished, and says what is in it. Later launches are not recorded.
  /// `why`: what ended the program before it was done, if anything. Throws IoError. Only the first call does something.
  void finish(const std::string& why = {});
  /// Gives the trace up, when it cannot be written; nothing is left of it.
  void abandon();
  /// In a child made by fork: the trace is the parent's.
  void disown();

 private:
  friend class RecordedLaunch;
  bool claim();
  /// A launch of `ctas` blocks: whether it is recorded.
  bool wants(const std::string& kernel, std::uint64_t ctas);
  std::shared_ptr<HeldKernel> hold(LaunchPlace place);
  ptx::Execution::State turn(RecordedLaunch& launch);
  void tell(RecordedLaunch& launch);
  void fail(RecordedLaunch& launch);
  void end(RecordedLaunch& launch);
  void leave(RecordedLaunch& launch);
  void write_held();
  bool stop_if_enough();
  void complete(const std::string& why, std::string lacks);
  std::uint64_t recorded();
  void progress(const std::string& kernel);
  void clear_progress();
  void warn() const;
  void warn_of_refused() const;
  void leave_out(const std::string& kernel);
  void expect_no_trace();

  std::mutex mutex_;  // of the trace; the thread that finishes after a signal is another than the one that executes
  std::optional<cuda::RecordOptions> options_;
  cuda::LaunchSelection selection_;
  std::vector<TraceAllocation> early_;  // made before the trace was opened
  std::unique_ptr<TraceSink> trace_;
  bool streaming_ = false;                        // a kernel that has not ended goes right into the trace
  std::deque<std::shared_ptr<HeldKernel>> held_;  // those that began after it
  bool races_taken_ = false;                      // by a launch that has not ended
  Checking checking_;
  ptx::GlobalRaces races_;    // of the recorded launches
  ptx::OutOfBounds outside_;  // of all, where they are tolerated
  std::uint64_t launches_ = 0, refused_ = 0;
  std::string first_refused_;          // and why
  std::vector<std::string> lost_;      // libraries
  std::vector<std::string> left_out_;  // kernels, as long as nothing is recorded
  bool more_left_out_ = false;         // than are named
  bool at_exit_ = false;               // say_unrecorded() will be called
  unsigned threads_ = 1;
  ptx::LaunchStats executed_;
  bool closed_ = false, progress_shown_ = false;
  double seconds_ = 0;  // of executing and recording
  std::chrono::steady_clock::time_point shown_{};
};

}  // namespace atl::cudart
