#include "inputs/ptx/record_cta.hpp"

#include <algorithm>
#include <bit>

#include "inputs/trace/coalesce.hpp"

namespace atl::ptx {
namespace {

/// Each lane touches two blocks at most, or a warp's tile 32 rows of 64 bytes, in pieces that many lanes may have.
constexpr unsigned kMostAccesses = 64;

bool in_shared(std::uint64_t address) { return (address & exec::kWindowMask) == exec::kSharedWindow; }
bool in_local(std::uint64_t address) { return (address & exec::kWindowMask) == exec::kLocalWindow; }

}  // namespace

void CtaRecorder::begin(const RecordTable& table, std::uint32_t warps) {
  table_ = &table;
  warp_instructions_ = 0;
  warps_.resize(warps);
  for (WarpTimeline& w : warps_) w.begin(table.register_count);
}

WarpTimeline::Registers CtaRecorder::results_of(const RecordInfo& info) const {
  return {table_->registers.data() + info.first + info.sources, info.results};
}

WarpTimeline::Need CtaRecorder::need_of(const WarpTimeline& warp, const RecordInfo& info) const {
  WarpTimeline::Need need;
  warp.require({table_->registers.data() + info.first, std::size_t{info.sources} + info.results}, need);
  return need;
}

void CtaRecorder::events(std::uint32_t warp, std::span<const WarpEvent> events, std::span<const std::uint64_t> addresses) {
  WarpTimeline& timeline = warps_[warp];
  warp_instructions_ += events.size();
  const std::uint64_t* address = addresses.data();
  for (const WarpEvent& event : events) {
    const RecordInfo& info = table_->infos[event.id];
    const bool executed = event.mask != 0;
    if (executed && info.accesses()) {
      memory(timeline, info, event, address);
      address += std::popcount(event.mask) * info.pieces;
      continue;
    }
    WarpTimeline::Need need = need_of(timeline, info);
    WarpTimeline::Registers results;
    if (info.kind == RecordInfo::barrier && executed) {
      timeline.memory(OpKind::barrier, need, false).flags = info.flags;
      continue;
    }
    if (info.kind == RecordInfo::free && timeline.rename(need, results_of(info))) continue;
    if (info.kind == RecordInfo::copy_wait) timeline.require_copies(info.width, info.width == 0, need);
    if ((info.kind == RecordInfo::compute || info.kind == RecordInfo::free) && executed) results = results_of(info);
    timeline.compute(need, info.issue, info.latency, results);
    if (info.kind == RecordInfo::copy_commit) timeline.commit_copies();
  }
}

void CtaRecorder::memory(WarpTimeline& warp, const RecordInfo& info, const WarpEvent& event, const std::uint64_t* address) {
  const auto lanes = static_cast<unsigned>(std::popcount(event.mask));
  if (info.kind == RecordInfo::copy) {
    // The arrival in shared memory costs nothing of its own.
    atl::Op& op = warp.copy(need_of(warp, info));
    op.flags = info.flags;
    coalesced(warp, op, address + lanes, lanes, info.width);
    return;
  }
  if (info.kind >= RecordInfo::bulk_load && info.kind <= RecordInfo::bulk_prefetch) return bulk(warp, info, address, lanes);
  if (in_shared(address[0])) {
    WarpTimeline::Need need = need_of(warp, info);
    if (info.kind == RecordInfo::phase_wait) warp.require_copies(~std::size_t{0}, true, need);
    atl::Op& op = warp.memory(OpKind::shared, need, info.results != 0, results_of(info));
    unsigned passes = 0;
    for (unsigned piece = 0; piece < info.pieces; ++piece)
      passes += shared_passes(address + std::size_t{piece} * lanes, lanes, info.width);
    op.issue = static_cast<std::uint16_t>(passes);
    return;
  }
  const OpKind kind = info.kind == RecordInfo::load    ? OpKind::load
                      : info.kind == RecordInfo::store ? OpKind::store
                                                       : OpKind::atomic;
  if (in_local(address[0])) {
    offsets_.assign(address, address + lanes);
    for (std::uint64_t& offset : offsets_) offset = (offset & ~exec::kWindowMask) % (4 * kLocalRows);
    rows_.clear();
    const bool partly = coalesce_local(offsets_.data(), event.mask, info.width, rows_);
    warp.local(kind == OpKind::store ? kind : OpKind::load, need_of(warp, info), rows_, partly, results_of(info)).flags |=
        info.flags & kBypassL1;
  } else {
    global(warp, kind, info, address, lanes * info.pieces, info.width);
  }
}

void CtaRecorder::bulk(WarpTimeline& warp, const RecordInfo& info, const std::uint64_t* address, unsigned lanes) {
  rows_.clear();
  bool partly = false;
  for (unsigned l = 0; l < lanes; ++l) partly |= coalesce_range(address[l], address[lanes + l], rows_);
  const OpKind kind = info.kind == RecordInfo::bulk_store    ? OpKind::store
                      : info.kind == RecordInfo::bulk_reduce ? OpKind::atomic
                                                             : OpKind::load;
  warp.bulk(kind, info.kind == RecordInfo::bulk_load, need_of(warp, info), rows_, partly);
}

void CtaRecorder::global(WarpTimeline& warp, OpKind kind, const RecordInfo& info, const std::uint64_t* address,
                         unsigned lanes, unsigned width) {
  const bool answers = kind == OpKind::load || (kind == OpKind::atomic && info.results != 0);
  atl::Op& op = warp.memory(kind, need_of(warp, info), answers, results_of(info));
  op.flags = info.flags;
  coalesced(warp, op, address, lanes, width);
}

void CtaRecorder::coalesced(WarpTimeline& warp, atl::Op& op, const std::uint64_t* address, unsigned lanes, unsigned width) {
  Access found[kMostAccesses];
  unsigned count = 0;
  const std::uint64_t block = address[0] / Access::kBlockBytes;
  const bool row = lanes == 32 && width == 4 && address[0] % Access::kBlockBytes == 0 && address[31] == address[0] + 124;
  bool consecutive = row;
  if (row)
    for (unsigned l = 0; l < 32; ++l) consecutive &= address[l] == address[0] + 4 * l;
  if (consecutive) {  // what most accesses are
    found[0] = Access::make(block * Access::kBlockBytes, 0xF);
    count = 1;
  } else {
    count = coalesce(address, lanes, width, found);
    if (op.kind == OpKind::store && touches_partly(address, lanes, width, found, count)) op.flags |= kPartial;
  }
  op.accesses = static_cast<std::uint8_t>(count);
  warp.accesses.insert(warp.accesses.end(), found, found + count);
}

const CtaProgram& CtaRecorder::finish() {
  program_.clear();
  for (WarpTimeline& w : warps_) {
    w.end();
    const auto first_access = static_cast<std::uint32_t>(program_.accesses.size());
    program_.warps.push_back({static_cast<std::uint32_t>(program_.ops.size()), static_cast<std::uint32_t>(w.ops.size())});
    for (atl::Op& op : w.ops) op.first_access += first_access;
    program_.ops.insert(program_.ops.end(), w.ops.begin(), w.ops.end());
    program_.accesses.insert(program_.accesses.end(), w.accesses.begin(), w.accesses.end());
  }
  return program_;
}

}  // namespace atl::ptx
