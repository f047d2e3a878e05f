#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "inputs/ptx/record_sink.hpp"
#include "inputs/ptx/record_table.hpp"
#include "inputs/trace/warp_timeline.hpp"
#include "inputs/workload/workload.hpp"

namespace atl::ptx {

/// Turns the events of one CTA into its ops. Buffers keep their capacity when the object is reused.
class CtaRecorder {
 public:
  /// `table` is that of the kernel, and outlives the recording of the CTA.
  void begin(const RecordTable& table, std::uint32_t warps);
  void events(std::uint32_t warp, std::span<const WarpEvent> events, std::span<const std::uint64_t> addresses);
  /// Ends all warps.
  const CtaProgram& finish();
  const CtaProgram& program() const { return program_; }
  std::uint64_t warp_instructions() const { return warp_instructions_; }

 private:
  void memory(WarpTimeline& warp, const RecordInfo& info, const WarpEvent& event, const std::uint64_t* address);
  void bulk(WarpTimeline& warp, const RecordInfo& info, const std::uint64_t* address, unsigned lanes);
  void coalesced(WarpTimeline& warp, atl::Op& op, const std::uint64_t* address, unsigned lanes, unsigned width);
  void global(WarpTimeline& warp, OpKind kind, const RecordInfo& info, const std::uint64_t* address, unsigned lanes,
              unsigned width);
  WarpTimeline::Registers results_of(const RecordInfo& info) const;
  WarpTimeline::Need need_of(const WarpTimeline& warp, const RecordInfo& info) const;

  const RecordTable* table_ = nullptr;
  std::uint64_t warp_instructions_ = 0;
  std::vector<WarpTimeline> warps_;
  std::vector<Access> rows_;
  std::vector<std::uint64_t> offsets_;
  CtaProgram program_;
};

}  // namespace atl::ptx
