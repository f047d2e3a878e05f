#pragma once
#include "inputs/ptx/record.hpp"
#include "inputs/trace/trace_writer.hpp"

namespace atl::cudart {

/// Between recorder and trace: knows whether a kernel is finished, so that one that fails or is interrupted leaves
/// nothing in the trace.
class KernelOutput final : public ptx::RecordOutput {
 public:
  explicit KernelOutput(TraceWriter& writer) : writer_(writer) {}
  void begin_kernel(const KernelInfo& info) override;
  void add_cta(const CtaProgram& cta) override;
  void end_kernel();
  /// The kernel, if one is open, will not be finished.
  void abandon();

 private:
  TraceWriter& writer_;
  bool open_ = false;
};

}  // namespace atl::cudart
