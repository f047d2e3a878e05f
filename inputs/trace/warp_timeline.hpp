#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "inputs/workload/workload.hpp"

namespace atl {

/// The ops of one warp in the making, from the instructions that it executes. The warp issues in order, as if it had the
/// scheduler to itself. Fixed latencies are resolved here: runs of compute instructions become one op. A register that a
/// load has yet to deliver makes its reader, and its next writer, wait for the load's scoreboard slot (docs/traces.md).
class WarpTimeline {
 public:
  using Registers = std::span<const std::uint32_t>;  ///< numbers

  /// What an instruction must wait for.
  struct Need {
    std::uint32_t wait = 0;   ///< slots
    std::uint64_t ready = 0;  ///< cycle from which fixed-latency operands are there
  };

  void begin(std::size_t registers);
  /// Adds what reading or overwriting these registers must wait for.
  void require(Registers registers, Need& need) const;

  /// An instruction of `issue` slots whose results are there after `latency` cycles. `interval`: of a unit that takes the
  /// warp's next instruction so many cycles later.
  void compute(const Need& need, unsigned issue, unsigned latency, Registers results, unsigned interval = 0);
  /// Begins a memory op or barrier; its results come by slot if `answers`. `results` must stay where they are until the
  /// end of the warp. Accesses are to be appended to `accesses`.
  Op& memory(OpKind kind, Need need, bool answers, Registers results = {});
  /// A load or store of local memory, with `flags` besides its own. Rows beyond the 64 that an op holds (lanes that index
  /// apart) take further ops, the last of which delivers the results.
  void local(OpKind kind, std::uint8_t flags, Need need, std::span<const Access> rows, bool partly, Registers results);
  /// A bulk access, past the L1: its blocks are spread over as many ops as they take. `copies`: loads that only barriers and
  /// require_copies() know of; nobody waits for other loads. `partly`: a store leaves bytes of its sectors untouched.
  void bulk(OpKind kind, bool copies, Need need, std::span<const Access> rows, bool partly);
  /// An instruction that a GPU does not execute: its result is there with its sources. False: these must be waited for.
  bool rename(const Need& need, Registers results);

  /// An asynchronous copy: a load that only what follows, and barriers, know of.
  Op& copy(const Need& need);
  void commit_copies();
  /// Adds the wait for all committed groups but the newest `outstanding`; `all`: for copies of no group as well.
  void require_copies(std::size_t outstanding, bool all, Need& need);
  void end();

  std::vector<Op> ops;
  std::vector<Access> accesses;

 private:
  struct Register {
    std::uint64_t ready = 0;
    std::uint32_t epoch = 0;
    std::uint8_t slot = kNoSlot;
  };

 public:
  /// All that what comes next depends on, besides the last op.
  struct State {
    std::vector<Register> registers;
    std::array<Registers, kScoreboardSlots> delivers{};
    std::uint64_t op_start = 0, last_issue = 0;  ///< cycles of the warp, stalls for loads taken as 0
    std::uint64_t unit_free = 0;                 ///< of the unit with an interval, as of its epoch
    std::uint32_t unit_epoch = 0;
    std::uint64_t last_ready = 0;  ///< the latest of this epoch
    std::uint32_t epoch = 0;       ///< begins when all fixed latencies are over
    std::uint32_t pending = 0;     ///< slots that nobody has waited for yet
    unsigned next_slot = 0;
    std::uint32_t open_group = 0;       ///< slots of copies that no group has taken up
    std::vector<std::uint32_t> groups;  ///< committed ones, oldest first
    /// Outside of this object.
    std::size_t bytes() const { return registers.size() * sizeof(Register) + groups.size() * sizeof groups[0]; }
  };
  const State& state() const { return s_; }
  /// Goes on as the warp did that this is the state of.
  void restore(const State& state) { s_ = state; }
  /// Ends a warp whose state this would be.
  void end(const State& state);

 private:
  Op& start(OpKind kind, const Need& need);
  void release(std::uint32_t slots);

  State s_;
};

}  // namespace atl
