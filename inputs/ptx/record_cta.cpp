#include "inputs/ptx/record_cta.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "core/engine/assert.hpp"
#include "inputs/trace/coalesce.hpp"

namespace atl::ptx {
namespace {

using exec::in_shared;
bool in_local(std::uint64_t address) { return (address & exec::kWindowMask) == exec::kLocalWindow; }

/// Of a row of lanes, or lanes at one place, each of `width`.
std::uint64_t bytes_of(unsigned width, const WarpEvent& event) {
  return std::uint64_t{width} * (event.spread == Spread::row ? exec::kLanes : 1);
}

std::uint16_t passes_of(const RecordInfo& info, const WarpEvent& event, const std::uint64_t* address) {
  if (event.spread != Spread::apart)
    return static_cast<std::uint16_t>(shared_passes(address[0] & ~exec::kWindowMask, bytes_of(info.width, event)));
  const auto lanes = static_cast<unsigned>(std::popcount(event.mask));
  unsigned passes = 0;
  for (unsigned piece = 0; piece < info.pieces; ++piece)
    passes += shared_passes(address + std::size_t{piece} * lanes, lanes, info.width);
  return static_cast<std::uint16_t>(passes);
}

void append(WarpTimeline& warp, atl::Op& op, const Access* found, unsigned count) {
  op.accesses = static_cast<std::uint8_t>(count);
  if (count == 1)
    warp.accesses.push_back(found[0]);
  else
    warp.accesses.insert(warp.accesses.end(), found, found + count);
}

/// The global addresses of those lanes that access something, at the begin of `found`.
unsigned some_lanes(const RecordInfo& info, const WarpEvent& event, const std::uint64_t* address,
                    std::array<std::uint64_t, exec::kLanes>& found) {
  const auto lanes = static_cast<unsigned>(std::popcount(event.mask));
  if (info.kind == RecordInfo::copy) address += lanes;  // behind those in shared memory
  const auto end = std::copy_if(address, address + lanes, found.begin(), [](std::uint64_t a) { return a != kReadsNothing; });
  return static_cast<unsigned>(end - found.begin());
}

/// Appends the ops of a step. Returns where the first of the step's lies now; `next`: the first that is new.
std::size_t append_ops(WarpTimeline& warp, const OpMemo::Step& step, std::size_t& next) {
  next = warp.ops.empty() ? 0 : 1;
  const std::size_t begin = warp.ops.size() - next;
  if (next != 0) {
    atl::Op& last = warp.ops.back();
    last.latency = step.ops[0].latency;
    if (last.kind == OpKind::compute) last.issue = step.ops[0].issue;
  }
  warp.ops.insert(warp.ops.end(), step.ops.begin() + static_cast<std::ptrdiff_t>(next), step.ops.end());
  return begin;
}

/// All addresses have found their instruction. Otherwise this recorder and the executor disagree which instructions have
/// some, and what follows in the trace would be somebody else's: a trace that must not be.
void check_all_taken(std::span<const std::uint64_t> addresses, const std::uint64_t* at) {
  if (at != addresses.data() + addresses.size())
    throw AssertionFailure("the recorder has " + std::to_string(addresses.size()) +
                           " addresses for instructions that take " + std::to_string(at - addresses.data()));
}

}  // namespace

void CtaRecorder::begin(const RecordTable& table, OpMemo& memo, std::uint32_t warps) {
  table_ = &table, memo_ = &memo;
  warp_instructions_ = made_ = 0;
  program_.clear();
  warps_.resize(warps);
  for (WarpTimeline& w : warps_) w.ops.clear(), w.accesses.clear();
  steps_.assign(warps, memo.start());
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
  const std::size_t before = warps_[warp].ops.size();
  go_on(warp, events, addresses);
  made_ += warps_[warp].ops.size() - before;
}

void CtaRecorder::go_on(std::uint32_t warp, std::span<const WarpEvent> events, std::span<const std::uint64_t> addresses) {
  WarpTimeline& timeline = warps_[warp];
  warp_instructions_ += events.size();
  const OpMemo::Step* const before = steps_[warp];
  if (before == nullptr) return execute(timeline, events, addresses);
  const OpMemo::Step* after = memo_->find(*before, events);
  if (after != nullptr &&
      (replay_rows(timeline, *after, events, addresses) || replay(timeline, *after, events, addresses))) {
    steps_[warp] = after;
    return;
  }
  timeline.restore(before->after);
  const std::size_t first = timeline.ops.size() - std::min<std::size_t>(timeline.ops.size(), 1);
  execute(timeline, events, addresses);
  for (OpMemo::Item& item : items_) item.op -= static_cast<std::uint32_t>(first);
  steps_[warp] = fits_memo_ && after == nullptr
                     ? memo_->add(*before, events, std::span(timeline.ops).subspan(first), items_, timeline.state())
                     : nullptr;
}

/// Makes the ops of a step again, with the accesses of this warp. False, and nothing has changed: an access goes elsewhere.
bool CtaRecorder::replay(WarpTimeline& warp, const OpMemo::Step& step, std::span<const WarpEvent> events,
                         std::span<const std::uint64_t> addresses) {
  const std::uint64_t* at = addresses.data();
  for (const OpMemo::Item& item : step.items) {
    const WarpEvent& event = events[item.event];
    const RecordInfo& info = table_->infos[event.id];
    const OpMemo::Place place = in_shared(*at) ? OpMemo::Place::shared : OpMemo::Place::global;
    if (item.place == OpMemo::Place::some_lanes ? some_lanes(info, event, at, some_) == 0
                                                : place != item.place || in_local(*at))
      return false;
    at += event.addresses(info.pieces);
  }
  check_all_taken(addresses, at);
  std::size_t next = 0;
  const std::size_t begin = append_ops(warp, step, next);
  const std::uint64_t* address = addresses.data();
  const auto fill = [&](std::size_t end) {  // ops without accesses
    for (; next < end; ++next) warp.ops[begin + next].first_access = static_cast<std::uint32_t>(warp.accesses.size());
  };
  for (const OpMemo::Item& item : step.items) {
    const WarpEvent& event = events[item.event];
    const RecordInfo& info = table_->infos[event.id];
    fill(item.op + 1);
    atl::Op& op = warp.ops[begin + item.op];
    if (item.place == OpMemo::Place::shared) {
      op.issue = passes_of(info, event, address);
    } else {
      op.flags = info.flags;
      if (item.place == OpMemo::Place::some_lanes)
        coalesced(warp, op, some_.data(), some_lanes(info, event, address, some_), info.width);
      else
        coalesced(warp, op, info, event, address);
    }
    address += event.addresses(info.pieces);
  }
  fill(step.ops.size());
  return true;
}

/// The same, and quicker, for what most warps do: every instruction accesses a row or one place, within a block. False, and
/// nothing has changed: it is not so.
bool CtaRecorder::replay_rows(WarpTimeline& warp, const OpMemo::Step& step, std::span<const WarpEvent> events,
                              std::span<const std::uint64_t> addresses) {
  if (step.some_lanes || addresses.size() != step.items.size()) return false;  // each has one at least
  const std::size_t accesses = warp.accesses.size();
  warp.accesses.resize(accesses + step.items.size());
  atl::Access* access = warp.accesses.data() + accesses;
  std::uint64_t beyond = 0;  // the block
  bool elsewhere = false, special = false;
  for (std::size_t i = 0; i < step.items.size(); ++i) {
    const OpMemo::Item& item = step.items[i];
    const std::uint64_t address = addresses[i], from = address % Access::kBlockBytes;
    const std::uint64_t bytes = bytes_of(item.width, events[item.event]), to = from + bytes - 1;
    const bool shared = item.place == OpMemo::Place::shared;
    elsewhere |= in_local(address) | (in_shared(address) != shared);
    special |= shared | (item.stores & touches_partly(address, bytes));
    beyond |= shared ? 0 : to;
    // What goes beyond its block, or is shared, is not kept: its sectors may be any.
    *access =
        Access::make(address, sector_mask(static_cast<unsigned>(from), static_cast<unsigned>(to % Access::kBlockBytes)));
    access += shared ? 0 : 1;
  }
  const bool rows = !elsewhere && beyond < Access::kBlockBytes;
  warp.accesses.resize(rows ? static_cast<std::size_t>(access - warp.accesses.data()) : accesses);
  if (!rows) return false;
  std::size_t next = 0;
  const std::size_t begin = append_ops(warp, step, next);
  for (; next < step.ops.size(); ++next) warp.ops[begin + next].first_access += static_cast<std::uint32_t>(accesses);
  for (std::size_t i = 0; special && i < step.items.size(); ++i) {
    const OpMemo::Item& item = step.items[i];
    atl::Op& op = warp.ops[begin + item.op];
    const std::uint64_t bytes = bytes_of(item.width, events[item.event]);
    if (item.place == OpMemo::Place::shared)
      op.issue = static_cast<std::uint16_t>(shared_passes(addresses[i] & ~exec::kWindowMask, bytes));
    else if (item.stores && touches_partly(addresses[i], bytes))
      op.flags |= kPartial;
  }
  return true;
}

void CtaRecorder::execute(WarpTimeline& timeline, std::span<const WarpEvent> events,
                          std::span<const std::uint64_t> addresses) {
  const std::uint64_t* address = addresses.data();
  items_.clear();
  fits_memo_ = true;
  for (const WarpEvent& event : events) {
    const RecordInfo& info = table_->infos[event.id];
    const bool executed = event.mask != 0;
    if (executed && info.some_lanes && some_lanes(info, event, address, some_) == 0) {
      fits_memo_ = false;  // others that execute the same do access something
      timeline.compute(need_of(timeline, info), info.issue, info.latency, results_of(info));
      address += event.addresses(info.pieces);
      continue;
    }
    if (executed && info.accesses()) {
      items_.push_back({0, static_cast<std::uint32_t>(&event - events.data()), OpMemo::Place::global, false, info.width});
      memory(timeline, info, event, address);
      items_.back().op = static_cast<std::uint32_t>(timeline.ops.size() - 1);
      address += event.addresses(info.pieces);
      continue;
    }
    WarpTimeline::Need need = need_of(timeline, info);
    WarpTimeline::Registers results;
    if (info.kind == RecordInfo::barrier && executed) {
      timeline.memory(OpKind::barrier, need, false).flags = info.flags;
      continue;
    }
    if (info.kind == RecordInfo::free && timeline.rename(need, results_of(info))) continue;
    if (info.kind == RecordInfo::copy_wait) timeline.require_copies(info.outstanding, false, need);
    if (info.kind == RecordInfo::copy_wait_all) timeline.require_copies(0, true, need);
    if ((info.kind == RecordInfo::compute || info.kind == RecordInfo::free) && executed) results = results_of(info);
    timeline.compute(need, info.issue, info.latency, results);
    if (info.kind == RecordInfo::copy_commit) timeline.commit_copies();
  }
  check_all_taken(addresses, address);
}

void CtaRecorder::memory(WarpTimeline& warp, const RecordInfo& info, const WarpEvent& event, const std::uint64_t* address) {
  const auto lanes = static_cast<unsigned>(std::popcount(event.mask));
  if (info.kind == RecordInfo::copy) {
    // The arrival in shared memory costs nothing of its own.
    items_.back().place = OpMemo::Place::some_lanes;
    atl::Op& op = warp.copy(need_of(warp, info));
    op.flags = info.flags;
    coalesced(warp, op, some_.data(), some_lanes(info, event, address, some_), info.width);
    return;
  }
  if (info.kind >= RecordInfo::bulk_load && info.kind <= RecordInfo::bulk_prefetch) {
    fits_memo_ = false;  // as many ops as the blocks take
    return bulk(warp, info, address, lanes);
  }
  if (in_shared(address[0])) {
    WarpTimeline::Need need = need_of(warp, info);
    if (info.kind == RecordInfo::phase_wait) warp.require_copies(~std::size_t{0}, true, need);
    atl::Op& op = warp.memory(OpKind::shared, need, info.results != 0, results_of(info));
    items_.back().place = OpMemo::Place::shared;
    op.issue = passes_of(info, event, address);
    return;
  }
  const OpKind kind = info.kind == RecordInfo::load    ? OpKind::load
                      : info.kind == RecordInfo::store ? OpKind::store
                                                       : OpKind::atomic;
  if (in_local(address[0])) {
    fits_memo_ = false;  // the same
    offsets_.assign(address, address + lanes);
    for (std::uint64_t& offset : offsets_) offset = (offset & ~exec::kWindowMask) % (4 * kLocalRows);
    rows_.clear();
    const bool partly = coalesce_local(offsets_.data(), event.mask, info.width, rows_);
    warp.local(kind == OpKind::store ? kind : OpKind::load, info.flags & kBypassL1, need_of(warp, info), rows_, partly,
               results_of(info));
  } else {
    const bool answers = kind == OpKind::load || (kind == OpKind::atomic && info.results != 0);
    atl::Op& op = warp.memory(kind, need_of(warp, info), answers, results_of(info));
    op.flags = info.flags;
    if (info.some_lanes) {
      items_.back().place = OpMemo::Place::some_lanes;
      return coalesced(warp, op, some_.data(), some_lanes(info, event, address, some_), info.width);
    }
    coalesced(warp, op, info, event, address);
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

void CtaRecorder::coalesced(WarpTimeline& warp, atl::Op& op, const RecordInfo& info, const WarpEvent& event,
                            const std::uint64_t* address) {
  if (event.spread == Spread::apart)
    return coalesced(warp, op, address, static_cast<unsigned>(std::popcount(event.mask)) * info.pieces, info.width);
  const std::uint64_t bytes = bytes_of(info.width, event);
  const unsigned count = coalesce(address[0], bytes, found_.data());
  if (op.kind == OpKind::store && touches_partly(address[0], bytes)) op.flags |= kPartial;
  append(warp, op, found_.data(), count);
}

void CtaRecorder::coalesced(WarpTimeline& warp, atl::Op& op, const std::uint64_t* address, unsigned lanes, unsigned width) {
  const unsigned count = coalesce(address, lanes, width, found_.data());
  if (op.kind == OpKind::store && touches_partly(address, lanes, width, found_.data(), count)) op.flags |= kPartial;
  append(warp, op, found_.data(), count);
}

std::span<const WarpView> CtaRecorder::finish() {
  views_.clear();
  ops_ = accesses_ = 0;
  for (std::size_t n = 0; n < warps_.size(); ++n) {
    WarpTimeline& w = warps_[n];
    if (steps_[n] != nullptr)
      w.end(steps_[n]->after);
    else
      w.end();
    views_.push_back({w.ops, w.accesses});
    ops_ += w.ops.size(), accesses_ += w.accesses.size();
  }
  return views_;
}

void CtaRecorder::make_program() {
  program_.clear();
  for (const WarpView& warp : views_) {
    const auto first_access = static_cast<std::uint32_t>(program_.accesses.size());
    program_.warps.push_back({static_cast<std::uint32_t>(program_.ops.size()), static_cast<std::uint32_t>(warp.ops.size())});
    for (atl::Op op : warp.ops) {
      op.first_access += first_access;
      program_.ops.push_back(op);
    }
    program_.accesses.insert(program_.accesses.end(), warp.accesses.begin(), warp.accesses.end());
  }
}

}  // namespace atl::ptx
