#pragma once
#include <cstdint>
#include <memory>
#include <mutex>

#include "inputs/cuda/record_options.hpp"
#include "inputs/ptx/record_sink.hpp"
#include "inputs/trace/trace_format.hpp"

namespace atl::cudart {

/// Of the kernels that are finished.
struct TraceCounts {
  std::uint64_t kernels = 0, ops = 0, accesses = 0;
};

/// Stands between the executing thread and the trace, so that another thread may complete the trace at any moment. After
/// that it hears no more.
class TraceSink : public ptx::RecordSink {
 public:
  /// `mutex` guards the trace; whoever calls what is not of RecordSink holds it. Throws IoError.
  TraceSink(const cuda::RecordOptions& options, std::mutex& mutex);
  ~TraceSink() override;

  void add_allocation(const TraceAllocation& allocation);
  /// The kernel that began last will not end: it failed.
  void abandon_kernel();
  /// Completes the trace; a kernel in the middle of its execution is left out. Throws IoError.
  void finish();
  const TraceCounts& counts() const { return counts_; }

  void begin_kernel(const ptx::LaunchSpec& spec, const ptx::exec::Image& image, const ptx::Device& device) override;
  bool wants(std::uint64_t cta) override;
  void events(std::uint64_t cta, std::uint32_t warp, std::span<const ptx::WarpEvent> events,
              std::span<const std::uint64_t> addresses) override;
  void end_cta(std::uint64_t cta) override;
  void end_kernel() override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::mutex& mutex_;
  TraceCounts counts_;
  bool open_ = true;
};

}  // namespace atl::cudart
