#pragma once
#include <chrono>
#include <cstdint>
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
#include "inputs/cuda/runtime/trace_sink.hpp"
#include "inputs/ptx/exec.hpp"
#include "inputs/ptx/global_races.hpp"
#include "inputs/ptx/out_of_bounds.hpp"
#include "inputs/trace/trace_format.hpp"

namespace atl::cudart {

/// The trace of this process: which launches go into it, and how it ends. All may be called from any thread.
class Recording {
 public:
  Recording();
  ~Recording();

  void note_allocation(const cuda::Allocation& block, const std::string& name);
  /// A launch of `ctas` blocks begins: decides whether it is recorded. Then come check() and run().
  void next_launch(const std::string& kernel, std::uint64_t ctas);
  /// What is to watch this launch; null: nothing.
  ptx::AccessCheck* check();
  /// That kernels may be executed on.
  unsigned threads() const { return threads_; }
  /// Whether CTAs that can learn of each other take short turns.
  bool interleaves() const { return options_ && !options_->long_turns; }
  /// Of the order in which they do.
  std::uint64_t schedule_seed() const { return options_ ? options_->schedule_seed.value_or(0) : 0; }
  /// Executes the kernel; the trace hears of it if this launch is to be recorded.
  void run(ptx::LaunchSpec spec, ptx::Device& device, LaunchPlace place);
  /// A copy between devices, which has been made: a launch of the trace.
  void copy(const cuda::CopyKernel& kernel, LaunchPlace place);
  /// Completes the trace with the kernels that are finished, and says what is in it. Later launches are not recorded.
  /// `why`: what cut the recording short, if anything. Throws IoError. Only the first call does something.
  void finish(const std::string& why = {});
  /// Gives the trace up, when it cannot be written; nothing is left of it.
  void abandon();
  /// In a child made by fork: the trace is the parent's.
  void disown();

 private:
  bool claim();
  TraceSink* sink_of_launch(LaunchPlace place);
  void stop_if_enough();
  std::uint64_t recorded();
  void progress(const std::string& kernel);
  void clear_progress();
  void warn() const;

  std::mutex mutex_;  // of the trace; the thread that finishes after a signal is another than the one that executes
  std::optional<cuda::RecordOptions> options_;
  cuda::LaunchSelection selection_;
  bool wanted_ = false;                 // the launch that next_launch() announced
  std::vector<TraceAllocation> early_;  // made before the trace was opened
  std::unique_ptr<TraceSink> trace_;
  Checking checking_;
  ptx::GlobalRaces races_;    // of the recorded launches
  ptx::OutOfBounds outside_;  // of all, where they are tolerated
  std::uint64_t launches_ = 0;
  unsigned threads_ = 1;
  ptx::LaunchStats executed_;
  bool closed_ = false, progress_shown_ = false;
  double seconds_ = 0;  // of executing and recording
  std::chrono::steady_clock::time_point shown_{};
};

}  // namespace atl::cudart
