#include <fmt/format.h>

#include "core/chip/dram/dram_channel.hpp"
#include "core/chip/llc/llc_slice.hpp"
#include "core/chip/noc/links.hpp"
#include "core/chip/noc/response_network.hpp"

// What leaves an LLC slice: answers, fills that cause them, copies that end, and write-backs. Requests come in in
// llc_slice.cpp.
namespace atl {

// ---- Answers ----

std::uint32_t LlcSlice::lane_of(const Packet& p) const { return p.source == c_.chip ? 0 : links_->lane_for(p); }

bool LlcSlice::response_room(const Packet& request) const {
  return out_.size(lane_of(response(request, 0))) < c_.machine.config.noc.queue_packets;
}

void LlcSlice::respond(const Packet& request, std::uint8_t flags) {
  if (c_.observer != nullptr) [[unlikely]]
    c_.observer->on_llc_answer(c_, id_, request);
  const Packet r = response(request, flags);
  out_.push(lane_of(r), r);
}

Packet LlcSlice::response(const Packet& request, std::uint8_t flags) {
  Packet r = request;
  // An atomic whose result nobody wants is answered like a write.
  const bool no_result = request.kind == PacketKind::atomic && (request.token & 0xFF) == kNoSlot;
  r.kind = no_result ? PacketKind::write_ack : response_to(request.kind);
  r.flags |= flags;
  return r;
}

void LlcSlice::on_memory(const Packet& p) {
  if (p.source != c_.chip) {
    --bypassing_;
    if (p.kind == PacketKind::read) --bypassing_reads_;
    respond(p, kFromMemory);
    pump_out();
    return unstall();
  }
  if (p.kind == PacketKind::writeback) {
    --writebacks_;
    return;
  }
  Packet data = p;
  data.kind = PacketKind::read_data;
  data.flags |= kFromMemory;
  fill(data);
}

void LlcSlice::fill(const Packet& p) {
  const std::uint8_t home = p.has(kFromOwner) ? static_cast<std::uint8_t>(p.token & 0xFF) : p.home;
  switch (p.kind) {
    case PacketKind::writeback_ack:
    case PacketKind::own_ack:
      --writebacks_;
      return;
    case PacketKind::invalidate_ack:
      invalidations_ -= 1 + p.entry;
      return;
    default:
      if (p.sectors == 0)  // a referral
        return full_map_->ask(*this, p.entry, static_cast<std::uint8_t>(p.token >> 8), home,
                              static_cast<std::uint8_t>(p.token & 0xFF));
  }
  require_course(p.entry < mshr_.entries());
  auto& e = mshr_[p.entry];
  const LineAddr line = e.line;
  const std::uint32_t s = set(line);
  std::uint32_t i = tags_.find(s, line);
  if (i == TagArray::kMiss && e.waiting == 0) {  // a write has answered those who waited, and the line has gone since
    e.pending &= static_cast<std::uint8_t>(~p.sectors);
    if (e.pending == 0) close_mshr(p.entry, home);
    return;
  }
  if (i == TagArray::kMiss) install(i = victim(s, home), line, home);
  tags_.valid(i) |= p.sectors;
  e.pending &= static_cast<std::uint8_t>(~p.sectors);
  e.arrived |= p.sectors;
  const std::uint8_t here = e.arrived | tags_.valid(i);
  if (c_.observer != nullptr) [[unlikely]]
    c_.observer->on_llc_fill(c_, id_, line, p.sectors);
  const std::uint8_t flags = p.flags & (kFromMemory | kLlcRemote);
  mshr_.release_waiters(p.entry, [&](const Packet& w) {
    if ((w.sectors & ~here) != 0) return false;
    if (w.kind == PacketKind::atomic) {
      end_copies(w);
      tags_.valid(i) |= w.sectors, tags_.dirty(i) |= w.sectors;
    }
    missing_.leave(c_.now());
    respond(w, flags);
    return true;
  });
  if (e.void_on_arrival) drop_copy(line);  // before the rest of it comes: others would find it here
  if (e.pending == 0) close_mshr(p.entry, home);
  pump_out();
}

void LlcSlice::close_mshr(std::uint32_t entry, std::uint8_t home) {
  mshr_.close(entry);
  if (home != c_.chip) --remote_misses_;
  unstall();
}

void LlcSlice::pump_out() {
  if (responses_->routed()) {  // on one chip, so that all answers are in this lane
    for (; out_.ready != 0 && responses_->room(id_); unstall()) responses_->inject(id_, out_.take(0));
    return;
  }
  out_.pump<true>(
      c_, {WaiterKind::slice_out, 0, id_}, EventKind::slice_out,
      [&](const Packet& p) -> Gate* {
        if (p.source != c_.chip) return &links_->out_gate(links_->channel_for(p));
        if (p.has(kToSlice)) return nullptr;  // an L2 takes all answers that it asked for
        return &responses_->gate(c_.machine.cluster_port(p.sm, p.slice));
      },
      [&](const Packet& p, std::uint32_t lane, Cycle depart) {
        if (other_ != nullptr && !l2_) return answer_l2(p, lane, depart);
        const Cycle at = depart + (l2_ && lane != 0 ? level_.below : c_.machine.config.noc.response_latency_cycles);
        if (lane == 0) {
          c_.schedule(at, EventKind::response_arrive, c_.machine.cluster_port(p.sm, p.slice), 0, p);
        } else {
          c_.schedule(at, EventKind::egress_arrive, links_->channel_for(p), 0, p);
        }
        unstall();
      });
}

/// What a slice behind an L2 answers: to the L2 of its chip or another one, or past it to an SM.
void LlcSlice::answer_l2(const Packet& p, std::uint32_t lane, Cycle depart) {
  const Cycle at = depart + c_.machine.l2.below;
  if (lane != 0) {
    c_.schedule(at, EventKind::egress_arrive, links_->channel_for(p), 0, p);
  } else {
    c_.count[Counter::noc_l2_bytes] += c_.machine.bytes(p);
    if (p.has(kToSlice)) {
      other_[p.slice].reach(at, kFill, p);
    } else {
      c_.schedule(at + c_.machine.config.noc.response_latency_cycles, EventKind::response_arrive,
                  c_.machine.cluster_port(p.sm, p.slice), 0, p);
    }
  }
  unstall();
}

// ---- Write-back ----

bool LlcSlice::write_room(std::uint32_t victim) {
  return !tags_.occupied(victim) || tags_.dirty(victim) == 0 || write_.size(0) < level_.write_buffer;
}

/// A dirty victim goes to the write-back port.
void LlcSlice::make_room(std::uint32_t victim) {
  if (!tags_.occupied(victim)) return;
  if (c_.observer != nullptr) [[unlikely]]
    c_.observer->on_llc_leave(c_, id_, tags_.line(victim), tags_.dirty(victim));
  if (tags_.dirty(victim) == 0) return;
  c_.count[n_.writeback_sectors] += static_cast<unsigned>(std::popcount(tags_.dirty(victim)));
  write_back(tags_.line(victim), home_of_[victim], tags_.dirty(victim), tags_.valid(victim));
}

/// `valid`: sectors that are here whole.
void LlcSlice::write_back(LineAddr line, std::uint8_t home, std::uint8_t sectors, std::uint8_t valid) {
  const Packet p{.line = line,
                 .source = c_.chip,
                 .home = home,
                 .kind = PacketKind::writeback,
                 .sectors = sectors,
                 .flags = kToSlice,
                 .slice = number_,
                 .in_part = static_cast<std::uint8_t>(sectors & ~valid)};
  ++writebacks_;
  ++c_.count[n_.writebacks];
  write_.push(0, p);
  pump_write();
}

void LlcSlice::pump_write() {
  write_.pump(
      c_, {WaiterKind::slice_write, 0, id_}, EventKind::slice_write, [&](const Packet& p) { return &gate_below(p); },
      [&](const Packet& p, std::uint32_t, Cycle depart) {
        if (l2_) {
          send_below(p, depart);
        } else if (p.home == c_.chip) {
          channel(p.line).push(p);
        } else {
          c_.schedule(depart + c_.machine.link_to_fetcher, EventKind::egress_arrive, links_->channel_for(p), 0, p);
        }
        unstall();
        if (flushing()) c_.schedule(c_.now(), EventKind::slice_flush, id_);
      });
}

/// Where `p` needs a credit that goes on to the home: to its memory or, from an L2, to its LLC.
Gate& LlcSlice::gate_below(const Packet& p) {
  if (p.home != c_.chip) return links_->out_gate(links_->channel_for(p));
  return l2_ ? other_[c_.machine.map.slice(p.line)].gate(kFromSms) : channel(p.line).gate();
}

/// From an L2. All that leaves for the memory side does so in the order of these calls.
void LlcSlice::send_below(const Packet& p, Cycle depart) {
  const Cycle at = depart + level_.below;
  if (p.home == c_.chip) {
    c_.count[Counter::noc_l2_bytes] += c_.machine.bytes(p);
    other_[c_.machine.map.slice(p.line)].reach(at, kFromSms, p);
  } else {
    if (!p.has(kToSlice)) c_.count[Counter::noc_link_bytes] += c_.machine.bytes(p);
    c_.schedule(at, EventKind::egress_arrive, links_->channel_for(p), 0, p);
  }
}

void LlcSlice::begin_flush(Flush scope) {
  flush_ = scope;
  flush_next_ = 0;
  c_.schedule(c_.now(), EventKind::slice_flush, id_);
}

void LlcSlice::on_flush() {
  if (!flushing()) return;
  for (; flush_next_ < tags_.entries(); ++flush_next_) {
    if (!tags_.occupied(flush_next_)) continue;
    const bool replica = c_.machine.replicates && c_.machine.map.slice(tags_.line(flush_next_)) != id_;
    const bool local = home_of_[flush_next_] == c_.chip && !replica;
    const bool stays = (flush_ == Flush::clean && !replica) || (flush_ == Flush::settle && local);
    if ((flush_ == Flush::dirty || stays) && tags_.dirty(flush_next_) == 0) continue;
    if (flush_ == Flush::remote && local) continue;
    if (!write_room(flush_next_)) return;  // goes on when a write-back has left
    if (stays) {
      make_room(flush_next_);
      tags_.dirty(flush_next_) = 0;
      continue;
    }
    if (c_.observer != nullptr) [[unlikely]]
      c_.observer->on_llc_flush(c_, id_, tags_.line(flush_next_));
    make_room(flush_next_);
    take_out(flush_next_);
    ++c_.count[n_.flushed_lines];
  }
  flush_next_ = kNotFlushing;
}

// ---- Copies ----

Packet LlcSlice::to_chip(std::uint8_t chip, PacketKind kind, LineAddr line) const {
  return {.line = line, .source = c_.chip, .home = chip, .kind = kind, .flags = kToSlice, .slice = number_};
}

/// Answers another chip's read out of entry `i`.
bool LlcSlice::answer_chip(const Packet& p, std::uint32_t i) {
  tags_.touch(i);
  ++hits_, ++c_.count[Counter::llc_hits];
  count_access(p, LlcOutcome::hit);
  ++c_.count[Counter::llc_reads];
  respond(p, kLlcRemote);
  pump_out();
  return true;
}

/// Another chip has written the line. Data on the way here may be older than that.
bool LlcSlice::end_copy(LineAddr line) {
  const std::uint32_t e = mshr_.find(line);
  if (e != mshr_.kNone) mshr_[e].void_on_arrival = true;
  return drop_copy(line);
}

/// Forgets the line, if it is here. Sectors that only this slice has go home first.
bool LlcSlice::drop_copy(LineAddr line) {
  const std::uint32_t i = tags_.find(set(line), line);
  if (i == TagArray::kMiss) return false;
  if (c_.observer != nullptr) [[unlikely]]
    c_.observer->on_llc_flush(c_, id_, line);
  make_room(i);
  take_out(i);
  return true;
}

void LlcSlice::install(std::uint32_t i, LineAddr line, std::uint8_t home) {
  make_room(i);
  put(i, line, home);
}

void LlcSlice::warm(LineAddr line, std::uint8_t sectors) {
  const std::uint32_t s = set(line);
  std::uint32_t i = tags_.find(s, line);
  if (i == TagArray::kMiss) {
    put(i = tags_.victim(s), line, c_.chip);
  } else {
    tags_.touch(i);
  }
  tags_.valid(i) |= sectors;
}

void LlcSlice::put(std::uint32_t i, LineAddr line, std::uint8_t home) {
  if (tags_.occupied(i)) --held_[home_of_[i] != c_.chip];
  tags_.install(i, line);
  home_of_[i] = home;
  ++held_[home != c_.chip];
}

void LlcSlice::take_out(std::uint32_t i) {
  --held_[home_of_[i] != c_.chip];
  tags_.invalidate(i);
}

void LlcSlice::count_held() {
  held_ = {};
  for_each_line([this](LineAddr, std::uint8_t home) { ++held_[home != c_.chip]; });
}

std::string LlcSlice::describe_stall() const {
  std::string text;
  const std::string name = fmt::format("{}slice {}", l2_ ? "L2 " : "", number_);
  const std::string_view above = other_ != nullptr && !l2_ ? "the L2" : "SMs";
  for (std::uint32_t q = 0; q < 2; ++q) {
    const Input& in = in_[q];
    if (in.fifo.empty()) continue;
    text += fmt::format("{}: {} requests from {}{}\n", name, in.fifo.size(), q == kFromSms ? above : "links",
                        in.lined_up != nullptr ? ", the first waits for a credit of memory, link or response port"
                        : in.stalled           ? ", the first waits for an MSHR, write buffer or bypass entry"
                                               : "");
  }
  if (mshr_.in_use() != 0) text += fmt::format("{}: {} lines missing\n", name, mshr_.in_use());
  out_.for_each_used([&](std::uint32_t lane) {
    if (out_.waits(lane))
      text += fmt::format("{}: {} responses wait for the response crossbar or a link\n", name, out_.size(lane));
  });
  if (invalidations_ != 0) text += fmt::format("{}: {} invalidations not acknowledged\n", name, invalidations_);
  if (writebacks_ != 0) text += fmt::format("{}: {} write-backs under way\n", name, writebacks_);
  return text;
}

}  // namespace atl
