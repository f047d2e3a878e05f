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
  TraceWriter(const std::string& path, const TraceProvenance& provenance);
  ~TraceWriter();
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  void add_allocation(const TraceAllocation& allocation);
  /// Ends the previous kernel, which must have got all its CTAs.
  void begin_kernel(const KernelInfo& info);
  /// Throws InputError for an op that the format or the simulator cannot represent.
  void add_cta(const CtaProgram& cta);
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace atl
