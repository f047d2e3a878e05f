#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "inputs/ptx/op_memo.hpp"
#include "inputs/ptx/record_sink.hpp"
#include "inputs/ptx/record_table.hpp"
#include "inputs/trace/cta_columns.hpp"
#include "inputs/trace/warp_timeline.hpp"
#include "inputs/workload/workload.hpp"

namespace atl::ptx {

/// Turns the events of one CTA into its ops. Buffers keep their capacity when the object is reused.
class CtaRecorder {
 public:
  /// `table` and `memo` are those of the kernel, and outlive the recording of the CTA.
  void begin(const RecordTable& table, OpMemo& memo, std::uint32_t warps);
  void events(std::uint32_t warp, std::span<const WarpEvent> events, std::span<const std::uint64_t> addresses);
  /// Ends all warps, which are as they are until the next begin().
  std::span<const WarpView> finish();
  /// Of what finish() returned.
  void make_program();
  /// What make_program() made since begin(), if anything.
  const CtaProgram& program() const { return program_; }
  std::uint64_t ops() const { return ops_; }
  /// Before finish(), which may add some.
  std::uint64_t ops_so_far() const { return made_; }
  std::uint64_t accesses() const { return accesses_; }
  std::uint64_t warp_instructions() const { return warp_instructions_; }

 private:
  void go_on(std::uint32_t warp, std::span<const WarpEvent> events, std::span<const std::uint64_t> addresses);
  void execute(WarpTimeline& warp, std::span<const WarpEvent> events, std::span<const std::uint64_t> addresses);
  bool replay(WarpTimeline& warp, const OpMemo::Step& step, std::span<const WarpEvent> events,
              std::span<const std::uint64_t> addresses);
  bool replay_rows(WarpTimeline& warp, const OpMemo::Step& step, std::span<const WarpEvent> events,
                   std::span<const std::uint64_t> addresses);
  void memory(WarpTimeline& warp, const RecordInfo& info, const WarpEvent& event, const std::uint64_t* address);
  void bulk(WarpTimeline& warp, const RecordInfo& info, const std::uint64_t* address, unsigned lanes);
  void coalesced(WarpTimeline& warp, atl::Op& op, const std::uint64_t* address, unsigned lanes, unsigned width);
  void coalesced(WarpTimeline& warp, atl::Op& op, const RecordInfo& info, const WarpEvent& event,
                 const std::uint64_t* address);
  WarpTimeline::Registers results_of(const RecordInfo& info) const;
  WarpTimeline::Need need_of(const WarpTimeline& warp, const RecordInfo& info) const;

  const RecordTable* table_ = nullptr;
  OpMemo* memo_ = nullptr;
  std::uint64_t warp_instructions_ = 0;
  std::vector<WarpTimeline> warps_;
  std::vector<const OpMemo::Step*> steps_;  ///< of the warps: where each stands; null: it went ways of its own
  std::vector<OpMemo::Item> items_;         ///< of a batch
  bool fits_memo_ = true;                   ///< the batch
  /// Of an instruction: each lane touches two blocks at most, or a warp's tile 32 rows of 64 bytes, in pieces that many
  /// lanes may have.
  std::array<Access, 64> found_;
  std::array<std::uint64_t, exec::kLanes> some_;  // addresses of those lanes that have one
  std::vector<Access> rows_;
  std::vector<std::uint64_t> offsets_;
  std::vector<WarpView> views_;
  std::uint64_t made_ = 0;                ///< ops, of all warps
  std::uint64_t ops_ = 0, accesses_ = 0;  ///< of the finished warps
  CtaProgram program_;
};

}  // namespace atl::ptx
