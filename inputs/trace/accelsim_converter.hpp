#pragma once
#include <cstdint>
#include <vector>

#include "inputs/trace/accelsim_instruction.hpp"
#include "inputs/trace/warp_timeline.hpp"
#include "inputs/workload/workload.hpp"

namespace atl::accelsim {

/// Turns the SASS instructions of one warp after the other into ops, appended to a CtaProgram.
class WarpConverter {
 public:
  void begin_warp() { timeline_.begin(kRegisters); }
  /// `last`: the warp's trace ends here, so an EXIT is the end of the warp and not of some of its lanes.
  void add(const SassInstruction& instruction, bool last);
  /// Adds an exit if the trace ended without one. Appends the ops of the warp to `out`, and says which these are.
  WarpOps end_warp(CtaProgram& out);

 private:
  using Need = WarpTimeline::Need;

  Need needs_of(const SassInstruction& instruction, bool memory) const;
  void compute(const SassInstruction& instruction, const Need& need);
  void global(const SassInstruction& instruction, Action action, const Need& need);
  void local(const SassInstruction& instruction, OpKind kind, const Need& need);
  void bulk(const SassInstruction& instruction, const Need& need);
  void shared(const SassInstruction& instruction, const Need& need);

  WarpTimeline timeline_;
  std::vector<std::uint32_t> results_;
  std::vector<Access> rows_;
};

}  // namespace atl::accelsim
