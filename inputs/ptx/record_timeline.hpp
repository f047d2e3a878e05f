#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "inputs/workload/workload.hpp"

namespace atl::ptx {

/// What the recorder must know of an instruction, worked out once per kernel.
struct RecordInfo {
  enum Kind : std::uint8_t {
    compute,
    free,
    load,
    store,
    atomic,
    barrier,
    copy,         ///< cp.async
    copy_commit,  ///< closes a group of copies
    copy_wait,    ///< for all groups but the newest `width`
  };
  Kind kind = compute;
  std::uint8_t flags = 0;     ///< OpFlags
  std::uint16_t issue = 1;    ///< issue slots
  std::uint16_t latency = 4;  ///< cycles until a dependent instruction may issue
  std::uint16_t width = 0;    ///< bytes per lane; copy_wait: groups that stay outstanding
  std::uint32_t first = 0;    ///< in RecordTable::registers: sources, then results
  std::uint16_t sources = 0, results = 0;
};

/// The ops of one warp in the making. The warp issues in order; fixed latencies are resolved here, as docs/traces.md says
/// for SASS traces: runs of compute instructions become one op, what loads deliver is waited for by scoreboard slot.
class WarpTimeline {
 public:
  void begin(std::size_t registers);
  /// `registers`: those of the instruction, sources first. A result is written only if `writes`.
  void compute(const RecordInfo& info, const std::uint32_t* registers, bool writes);
  /// Begins a memory op or barrier; its results come by slot if `answers`. Accesses are to be appended to `accesses`.
  atl::Op& memory(OpKind kind, const RecordInfo& info, const std::uint32_t* registers, bool answers);
  /// An instruction that a GPU does not execute: its result is there with its sources. False: these must be waited for.
  bool rename(const RecordInfo& info, const std::uint32_t* registers);
  /// An asynchronous copy: a load that only commit_copies() and wait_for_copies() know of.
  atl::Op& copy(const RecordInfo& info, const std::uint32_t* registers);
  void commit_copies();
  void wait_for_copies(const RecordInfo& info, const std::uint32_t* registers);
  void end();

  std::vector<atl::Op> ops;
  std::vector<Access> accesses;

 private:
  struct Need {
    std::uint32_t wait = 0;
    std::uint64_t ready = 0;
  };
  Need need_of(const RecordInfo& info, const std::uint32_t* registers) const;
  atl::Op& start(OpKind kind, const Need& need);
  void release(std::uint32_t slots);

  struct Register {
    std::uint64_t ready = 0;
    std::uint8_t slot = kNoSlot;
  };
  struct Slot {
    const std::uint32_t* first = nullptr;  ///< registers that it delivers
    std::uint16_t count = 0;
  };
  std::vector<Register> registers_;
  std::array<Slot, kScoreboardSlots> slots_{};
  std::uint64_t op_start_ = 0, last_issue_ = 0, last_ready_ = 0, over_ = 0;
  void compute(const RecordInfo& info, const std::uint32_t* registers, bool writes, const Need& need);

  std::uint32_t pending_ = 0;
  unsigned next_slot_ = 0;
  std::uint32_t open_group_ = 0;       ///< slots of copies that no group has taken up
  std::vector<std::uint32_t> groups_;  ///< oldest first
};

}  // namespace atl::ptx
