#include "core/chip/llc/llc_slice.hpp"
#include "core/chip/noc/links.hpp"

// What stores, write-backs and atomics do in an LLC slice that takes them (llc_slice.cpp).
namespace atl {

void LlcSlice::count_write(const Packet& p, bool hit) {
  ++c_.count[hit ? n_.hits : n_.misses], ++c_.count[n_.writes];
  hits_ += hit;
  count_access(p, hit ? LlcOutcome::hit : LlcOutcome::fetch);
}

/// Writes validate what they touch without fetching the rest of the line.
bool LlcSlice::write(const Packet& p, std::uint32_t queue) {
  if (c_.replication.all_lines) return write_to_memory(p, queue);
  const std::uint32_t s = set(p.line);
  std::uint32_t i = tags_.find(s, p.line);
  const bool hit = i != TagArray::kMiss;
  // Under split, write-backs may wait for a link; requests of other chips may not.
  const bool never_waits = queue == kFromLinks && c_.role == LlcRole::split;
  if (!hit && !write_room(i = victim(s, p.home)) && !never_waits) return stall(queue);
  if (!response_room(p)) return stall(queue);
  const bool announce = uses_full_map() && full_map_->announces(*this, p, i, hit);
  if (announce && write_.size(0) >= level_.write_buffer) return stall(queue);
  if (!hit) install(i, p.line, p.home);
  if (announce) full_map_->announce_write(*this, p);
  put_written(i, p);
  tags_.dirty(i) |= p.sectors;
  count_write(p, hit);
  respond(p, 0);
  pump_out();
  return true;
}

/// A private LLC writes through, since any of its slices may be asked for the line next (Adaptive): a copy here is updated,
/// none is made, and memory takes the data.
bool LlcSlice::write_to_memory(const Packet& p, std::uint32_t queue) {
  if (!response_room(p) || write_.size(0) >= c_.machine.config.llc.write_buffer) return stall(queue);
  const std::uint32_t i = tags_.find(set(p.line), p.line);
  const bool hit = i != TagArray::kMiss;
  if (hit) put_written(i, p);
  count_write(p, hit);
  write_back(p.line, p.home, p.sectors, p.sectors);  // to memory, which fetches nothing
  respond(p, 0);
  pump_out();
  return true;
}

/// A write to another chip's line, or through an L2, goes on to its home, which acknowledges it; a copy here is updated,
/// none is made (MCM-GPU section 5.1 for the L1.5).
bool LlcSlice::write_through(const Packet& p, std::uint32_t queue) {
  if (l2_ && write_.size(0) != 0) return stall(queue);  // behind an atomic, whose line it may be
  if (!take(gate_below(p), queue)) return false;
  const std::uint32_t i = tags_.find(set(p.line), p.line);
  const bool hit = i != TagArray::kMiss;
  if (hit) put_written(i, p);
  pass_to_home(p, hit);
  return true;
}

void LlcSlice::pass_to_home(const Packet& p, bool hit) {
  count_write(p, hit);
  if (l2_) return send_below(p, write_.server.serve(c_.now(), c_.machine.bytes(p)));
  if (c_.machine.shared_network) out_.server.serve(c_.now(), c_.machine.bytes(p));
  c_.count[Counter::noc_link_bytes] += c_.machine.bytes(p);
  c_.schedule(c_.now() + c_.machine.config.noc.memory_latency_cycles, EventKind::egress_arrive, links_->channel_for(p), 0,
              p);
}

/// A sector written in part is not valid afterwards unless it was before: its first reader fetches it.
void LlcSlice::put_written(std::uint32_t i, const Packet& p) {
  tags_.touch(i);
  if (!sectored_) {
    tags_.valid(i) = c_.machine.full_line;
  } else if (!p.has(kPartialWrite)) {
    tags_.valid(i) |= static_cast<std::uint8_t>(p.sectors & ~p.in_part);
  }
}

bool LlcSlice::atomic(const Packet& p, std::uint32_t queue) {
  const std::uint32_t i = tags_.find(set(p.line), p.line);
  const std::uint8_t valid = i == TagArray::kMiss ? 0 : tags_.valid(i);
  LlcOutcome outcome = LlcOutcome::hit;
  if ((p.sectors & ~valid) == 0) {
    if (!response_room(p)) return stall(queue);
    end_copies(p);
    tags_.touch(i);
    tags_.dirty(i) |= p.sectors;
    ++hits_, ++c_.count[Counter::llc_hits];
    respond(p, p.source == c_.chip ? 0 : kLlcRemote);
    pump_out();
  } else if (!miss(p, queue, valid, outcome)) {
    return false;
  } else if (i != TagArray::kMiss) {
    tags_.touch(i);
  }
  count_access(p, outcome);
  ++c_.count[Counter::llc_atomics];
  return true;
}

/// Atomics execute at the home's LLC. What this L2 has of the line goes there ahead of them, by the same queue.
bool LlcSlice::pass_atomic(const Packet& p, std::uint32_t queue) {
  if (write_.size(0) >= level_.write_buffer) return stall(queue);
  if (c_.observer != nullptr) [[unlikely]]
    c_.observer->on_llc_lookup(c_, id_, p, LlcOutcome::bypass);
  ++c_.count[Counter::l2_atomics];
  end_copy(p.line);
  write_.push(0, p);
  pump_write();
  return true;
}

/// An atomic has executed at the home: all copies end, that of the chip that asked for it too.
void LlcSlice::end_copies(const Packet& atomic) {
  if (uses_full_map()) full_map_->announce_write(*this, atomic);
  if (uses_home_directory()) home_->atomic(atomic.line);
}

}  // namespace atl
