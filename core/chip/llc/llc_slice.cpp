#include "core/chip/llc/llc_slice.hpp"

#include <bit>

#include "core/chip/dram/dram_channel.hpp"
#include "core/chip/noc/links.hpp"
#include "core/chip/noc/response_network.hpp"

namespace atl {
namespace {
using enum Counter;
constexpr LevelCounters kLlcCounters{
    llc_accesses, llc_sector_accesses, llc_reads,         llc_writes,     llc_hits,
    llc_merges,   llc_misses,          llc_sector_misses, llc_writebacks, llc_writeback_sectors,
    llc_stalls,   llc_flushed_lines,   llc_lookup_bytes};
constexpr LevelCounters kL2Counters{l2_accesses, l2_sector_accesses, l2_reads,         l2_writes,     l2_hits,
                                    l2_merges,   l2_misses,          l2_sector_misses, l2_writebacks, l2_writeback_sectors,
                                    l2_stalls,   l2_flushed_lines,   l2_lookup_bytes};

/// A request that somebody waits for, unlike write-backs, notices and invalidations.
bool asks(const Packet& p) {
  return p.kind == PacketKind::read || p.kind == PacketKind::write || p.kind == PacketKind::atomic;
}
}  // namespace

LlcSlice::LlcSlice(Context& c, PacketQueues& packets, std::uint16_t id, std::uint32_t directions)
    : c_(c),
      id_(id),
      l2_(id >= c.machine.llc.slices),
      entry_(l2_ || !c.machine.has_l2),
      sectored_(l2_ ? c.machine.l2.sectored : c.machine.llc.sectored),
      direct_(c.machine.config.llc.bypass == LlcBypass::direct && !c.machine.full_map && !c.machine.home_directory &&
              !c.machine.has_l2),
      number_(static_cast<std::uint8_t>(l2_ ? id - c.machine.llc.slices : id)),
      level_(l2_ ? c.machine.l2 : c.machine.llc),
      remote_mshrs_(c.machine.config.llc.remote_mshrs != 0 ? c.machine.config.llc.remote_mshrs : level_.mshrs),
      n_(l2_ ? kL2Counters : kLlcCounters),
      map_(l2_ ? c.machine.front_map : c.machine.map),
      sets_(level_.index, level_.sets, map_.folds_to_slice(level_.sets)),
      tags_(level_.sets, level_.ways),
      home_of_(tags_.entries()),
      mshr_(level_.mshrs + 1, level_.mshr_merges),
      lookup_(level_.lookup_bpc),
      out_(packets, 1 + directions, 1, c.machine.slice_bpc),
      write_(packets, c.machine.home_directory ? 1 + directions : 1, 1, l2_ ? c.machine.l2_memory_bpc : c.machine.slice_bpc),
      fill_port_(c.machine.l2_memory_bpc) {
  if (c.machine.full_map) full_map_.emplace();
  if (c.machine.home_directory) home_.emplace(c.machine.config.chips, c.machine.has_l2 ? c.machine.llc.slices : 0);
  for (Input& in : in_) in.gate = Gate(c.machine.config.noc.queue_packets + level_.request_flight);
}

DramChannel& LlcSlice::channel(LineAddr line) const { return (*channels_)[c_.machine.map.channel(line)]; }

// ---- Requests ----

/// The directory's look-up comes first where it takes time: all requests of a line wait for it, and keep their order. An
/// invalidation has nothing to look up: its sharer keeps no directory of the line.
void LlcSlice::reach(Cycle at, Queue queue, const Packet& p) {
  if (queue != kFill) {
    if (!goes_past(queue, p)) at += level_.latency;
  } else if (l2_) {
    at = fill_port_.serve(at, c_.machine.bytes(p));
  }
  if (queue == kFromLinks && uses_home_directory() && p.home == c_.chip && p.kind != PacketKind::invalidate)
    at += c_.machine.config.coherence.directory_latency_cycles;
  c_.schedule(at, EventKind::slice_arrive, id_, queue, p);
}

/// Under SM-side caching another chip's reads and write-backs have nothing to look up here (SAC section 3.1).
bool LlcSlice::goes_past(std::uint32_t queue, const Packet& p) const {
  return direct_ && queue == kFromLinks && c_.sm_side() && p.kind != PacketKind::atomic;
}

void LlcSlice::on_arrive(std::uint32_t queue, const Packet& p) {
  if (queue == kFill) {
    if (c_.machine.shared_network) take_lookup(c_.machine.bytes(p));
    return fill(p);
  }
  if (asks(p)) queued_.enter(c_.now());
  in_[queue].fifo.push(p);
  pump();
}

void LlcSlice::on_queue_credit(std::uint32_t queue) {
  in_[queue].granted = std::exchange(in_[queue].lined_up, nullptr);
  pump();
}

void LlcSlice::take_lookup(std::uint32_t bytes) {
  lookup_.serve(c_.now(), bytes);
  c_.count[n_.lookup_bytes] += bytes;
}

/// Serves the two queues in turn, as fast as the tags can be looked up.
void LlcSlice::pump() {
  for (;;) {
    std::uint32_t queue = turn_;
    const auto ready = [&](const Input& in) { return !in.fifo.empty() && in.lined_up == nullptr && !in.stalled; };
    if (!ready(in_[queue])) queue = 1 - queue;
    if (!ready(in_[queue])) return;
    const bool past = goes_past(queue, in_[queue].fifo.front());
    if (!past && !lookup_.idle(c_.now())) return c_.call_once(lookup_timed_, lookup_.idle_from(), EventKind::slice, id_);
    Input& in = in_[queue];
    const std::uint32_t bytes = look_up_bytes(in.fifo.front());
    if (!process(in.fifo.front(), queue)) {
      ++c_.count[n_.stalls];
      continue;
    }
    if (asks(in.fifo.front())) queued_.leave(c_.now()), ++requests_;
    in.fifo.pop();
    return_granted(in);
    if (queue == kFromSms && entry_) {
      c_.release_entry(in.gate);
    } else {
      c_.release(in.gate);
    }
    if (!past) take_lookup(bytes);
    turn_ = 1 - queue;
  }
}

/// What a look-up takes of the slice's bandwidth: a sectored slice reads only the sectors asked for, any other whole lines.
std::uint32_t LlcSlice::look_up_bytes(const Packet& p) const {
  return sectored_ ? 32 * static_cast<std::uint32_t>(std::popcount(p.sectors)) : c_.machine.config.line_bytes;
}

/// A credit of `gate` for the head of `queue`; if there is none, the queue lines up for it.
bool LlcSlice::take(Gate& gate, std::uint32_t queue) {
  Input& in = in_[queue];
  if (in.granted == &gate) {
    in.granted = nullptr;
    return true;
  }
  return_granted(in);
  if (gate.acquire()) return true;
  gate.wait({WaiterKind::slice_queue, static_cast<std::uint8_t>(queue), id_});
  in.lined_up = &gate;
  return false;
}

/// The head lined up for another credit than it needs by now: its line came or went meanwhile.
void LlcSlice::return_granted(Input& in) {
  if (in.granted != nullptr) c_.release(*std::exchange(in.granted, nullptr));
}

bool LlcSlice::stall(std::uint32_t queue) {
  return_granted(in_[queue]);  // whoever waits for this slice's own resources must not keep others waiting
  in_[queue].stalled = true;
  return false;
}

/// Something of this slice came free: let the stalled queues try again.
void LlcSlice::unstall() {
  if (!in_[0].stalled && !in_[1].stalled) return;
  in_[0].stalled = in_[1].stalled = false;
  c_.schedule(c_.now(), EventKind::slice, id_);
}

bool LlcSlice::process(const Packet& p, std::uint32_t queue) {
  if (uses_home_directory()) return home_->process(*this, p, queue);
  switch (p.kind) {
    case PacketKind::read:
      if (!c_.sm_side() || queue == kFromSms) return read(p, queue);
      return full_map_ ? full_map_->read(*this, p, queue) : bypass(p, queue);
    case PacketKind::write:
      return writes_through(p) ? write_through(p, queue) : write(p, queue);
    case PacketKind::atomic:
      return l2_ ? pass_atomic(p, queue) : atomic(p, queue);
    case PacketKind::own:
      return full_map_->take_notice(*this, p, queue);
    case PacketKind::invalidate:
      return full_map_ ? full_map_->invalidate(*this, p, queue) : home_->process(*this, p, queue);
    default:  // a write-back of another chip, or of an L2: under split, and behind an L2, this slice may hold the line too
      if (c_.role == LlcRole::split || c_.machine.has_l2) return write(p, queue);
      if (!bypass(p, queue)) return false;
      if (full_map_) full_map_->written_back(p);
      return true;
  }
}

bool LlcSlice::writes_through(const Packet& p) const {
  if (l2_) return c_.machine.config.l2.writes == L2Writes::through;
  return c_.role == LlcRole::split && p.home != c_.chip && c_.machine.config.llc.remote_writes == RemoteWrites::through;
}

void LlcSlice::count_access(const Packet& p, LlcOutcome outcome) {
  if (c_.observer != nullptr) [[unlikely]]
    c_.observer->on_llc_lookup(c_, id_, p, outcome);
  ++accesses_;
  ++c_.count[n_.accesses];
  c_.count[n_.sector_accesses] += static_cast<unsigned>(std::popcount(p.sectors));
  if (c_.degrees.on() && p.kind == PacketKind::read) count_degrees(p);
  if (c_.profiler.watches(c_.role)) {
    // A store finds no tag of a line that is under way, although a read of it would join the fetch.
    const bool joins = p.kind == PacketKind::write && outcome == LlcOutcome::fetch && mshr_.find(p.line) != mshr_.kNone;
    c_.profiler.home_request(id_, set(p.line), p, joins ? LlcOutcome::merge : outcome);
  }
}

void LlcSlice::count_degrees(const Packet& p) {
  const Machine& m = c_.machine;
  if (p.has(kToSlice) || !c_.degrees.watches(id_, p.has(kReadOnlyData))) return;
  c_.degrees.request(m.map.slice(p.line), set(p.line), p.line, p.sm / m.config.noc.sms_per_cluster);
}

bool LlcSlice::read(const Packet& p, std::uint32_t queue) {
  const std::uint32_t i = tags_.find(set(p.line), p.line);
  const std::uint8_t valid = i == TagArray::kMiss ? 0 : tags_.valid(i);
  LlcOutcome outcome = LlcOutcome::hit;
  if ((p.sectors & ~valid) == 0) {
    if (!response_room(p)) return stall(queue);
    tags_.touch(i);
    ++hits_, ++c_.count[n_.hits];
    respond(p, l2_ ? kFromL2 : p.source == c_.chip ? 0 : kLlcRemote);
    pump_out();
  } else if (!miss(p, queue, valid, outcome)) {
    return false;
  } else if (i != TagArray::kMiss) {
    tags_.touch(i);  // a use of the line, though of a sector that it does not have yet
  }
  count_access(p, outcome);
  ++c_.count[n_.reads];
  return true;
}

/// Whether a request finds an MSHR for a line that is not under way. One more is there for requests of other chips where
/// this chip's own may wait for other chips: were all held by reads of remote lines, another chip's request would wait for
/// that chip, in front of that chip's own, and the two for each other. Under split and home directories all of another
/// chip's reads come here, and what the own SMs read of other chips may be held to fewer (`llc.remote_mshrs`).
bool LlcSlice::finds_mshr(const Packet& p, std::uint32_t queue) const {
  const bool spare = queue == kFromLinks && c_.role != LlcRole::memory_side;
  if (mshr_.in_use() >= level_.mshrs + (spare ? 1 : 0)) return false;
  return p.home == c_.chip || remote_misses_ < remote_mshrs_ || !(c_.role == LlcRole::split || uses_home_directory());
}

/// The entry that a line of chip `home` replaces. Under split the kinds of lines keep to their quotas: a kind that has its
/// ways replaces its own, any other takes a free way or one of the other kind. A smaller quota thus takes effect lazily
/// (Milic et al., MICRO 2017).
std::uint32_t LlcSlice::victim(std::uint32_t set, std::uint8_t home) const {
  if (c_.role != LlcRole::split) return tags_.victim(set);
  const bool local = home == c_.chip;
  const std::uint32_t ways = tags_.ways(), first = set * ways, quota = local ? c_.local_ways : ways - c_.local_ways;
  std::uint32_t own = TagArray::kMiss, other = TagArray::kMiss, empty = TagArray::kMiss, held = 0;
  const auto older = [&](std::uint32_t i, std::uint32_t& best) {
    if (best == TagArray::kMiss || tags_.used(i) < tags_.used(best)) best = i;
  };
  for (std::uint32_t i = first; i < first + ways; ++i) {
    if (!tags_.occupied(i)) {
      empty = i;
    } else if ((home_of_[i] == c_.chip) == local) {
      older(i, own), ++held;
    } else {
      older(i, other);
    }
  }
  if (held >= quota) return own;
  return empty != TagArray::kMiss ? empty : other;
}

/// Opens or joins the line's MSHR and fetches what is neither here nor under way.
bool LlcSlice::miss(const Packet& p, std::uint32_t queue, std::uint8_t valid, LlcOutcome& outcome) {
  const auto wanted = sectored_ ? static_cast<std::uint8_t>(p.sectors & ~valid) : c_.machine.full_line;
  std::uint32_t e = mshr_.find(p.line);
  // With directories an atomic may wait for the line's owner, in front of the owner's requests here: it must not keep its
  // MSHR from others. Their number is bounded by what SMs may have unacknowledged.
  const bool never_waits = queue == kFromLinks && uses_full_map();
  const bool full = e == mshr_.kNone ? !finds_mshr(p, queue) : !mshr_.can_merge(e);
  if (full && !never_waits) return stall(queue);
  const auto fetch = static_cast<std::uint8_t>(e == mshr_.kNone ? wanted : wanted & ~(mshr_[e].pending | mshr_[e].arrived));
  if (fetch == 0) {
    ++c_.count[n_.merges];
    outcome = LlcOutcome::merge;
    mshr_[e].arrived |= p.sectors & valid;
    mshr_.add_waiter(e, p), missing_.enter(c_.now());
    return true;
  }
  const bool local = p.home == c_.chip;
  Packet below{.line = p.line,
               .born = p.born,
               .source = c_.chip,
               .home = p.home,
               .kind = PacketKind::read,
               .sectors = fetch,
               .flags = kToSlice,
               .slice = number_};
  const bool elsewhere = local && uses_full_map() && full_map_->elsewhere(p.line);
  if (!elsewhere && !take(gate_below(below), queue)) return false;
  if (e == mshr_.kNone) e = mshr_.open(p.line), remote_misses_ += local ? 0 : 1;
  mshr_[e].pending |= fetch;
  mshr_[e].arrived |= p.sectors & valid;  // read now: the line may be replaced before the rest comes
  mshr_.add_waiter(e, p), missing_.enter(c_.now());
  below.entry = e;
  outcome = LlcOutcome::fetch;
  ++c_.count[n_.misses];
  c_.count[n_.sector_misses] += static_cast<unsigned>(std::popcount(fetch));
  if (c_.observer != nullptr) [[unlikely]]
    c_.observer->on_llc_fetch(c_, id_, below);
  if (elsewhere) {
    full_map_->ask(*this, e, fetch, c_.chip, c_.chip);
  } else if (l2_) {
    send_below(below, write_.server.serve(c_.now(), c_.machine.bytes(below)));
  } else if (local) {
    channel(p.line).push(below);
  } else {
    if (c_.machine.shared_network) out_.server.serve(c_.now(), c_.machine.bytes(below));
    c_.schedule(c_.now() + c_.machine.config.noc.memory_latency_cycles, EventKind::egress_arrive, links_->channel_for(below),
                0, below);
  }
  return true;
}

/// Reads of remote slices, and their write-backs, go past the tags to memory.
bool LlcSlice::bypass(const Packet& p, std::uint32_t queue) {
  if (bypassing_ == c_.machine.config.llc.bypass_reads) return stall(queue);
  if (!take(channel(p.line).gate(), queue)) return false;
  ++bypassing_;
  if (c_.observer != nullptr) [[unlikely]]
    c_.observer->on_llc_lookup(c_, id_, p, LlcOutcome::bypass);
  if (p.kind == PacketKind::read) ++bypassing_reads_, ++c_.count[Counter::llc_bypasses];
  channel(p.line).push(p);
  return true;
}

}  // namespace atl
