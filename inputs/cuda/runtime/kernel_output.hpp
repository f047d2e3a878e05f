#pragma once
#include <cstdint>

#include "inputs/ptx/record.hpp"
#include "inputs/trace/cta_block.hpp"
#include "inputs/trace/trace_writer.hpp"

namespace atl::cudart {

/// Between recorder and trace: keeps a kernel until it is finished, so that one that fails or is interrupted leaves
/// nothing in the trace. A kernel that is too large to keep goes into the trace while it runs.
class KernelOutput final : public ptx::RecordOutput {
 public:
  explicit KernelOutput(TraceWriter& writer) : writer_(writer) {}
  void begin_kernel(const KernelInfo& info) override;
  void add_cta(const CtaProgram& cta) override;
  void end_kernel();
  /// The kernel will not be finished. What of it is in the trace already is filled up with CTAs that do nothing, since
  /// the trace cannot take a kernel back. Returns whether that was necessary.
  bool abandon();

 private:
  static constexpr std::size_t kMostHeld = std::size_t{32} << 20;  ///< bytes; vectors grow to twice that
  void write_held();

  TraceWriter& writer_;
  KernelInfo info_;
  CtaBlock held_;
  CtaProgram cta_;
  std::uint64_t written_ = 0;  ///< CTAs
  bool open_ = false, streaming_ = false;
};

}  // namespace atl::cudart
