#include "core/chip/llc_slice.hpp"

#include <fmt/format.h>

#include <bit>

#include "core/chip/dram_channel.hpp"
#include "core/chip/links.hpp"
#include "core/chip/response_network.hpp"

namespace atl {
namespace {
std::uint32_t slice_sets(const SystemConfig& c) { return c.llc.size_kib * 1024 / c.llc.slices / c.line_bytes / c.llc.ways; }
}  // namespace

LlcSlice::LlcSlice(Context& c, std::uint16_t id, std::uint32_t ways)
    : c_(c),
      id_(id),
      sectored_(c.machine.config.llc.sectored),
      sets_(c.machine.config.llc.index, slice_sets(c.machine.config), "llc"),
      tags_(slice_sets(c.machine.config), c.machine.config.llc.ways),
      home_(tags_.entries()),
      mshr_(c.machine.config.llc.mshrs + 1, c.machine.config.llc.mshr_merges),
      look_(c.machine.lookup_bpc),
      out_(1 + ways, 1, c.machine.slice_bpc),
      write_(1, 1, c.machine.slice_bpc) {
  for (Input& in : in_) in.gate = Gate(c.machine.config.noc.queue_packets + c.machine.request_flight);
}

DramChannel& LlcSlice::channel(LineAddr line) const { return (*channels_)[c_.machine.map.channel(line)]; }

// ---- Requests ----

void LlcSlice::on_arrive(std::uint32_t queue, const Packet& p) {
  if (queue == kFill) return fill(p);
  in_[queue].fifo.push(p);
  pump();
}

void LlcSlice::on_queue_credit(std::uint32_t queue) {
  in_[queue].granted = std::exchange(in_[queue].lined_up, nullptr);
  pump();
}

/// Serves the two queues in turn, as fast as the tags can be looked up.
void LlcSlice::pump() {
  for (;;) {
    std::uint32_t queue = turn_;
    const auto ready = [&](const Input& in) { return !in.fifo.empty() && in.lined_up == nullptr && !in.stalled; };
    if (!ready(in_[queue])) queue = 1 - queue;
    if (!ready(in_[queue])) return;
    if (!look_.idle(c_.now())) {
      if (!look_timed_) {
        look_timed_ = true;
        c_.schedule(look_.idle_from(), EventKind::slice, id_);
      }
      return;
    }
    Input& in = in_[queue];
    const std::uint32_t bytes = look_up_bytes(in.fifo.front());
    if (!process(in.fifo.front(), queue)) {
      ++c_.count[Counter::llc_stalls];
      continue;
    }
    in.fifo.pop();
    return_granted(in);
    c_.release(in.gate);
    look_.serve(c_.now(), bytes);
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
  switch (p.kind) {
    case PacketKind::read:
      return c_.sm_side && queue == kFromLinks ? bypass(p, queue) : read(p, queue);
    case PacketKind::write:
      return write(p, queue);
    case PacketKind::atomic:
      return atomic(p, queue);
    default:
      return bypass(p, queue);
  }
}

void LlcSlice::count_access(const Packet& p, LlcOutcome outcome) {
  if (c_.observer != nullptr) [[unlikely]]
    c_.observer->on_llc_lookup(c_, id_, p, outcome);
  ++accesses_;
  ++c_.count[Counter::llc_accesses];
  c_.count[Counter::llc_sector_accesses] += static_cast<unsigned>(std::popcount(p.sectors));
}

bool LlcSlice::read(const Packet& p, std::uint32_t queue) {
  const std::uint32_t i = tags_.find(set(p.line), p.line);
  const std::uint8_t valid = i == TagArray::kMiss ? 0 : tags_.valid(i);
  LlcOutcome outcome = LlcOutcome::hit;
  if ((p.sectors & ~valid) == 0) {
    if (!response_room(p)) return stall(queue);
    tags_.touch(i);
    ++hits_, ++c_.count[Counter::llc_hits];
    respond(p, p.source == c_.chip ? 0 : kLlcRemote);
    pump_out();
  } else if (!miss(p, queue, valid, outcome)) {
    return false;
  }
  count_access(p, outcome);
  ++c_.count[Counter::llc_reads];
  return true;
}

/// One MSHR more for atomics of other chips under SM-side caching. Were all held by reads of remote lines, an atomic would
/// wait for the other chip, in front of that chip's own reads, and the two chips for each other.
std::uint32_t LlcSlice::mshr_limit(std::uint32_t queue) const {
  return c_.machine.config.llc.mshrs + (c_.sm_side && queue == kFromLinks ? 1 : 0);
}

/// Opens or joins the line's MSHR and fetches what is neither here nor under way.
bool LlcSlice::miss(const Packet& p, std::uint32_t queue, std::uint8_t valid, LlcOutcome& outcome) {
  const auto wanted = sectored_ ? static_cast<std::uint8_t>(p.sectors & ~valid) : c_.machine.full_line;
  std::uint32_t e = mshr_.find(p.line);
  if (e == mshr_.kNone ? mshr_.in_use() >= mshr_limit(queue) : !mshr_.can_merge(e)) return stall(queue);
  const auto fetch = static_cast<std::uint8_t>(e == mshr_.kNone ? wanted : wanted & ~(mshr_[e].pending | mshr_[e].arrived));
  if (fetch == 0) {
    ++c_.count[Counter::llc_merges];
    outcome = LlcOutcome::merge;
    mshr_[e].arrived |= p.sectors & valid;
    mshr_.add_waiter(e, p);
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
               .slice = p.slice};
  if (!take(local ? channel(p.line).gate() : links_->out_gate(links_->channel_for(below)), queue)) return false;
  if (e == mshr_.kNone) e = mshr_.open(p.line);
  mshr_[e].pending |= fetch;
  mshr_[e].arrived |= p.sectors & valid;  // read now: the line may be replaced before the rest comes
  mshr_.add_waiter(e, p);
  below.entry = e;
  outcome = LlcOutcome::fetch;
  ++c_.count[Counter::llc_misses];
  c_.count[Counter::llc_sector_misses] += static_cast<unsigned>(std::popcount(fetch));
  if (local) {
    channel(p.line).push(below);
  } else {
    c_.schedule(c_.now() + c_.machine.config.noc.memory_latency_cycles, EventKind::egress_arrive, links_->channel_for(below),
                0, below);
  }
  return true;
}

/// Writes validate what they touch without fetching the rest of the line. A sector written in part becomes dirty and not
/// valid: its first reader fetches it.
bool LlcSlice::write(const Packet& p, std::uint32_t queue) {
  const std::uint32_t s = set(p.line);
  std::uint32_t i = tags_.find(s, p.line);
  const bool hit = i != TagArray::kMiss;
  if (!hit && !write_room(i = tags_.victim(s))) return stall(queue);
  if (!response_room(p)) return stall(queue);
  if (hit) {
    tags_.touch(i);
    ++hits_, ++c_.count[Counter::llc_hits];
  } else {
    make_room(i);
    tags_.install(i, p.line);
    home_[i] = p.home;
    ++c_.count[Counter::llc_misses];
  }
  if (!sectored_) {
    tags_.valid(i) = c_.machine.full_line;
  } else if (!p.has(kPartialWrite)) {
    tags_.valid(i) |= p.sectors;
  }
  tags_.dirty(i) |= p.sectors;
  count_access(p, hit ? LlcOutcome::hit : LlcOutcome::fetch);
  ++c_.count[Counter::llc_writes];
  respond(p, 0);
  pump_out();
  return true;
}

bool LlcSlice::atomic(const Packet& p, std::uint32_t queue) {
  const std::uint32_t i = tags_.find(set(p.line), p.line);
  const std::uint8_t valid = i == TagArray::kMiss ? 0 : tags_.valid(i);
  LlcOutcome outcome = LlcOutcome::hit;
  if ((p.sectors & ~valid) == 0) {
    if (!response_room(p)) return stall(queue);
    tags_.touch(i);
    tags_.dirty(i) |= p.sectors;
    ++hits_, ++c_.count[Counter::llc_hits];
    respond(p, p.source == c_.chip ? 0 : kLlcRemote);
    pump_out();
  } else if (!miss(p, queue, valid, outcome)) {
    return false;
  }
  count_access(p, outcome);
  ++c_.count[Counter::llc_atomics];
  return true;
}

/// Reads of remote slices, and their write-backs, go past the tags to memory.
bool LlcSlice::bypass(const Packet& p, std::uint32_t queue) {
  if (bypassing_ == c_.machine.config.llc.bypass_reads) return stall(queue);
  if (!take(channel(p.line).gate(), queue)) return false;
  ++bypassing_;
  if (c_.observer != nullptr) [[unlikely]]
    c_.observer->on_llc_lookup(c_, id_, p, LlcOutcome::bypass);
  if (p.kind == PacketKind::read) ++c_.count[Counter::llc_bypasses];
  channel(p.line).push(p);
  return true;
}

}  // namespace atl
