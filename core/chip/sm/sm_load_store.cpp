#include <fmt/format.h>

#include <bit>

#include "core/chip/noc/request_network.hpp"
#include "core/chip/sm/cluster_sharing.hpp"
#include "core/chip/sm/sm.hpp"
#include "core/engine/prefetch.hpp"

// The load-store unit of an SM: presents accesses to the L1, sends what misses, takes responses.
namespace atl {

void Sm::on_load_store_unit() {
  if (!lsu_timed_ || lsu_due_ != c_.now()) return;
  lsu_timed_ = false;
  catch_up();
  run_load_store_unit();
}

void Sm::on_credit() {
  credit_held_ = std::exchange(credit_wanted_, nullptr);
  c_.count[Counter::sm_port_stall] += c_.now() - stalled_from_;
  run_load_store_unit();
}

void Sm::run_load_store_unit() {
  while (!lsu_.empty() && !lsu_stalled_ && credit_wanted_ == nullptr) {
    if (lsu_free_ > c_.now()) return await_load_store_unit();
    if (neighbours_ != 0 && neighbours_first()) [[unlikely]] {
      look_up_for_neighbour();
      continue;
    }
    const std::uint32_t warp = lsu_.front();
    const Op& op = op_of(warp_[warp]);
    if (lsu_at_.access < op.accesses && !present(warp, op, access_of(warp, op, lsu_at_.access))) return;
    if (lsu_at_.access >= op.accesses) {
      lsu_.pop();
      lsu_at_ = {};
      if (op_hits_) end_hits(warp, op);
      if (!lsu_.empty()) prefetch_op(warp_[lsu_.front()]);
      if (lsu_.size() > 1) prefetch_address(&warp_[lsu_.at(1)]);
      advance(warp, c_.now() + std::max<std::uint32_t>(1, op.latency));
    }
  }
}

void Sm::await_load_store_unit() {
  if (lsu_timed_) return;
  lsu_timed_ = true;
  look_ahead();
  lsu_due_ = lsu_free_ + hits_ahead_;
  c_.schedule(lsu_due_, EventKind::lsu, id_);
}

Access Sm::access_of(std::uint32_t warp, const Op& op, std::uint32_t access) const {
  const Access a = code_[warp_[warp].cta].accesses[op.first_access + access];
  return (op.flags & kLocal) != 0 ? local_.locate(a, warp) : a;
}

/// The first line from `part` on, which becomes its number, of which the access wants anything. No sectors: there is none.
Sm::Part Sm::part_of(Access a, std::uint32_t& part) const {
  const Machine& m = c_.machine;
  if (m.line_sectors == Access::kSectors) [[likely]]
    return {{a.block()}, static_cast<std::uint8_t>(a.sectors())};
  const std::uint32_t parts = Access::kSectors / m.line_sectors;
  for (; part < parts; ++part) {
    const auto sectors = static_cast<std::uint8_t>(a.sectors() >> (part * m.line_sectors) & m.full_line);
    if (sectors != 0) return {{a.block() * parts + part}, sectors};
  }
  return {};
}

Sm::Place Sm::behind(Access a, Place at) const {
  if (c_.machine.line_sectors == Access::kSectors) [[likely]]
    return {at.access + 1, 0};
  ++at.part;
  const std::uint32_t sectors = at.part * c_.machine.line_sectors;
  return sectors < Access::kSectors && a.sectors() >> sectors != 0 ? at : Place{at.access + 1, 0};
}

/// Presents the next line of access `a`. False: the unit has to wait, and is called again.
bool Sm::present(std::uint32_t warp, const Op& op, Access a) {
  const auto [line, sectors] = part_of(a, lsu_at_.part);
  if (sectors != 0) {
    if (c_.paused) [[unlikely]] {
      lsu_stalled_ = true;
      stalled_from_ = kNever;
      if (credit_held_ != nullptr) c_.release(*std::exchange(credit_held_, nullptr));
      return false;
    }
    const bool taken = op.kind == OpKind::load && l1_.enabled() && (op.flags & kBypassL1) == 0
                           ? load(warp, op, line, sectors)
                           : send_unacknowledged(warp, op,
                                                 op.kind == OpKind::load    ? PacketKind::read
                                                 : op.kind == OpKind::store ? PacketKind::write
                                                                            : PacketKind::atomic,
                                                 line, sectors);
    if (!taken) return false;
    if (credit_held_ != nullptr) c_.release(*std::exchange(credit_held_, nullptr));  // the line came meanwhile
    c_.count[Counter::l1_sector_accesses] += static_cast<unsigned>(std::popcount(sectors));
    lsu_free_ = c_.now() + 1;
    own_last_ = true;
  }
  lsu_at_ = behind(a, lsu_at_);
  found_.next_known = false;
  return true;
}

static std::uint8_t read_only(const Op& op) {
  return static_cast<std::uint8_t>((op.flags & kReadOnly) != 0 ? kReadOnlyData : 0);
}

bool Sm::load(std::uint32_t warp, const Op& op, LineAddr line, std::uint8_t sectors) {
  const auto l = l1_.lookup(line, sectors, found_.next_known ? found_.next : l1_.find(line));
  if (l.outcome == L1Outcome::stall) {
    stall();
    return false;
  }
  Packet p = make_request(PacketKind::read, line, l.fetch, warp << 16, read_only(op));
  bool in_cluster = false;
  if (l.outcome == L1Outcome::fetch) {
    // Once refused by the table, a miss that lined up for the network goes there.
    in_cluster = cluster_ != nullptr && credit_held_ == nullptr && cluster_->has_room(id_);
    if (!in_cluster && !credit_for(p)) return false;
  }
  if (c_.observer != nullptr) [[unlikely]]
    c_.observer->on_l1_load(c_, id_, line, sectors, l.outcome);
  ++c_.count[Counter::l1_accesses];
  if (l.outcome == L1Outcome::hit) {
    take_hits(warp, op, 1, c_.now());
    return true;
  }
  part_begins(warp, op.slot);
  const std::uint32_t entry = l1_.wait_for(
      l, line, {.warp = static_cast<std::uint8_t>(warp), .slot = op.slot, .sectors = sectors, .issued = p.born});
  if (l.outcome == L1Outcome::merge) {
    ++c_.count[Counter::l1_merges];
    return true;
  }
  ++c_.count[Counter::l1_misses];
  c_.count[Counter::l1_sector_misses] += static_cast<unsigned>(std::popcount(l.fetch));
  p.token |= entry;
  if (cluster_ != nullptr) [[unlikely]]
    cluster_->on_miss(p, in_cluster);
  if (in_cluster) {
    cluster_->take(p);
  } else {
    network_.request(p);
  }
  return true;
}

/// Stores, atomics, and loads that pass the L1 by. Such loads may be as many as lines that the L1 may miss.
bool Sm::send_unacknowledged(std::uint32_t warp, const Op& op, PacketKind kind, LineAddr line, std::uint8_t sectors) {
  const L1Config& l1 = c_.machine.config.l1;
  if (kind == PacketKind::read ? passing_ >= l1.mshrs : unacknowledged_ - passing_ >= l1.pending_stores) {
    stall();
    return false;
  }
  if (cluster_ != nullptr && kind != PacketKind::read && cluster_->holds(id_, line)) [[unlikely]] {
    stall();
    behind_read_ = true;
    return false;
  }
  const auto data = static_cast<std::uint8_t>(kind == PacketKind::read ? read_only(op) : 0);
  Packet p = make_request(kind, line, sectors, warp << 8 | kNoSlot, kDirect | data);
  if (!credit_for(p)) return false;
  ++unacknowledged_;
  passing_ += kind == PacketKind::read;
  if (c_.machine.config.sm.exit_waits && kind != PacketKind::read && op.slot == kNoSlot) ++warp_[warp].stores;
  if (kind == PacketKind::write) {
    if ((op.flags & kPartial) != 0) p.flags |= kPartialWrite;
    ++c_.count[Counter::l1_stores];
    c_.count[Counter::l1_store_sectors] += static_cast<unsigned>(std::popcount(sectors));
    if (l1_.enabled()) store_in_l1(op, line, sectors);
    if (c_.observer != nullptr) [[unlikely]]
      c_.observer->on_l1_store(c_, id_, line);
  } else {
    if (kind == PacketKind::atomic) {
      if (l1_.enabled()) l1_.atomic(line);
      if (c_.observer != nullptr) [[unlikely]]
        c_.observer->on_l1_atomic(c_, id_, line);
    }
    p.token = warp << 8 | op.slot;
    awaited_ += kind == PacketKind::read || op.slot != kNoSlot;
    part_begins(warp, op.slot);
  }
  if (cluster_ != nullptr && kind != PacketKind::read) [[unlikely]]
    cluster_->on_write(id_, line, kind == PacketKind::write);
  network_.request(p);
  return true;
}

/// What a warp spills it loads again: local memory is allocated, where no neighbour relies on what an L1 holds.
void Sm::store_in_l1(const Op& op, LineAddr line, std::uint8_t sectors) {
  const bool allocate = (op.flags & (kLocal | kPartial | kBypassL1)) == kLocal && cluster_ == nullptr &&
                        c_.machine.config.l1.local_stores == LocalStores::allocate;
  allocate ? l1_.allocate(line, sectors) : l1_.store(line);
}

/// The packet's home, and a credit of the cluster port's queue in its direction.
bool Sm::credit_for(Packet& p) {
  Gate* gate = network_.gate_for(p);
  if (gate == nullptr) return true;
  if (credit_held_ == gate) {
    credit_held_ = nullptr;
    return true;
  }
  if (gate->acquire()) return true;
  gate->wait({WaiterKind::sm, 0, id_});
  credit_wanted_ = gate;
  stalled_from_ = c_.now();
  return false;
}

/// The L1 cannot take the head: it has no MSHR, merge place or store credit, or must keep the order of a line's requests.
void Sm::stall() {
  lsu_stalled_ = true;
  stalled_from_ = c_.now();
  ++c_.count[Counter::l1_stalls];
}

Packet Sm::make_request(PacketKind kind, LineAddr line, std::uint8_t sectors, std::uint32_t token,
                        std::uint8_t flags) const {
  Packet p{.line = line,
           .token = token,
           .born = static_cast<std::uint32_t>(c_.now()),
           .sm = id_,
           .source = c_.chip,
           .kind = kind,
           .sectors = sectors,
           .flags = flags};
  p.slice = static_cast<std::uint8_t>(c_.slice(p));
  return p;
}

/// What a load waited for has arrived; where the port to the registers is bounded, it takes it in its turn.
void Sm::deliver(const L1Cache::Waiter& w) {
  Cycle at = c_.now();
  if (const std::uint32_t width = c_.machine.config.l1.reply_sectors; width != 0) {
    replies_free_ = std::max(replies_free_, at * width) + static_cast<unsigned>(std::popcount(w.sectors));
    at = (replies_free_ - 1) / width;  // the cycle in which the last of its sectors goes
  }
  ++c_.count[Counter::loads_completed];
  c_.count[Counter::load_latency_cycles] += static_cast<std::uint32_t>(at) - w.issued;
  if (at == c_.now()) return part_done(w.warp, w.slot);
  part_done_at(at, w.warp, w.slot);
}

void Sm::on_response(const Packet& p, bool from_neighbour) {
  catch_up();
  const auto done = [this](const L1Cache::Waiter& w) { deliver(w); };
  if (p.has(kDirect)) {
    --unacknowledged_;
    if (c_.machine.config.sm.exit_waits && p.kind != PacketKind::read_data && (p.token & 0xFF) == kNoSlot)
      on_store_done(p.token >> 8);
    if (p.kind == PacketKind::read_data) {
      --passing_;
      ++c_.count[Counter::loads_completed];
      c_.count[Counter::load_latency_cycles] += static_cast<std::uint32_t>(c_.now()) - p.born;
    }
    if (p.kind != PacketKind::write_ack) {
      --awaited_;
      part_done(p.token >> 8, p.token & 0xFF);
    }
  } else if (from_neighbour) {
    cluster_->on_arrival(p);
    l1_.pass_on(p.token & 0xFFFF, p.sectors, done);
  } else {
    if (c_.observer != nullptr) [[unlikely]]
      c_.observer->on_l1_fill(c_, id_, p.line, p.sectors);
    if ((p.home != c_.chip && !c_.machine.l1_keeps_remote) || l1_.stale(p.token & 0xFFFF)) {
      l1_.pass_on(p.token & 0xFFFF, p.sectors, done);
    } else {
      const auto [at, replaced] = l1_.fill(p.token & 0xFFFF, p.sectors, done);
      found_.next_known = false;
      if (replaced && hits_ahead_ != 0) on_replaced(at);
      if (cluster_ != nullptr) [[unlikely]]
        cluster_->on_fill(p, replaced);
    }
  }
  retry();
}

void Sm::retry() {
  if (!lsu_stalled_) return;
  lsu_stalled_ = behind_read_ = false;
  if (stalled_from_ != kNever) c_.count[Counter::sm_reply_stall] += c_.now() - stalled_from_;
  run_load_store_unit();
}

// ---- The L1's port, shared with neighbours (COLAB) ----

void Sm::on_read_gone() {
  if (behind_read_) retry();
}

void Sm::serve_neighbours() {
  while (neighbours_ != 0) {
    const Cycle at = std::max(lsu_free_, cluster_->room_from(id_));
    if (at > c_.now()) return cluster_->call_at(id_, at);
    if (own_first()) return cluster_->call_at(id_, c_.now() + 1);
    look_up_for_neighbour();
  }
}

/// Of the port's two users, if both want it.
bool Sm::neighbours_turn() const {
  switch (c_.machine.config.cluster.arbitration) {
    case L1Arbitration::colab_first:
      return true;
    case L1Arbitration::local_first:
      return false;
    case L1Arbitration::round_robin:
      return own_last_;
  }
  return true;
}

bool Sm::neighbours_first() const { return neighbours_turn() && cluster_->room_from(id_) <= c_.now(); }

/// The load-store unit presents an access in this cycle, by an event that is still to come, and it is its turn.
bool Sm::own_first() const { return !neighbours_turn() && !lsu_.empty() && !lsu_stalled_ && credit_wanted_ == nullptr; }

void Sm::look_up_for_neighbour() {
  lsu_free_ = c_.now() + 1;
  own_last_ = false;
  --neighbours_;
  cluster_->look_up(id_);
}

std::string Sm::describe_stall() const {
  if (resident_ == 0 && unacknowledged_ == 0 && l1_.outstanding() == 0) return {};
  std::string text = fmt::format("SM {}: {} CTAs, {} lines missing in L1, {} stores and atomics unacknowledged", id_,
                                 resident_, l1_.outstanding(), unacknowledged_);
  if (credit_wanted_ != nullptr) text += "; load-store unit waits for its cluster's request port";
  if (lsu_stalled_) text += "; load-store unit waits for an MSHR or a store credit";
  return text;
}

}  // namespace atl
