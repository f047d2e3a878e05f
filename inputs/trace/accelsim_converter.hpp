#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "inputs/trace/accelsim_instruction.hpp"
#include "inputs/workload/workload.hpp"

namespace atl::accelsim {

/// Turns the SASS instructions of one warp after the other into ops, appended to a CtaProgram.
///
/// The warp issues in order. A register that a load has yet to deliver makes its reader (and its next writer) wait for
/// the load's scoreboard slot. Fixed latencies are resolved here: consecutive compute instructions become one op whose
/// latency is that of an in-order issue of the run alone, as if every warp had the scheduler to itself.
class WarpConverter {
 public:
  /// Generic addresses in [shared_base, shared_base + 16 MiB) are shared memory; 0: no such window.
  explicit WarpConverter(std::uint64_t shared_base) : shared_base_(shared_base) {}

  void begin_warp(CtaProgram& out);
  /// `last`: the warp's trace ends here, so an EXIT is the end of the warp and not of some of its lanes.
  void add(const SassInstruction& instruction, bool last);
  /// Adds an exit if the trace ended without one. Returns the ops of the warp.
  WarpOps end_warp();

 private:
  struct Need {
    std::uint32_t wait = 0;   ///< slots to wait for
    std::uint64_t ready = 0;  ///< cycle from which fixed-latency operands are there
  };
  struct Slot {
    std::uint16_t first = 0, count = 0;  ///< registers that it delivers
  };

  bool in_shared(std::uint64_t address) const;
  void require(std::uint16_t first, unsigned count, Need& need) const;
  Need needs_of(const SassInstruction& instruction, bool memory) const;
  void release(std::uint32_t slots);
  unsigned take_slot(Need& need);
  void deliver(unsigned slot, std::uint16_t first, unsigned count);
  std::uint32_t take_groups(std::uint64_t outstanding);

  Op& start(OpKind kind, const Need& need);
  void compute(const SassInstruction& instruction, Need need);
  void global(const SassInstruction& instruction, Action action, Need need);
  void shared(const SassInstruction& instruction, Need need);

  std::uint64_t shared_base_;
  CtaProgram* out_ = nullptr;
  std::uint32_t first_op_ = 0;
  std::uint64_t op_start_ = 0, last_issue_ = 0;  // cycles of the warp, stalls for loads taken as 0
  std::uint64_t last_ready_ = 0;                 // the latest of ready_
  std::array<std::uint64_t, kRegisters> ready_{};
  std::array<std::uint8_t, kRegisters> slot_of_{};
  std::array<Slot, kScoreboardSlots> slots_{};
  std::uint32_t pending_ = 0;  // slots that nobody has waited for yet
  unsigned next_slot_ = 0;
  std::uint32_t open_group_ = 0;       // asynchronous copies since the last LDGDEPBAR
  std::vector<std::uint32_t> groups_;  // committed groups, oldest first
};

}  // namespace atl::accelsim
