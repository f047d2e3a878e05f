#pragma once
#include <memory>
#include <string>

#include "inputs/trace/trace_format.hpp"
#include "inputs/workload/workload.hpp"

namespace atl {

/// Writes an Atoll trace: kernels in launch order, each CTA by CTA in order of the flattened id. The file is built as
/// `<path>.part` and gets its name in finish(); without finish() nothing is left behind.
class TraceWriter {
 public:
  /// `compression`: deflate 1 to 9, or 0 for none.
  TraceWriter(const std::string& path, const TraceProvenance& provenance, unsigned compression = trace_format::kCompression);
  ~TraceWriter();
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  void add_allocation(const TraceAllocation& allocation);
  /// Ends the previous kernel, which must have got all its CTAs or be abandoned.
  void begin_kernel(const KernelInfo& info);
  /// Throws InputError for an op that the format or the simulator cannot represent.
  void add_cta(const CtaProgram& cta);
  /// Takes the kernel that was begun last back, also a whole one or one that add_cta() refused a CTA of. Does nothing
  /// if there is none, or it was taken back already.
  void abandon_kernel();
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace atl
