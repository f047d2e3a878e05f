#pragma once
#include <cstdint>
#include <mutex>

#include "inputs/cuda/copy_kernel.hpp"
#include "inputs/cuda/record_options.hpp"
#include "inputs/cuda/runtime/held_kernel.hpp"
#include "inputs/ptx/record.hpp"
#include "inputs/trace/trace_writer.hpp"

namespace atl::cudart {

/// Of the kernels that are finished.
struct TraceCounts {
  std::uint64_t kernels = 0, samples = 0, ops = 0, accesses = 0;
};

/// The CTAs of a copy that recordings take which begin with `first_cta`, and take `max_ctas` at most.
void write_copy(ptx::RecordOutput& to, const cuda::CopyKernel& kernel, std::uint64_t first_cta, std::uint64_t max_ctas);

/// Stands between the recorder and the trace, so that another thread may complete the trace at any moment. After that it
/// hears no more, and a kernel in the middle of its execution is left out.
class TraceSink final : private ptx::RecordOutput {
 public:
  /// `threads`: that may compress. `mutex` guards the trace; whoever calls what follows, but the recorder, holds it. Throws
  /// IoError.
  TraceSink(const cuda::RecordOptions& options, unsigned threads, std::mutex& mutex);

  ptx::RecordSink& recorder() { return recorder_; }
  void add_allocation(const TraceAllocation& allocation);
  /// Of the kernel that begins next.
  void place_next(LaunchPlace place) { place_ = place; }
  /// A copy between devices, or its CTAs that recordings of samples take. Called without `mutex`.
  void add_copy(const cuda::CopyKernel& kernel, std::uint64_t max_ctas);
  /// A kernel that has ended while one before it had not.
  void add_held(const HeldKernel& kernel);
  /// The kernel that began last will not end: it failed.
  void abandon_kernel();
  /// Completes the trace. `lacks`: what the program launched and is not in it; empty: nothing that is known of. Throws
  /// IoError.
  void finish(const std::string& lacks);
  /// Instead, leaves no file: what is recorded at the moment goes nowhere.
  void discard();
  const TraceCounts& counts() const { return counts_; }

 private:
  void begin_kernel(const KernelInfo& info) override;
  bool encode(std::span<const WarpView> warps, CtaColumns& out) override {
    writer_.encode(warps, out);
    return true;
  }
  void add_cta(const CtaProgram& cta, const CtaColumns& columns) override;
  void help() override { writer_.help(); }
  void end_kernel(std::uint64_t ctas) override;
  // With `mutex`.
  void begin(const KernelInfo& info);
  void add(const CtaColumns& columns);
  void end(std::uint64_t ctas);

  std::mutex& mutex_;
  TraceWriter writer_;
  ptx::Recorder recorder_;
  std::uint64_t first_cta_;
  LaunchPlace place_;
  TraceCounts counts_;
  std::uint64_t launched_ = 0, ops_ = 0, accesses_ = 0;  // of the kernel that is executed
  bool open_ = true;
};

}  // namespace atl::cudart
