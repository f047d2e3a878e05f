#include "core/chip/dram/dram_channel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/engine/assert.hpp"

namespace atl {
namespace {

constexpr std::uint32_t kSectorBytes = 32;

/// Bursts that hold some sectors. They begin at multiples of their length, so that two sectors of one length may lie in
/// one or in two.
std::uint32_t bursts_of(std::uint32_t sectors, std::uint32_t burst_bytes) {
  if (burst_bytes <= kSectorBytes) return static_cast<std::uint32_t>(std::popcount(sectors)) * (kSectorBytes / burst_bytes);
  const std::uint32_t each = burst_bytes / kSectorBytes, firsts = 0xFF / ((1u << each) - 1);
  for (std::uint32_t n = 1; n < each; n *= 2) sectors |= sectors >> n;
  return static_cast<std::uint32_t>(std::popcount(sectors & firsts));
}

}  // namespace

DramCycles::DramCycles(const Machine& m) {
  const DramTiming& t = m.config.dram.timing;
  const auto cycles = [&](double clocks) {
    return static_cast<std::int64_t>(std::llround(clocks * m.config.core_clock_mhz / t.clock_mhz * (1 << kBits)));
  };
  ccd = cycles(t.ccd), ccdl = cycles(t.ccdl), rrd = cycles(t.rrd), rcd = cycles(t.rcd), ras = cycles(t.ras),
  rp = cycles(t.rp);
  rc = cycles(t.rc), cl = cycles(t.cl), wl = cycles(t.wl), cdlr = cycles(t.cdlr), wr = cycles(t.wr), rtp = cycles(t.rtp);
  faw = cycles(t.faw);
  // Longer than a full queue takes, were every request to open a row, and every bank to serve its cap of row hits first.
  starvation = ccd * m.config.dram.row_hit_cap * t.banks + rc * m.config.dram.queue;
}

DramChannel::DramChannel(Context& c, std::uint16_t id)
    : c_(c),
      id_(id),
      t_(c.machine),
      row_hit_cap_(c.machine.config.dram.row_hit_cap),
      bank_groups_(c.machine.config.dram.timing.bank_groups),
      gate_(c.machine.config.dram.queue),
      pool_(c.machine.config.dram.queue),
      bank_(c.machine.config.dram.timing.banks),
      candidate_(bank_.size()),
      group_(bank_.size()),
      group_column_(bank_groups_, -(Time{1} << 40)) {
  for (std::uint32_t sectors = 0; sectors < bursts_.size(); ++sectors)
    bursts_[sectors] = static_cast<std::uint8_t>(bursts_of(sectors, c.machine.config.dram.timing.burst_bytes));
  for (auto i = static_cast<std::uint32_t>(pool_.size()); i-- > 0;) free_.push_back(i);
  for (std::uint32_t i = 0; i < bank_.size(); ++i) group_[i] = i % bank_groups_;
  activates_.fill(-(Time{1} << 40));
}

void DramChannel::push(const Packet& p) {
  if (c_.observer != nullptr) [[unlikely]]
    c_.observer->on_memory(c_, id_, p);
  ATOLL_ASSERT(!free_.empty());  // the sender holds a credit
  require_course(!free_.empty());
  const std::uint32_t r = free_.back();
  free_.pop_back();
  const std::uint32_t bank = c_.machine.map.bank(p.line);
  pool_[r] = {p, order_++, now(), c_.machine.map.row(p.line), kNone, p.kind == PacketKind::writeback};
  Bank& b = bank_[bank];
  (b.first == kNone ? b.first : pool_[b.last].next) = r;
  b.last = r;
  if (b.chosen == kNone) {
    choose(bank);
    wake(column_time(bank));
  }
}

/// Picks the bank's next request: one in the direction in which the bus moves before one that turns it round, then one of
/// the open row, then the oldest. `row_hit_cap` picks in a row may pass an older request by.
void DramChannel::choose(std::uint32_t bank) {
  Bank& b = bank_[bank];
  const std::uint64_t bit = std::uint64_t{1} << bank;
  looked_ = false;
  b.chosen = b.first;
  if (b.chosen == kNone) {
    waiting_ &= ~bit;
    return;
  }
  const auto in_open_row = [&](std::uint32_t r) { return b.open && pool_[r].row == b.row; };
  if (b.hits < row_hit_cap_) {
    int best = 4;
    for (std::uint32_t r = b.first; r != kNone && best != 0; r = pool_[r].next) {
      const int rank = (pool_[r].write == writing_ ? 0 : 2) + (in_open_row(r) ? 0 : 1);
      if (rank < best) best = rank, b.chosen = r;
    }
  }
  b.hits = b.chosen == b.first ? 0 : b.hits + 1;
  if (in_open_row(b.chosen)) {
    ++c_.count[Counter::dram_row_hits];
  } else {
    prepare(bank);
  }
  candidate_[bank].order = pool_[b.chosen].order;
  waiting_ |= bit;
  writes_chosen_ = pool_[b.chosen].write ? writes_chosen_ | bit : writes_chosen_ & ~bit;
}

/// Closes the open row if there is one and activates the chosen request's.
void DramChannel::prepare(std::uint32_t bank) {
  Bank& b = bank_[bank];
  Time from = now();
  if (b.open) {
    ++c_.count[Counter::dram_row_conflicts];
    from = std::max(from, b.precharge_from);
    if (c_.observer != nullptr) [[unlikely]]
      c_.observer->on_dram_precharge(c_, id_, bank, from);
    from += t_.rp;
  } else {
    ++c_.count[Counter::dram_row_misses];
  }
  Time at = std::max({from, b.activated + t_.rc, last_activate_ + t_.rrd});
  if (t_.faw != 0) at = std::max(at, activates_[next_activate_] + t_.faw);
  activates_[next_activate_] = at;
  next_activate_ = (next_activate_ + 1) % 4;
  last_activate_ = at;
  b.activated = at;
  b.open = true;
  b.row = pool_[b.chosen].row;
  candidate_[bank].ready = at + t_.rcd;
  b.precharge_from = at + t_.ras;
  if (c_.observer != nullptr) [[unlikely]]
    c_.observer->on_dram_activate(c_, id_, bank, b.row, at);
}

/// Earliest column command that the bus allows, whatever the bank.
DramChannel::Time DramChannel::bus_time(bool write) const {
  const Time at = std::max(now(), last_column_ + t_.ccd);
  return write ? std::max(at, bus_free_ - t_.wl) : std::max({at, bus_free_ - t_.cl, last_write_end_ + t_.cdlr});
}

/// Earliest column command for the bank's chosen request.
DramChannel::Time DramChannel::column_time(std::uint32_t bank) const {
  return column_time(bank, bus_time((writes_chosen_ >> bank & 1) != 0));
}

void DramChannel::wake(Time at) {
  const Cycle cycle = std::max(c_.now(), static_cast<Cycle>(at >> DramCycles::kBits));
  if (cycle >= pick_at_) return;
  pick_at_ = cycle;
  c_.schedule(cycle, EventKind::dram_pick, id_);
}

/// Finds the bank whose data can start first, of several the one with the oldest request, and the oldest request of all.
/// Until a bank chooses anew they stay so: as time goes by, the others' data can only start later.
void DramChannel::look() {
  // After a write the bus stands still before it can be read again: writes gather until the reads would wait as long.
  const Time bus[2] = {bus_time(false), bus_time(true)};
  const Time to_data[2] = {t_.cl, t_.wl + (writing_ ? 0 : t_.cdlr + t_.cl)};
  // Without branches on what is found, which the host cannot foresee: first when data start, then whose it is.
  std::array<Time, kMostBanks> starts;
  Time first_start = std::numeric_limits<Time>::max();
  std::uint64_t oldest = ~std::uint64_t{0}, first = oldest;  // order of the request, bank
  for (std::uint64_t rest = waiting_; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<std::uint32_t>(std::countr_zero(rest));
    const bool write = (writes_chosen_ >> i & 1) != 0;
    starts[i] = column_time(i, bus[write]) + to_data[write];
    first_start = std::min(first_start, starts[i]);
    oldest = std::min(oldest, candidate_[i].order << kBankBits | i);
  }
  for (std::uint64_t rest = waiting_; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<std::uint32_t>(std::countr_zero(rest));
    const std::uint64_t later = starts[i] == first_start ? 0 : ~std::uint64_t{0};
    first = std::min(first, (candidate_[i].order << kBankBits | i) | later);
  }
  first_ = first % kMostBanks, oldest_ = oldest % kMostBanks;
  looked_ = true;
}

void DramChannel::on_pick() {
  if (c_.now() != pick_at_) return;  // an earlier one was scheduled since
  pick_at_ = kNever;
  const Time end_of_cycle = now() + (Time{1} << DramCycles::kBits);
  while (waiting_ != 0) {
    if (!looked_) look();
    const Time since = pool_[bank_[oldest_].chosen].arrived;
    const std::uint32_t next = now() - since > t_.starvation ? oldest_ : first_;
    const Time at = column_time(next);
    if (at >= end_of_cycle) return wake(at);
    serve(next, at, since);
  }
}

DramChannel::Time DramChannel::lost(Time waiting_since, Time bytes_move) const {
  const Time idle_channel = t_.rp + t_.rcd + t_.cl;
  return std::max<Time>(0, bytes_move - std::max(bus_free_, waiting_since + idle_channel));
}

void DramChannel::serve(std::uint32_t bank, Time at, Time waiting_since) {
  Bank& b = bank_[bank];
  const std::uint32_t r = b.chosen;
  const Request request = pool_[r];
  if (c_.observer != nullptr) [[unlikely]]
    c_.observer->on_dram_column(c_, id_, request.packet, at);
  const auto bytes = static_cast<std::uint32_t>(std::popcount(request.packet.sectors)) * kSectorBytes;
  const std::uint32_t bursts = bursts_[request.packet.sectors];
  const Time data = at + (request.write ? t_.wl : t_.cl), end = data + bursts * t_.ccd;
  last_column_ = group_column_[bank % bank_groups_] = at + (bursts - 1) * t_.ccd;
  writing_ = request.write;
  wanted_ += lost(waiting_since, data) + bursts * t_.ccd;
  bus_free_ = end;
  if (request.write) {
    last_write_end_ = end;
    b.precharge_from = std::max(b.precharge_from, end + t_.wr);
    ++writes_, ++c_.count[Counter::dram_writes];
    c_.count[Counter::dram_write_bytes] += bytes;
  } else {
    b.precharge_from = std::max(b.precharge_from, last_column_ + t_.rtp);
    ++reads_, ++c_.count[Counter::dram_reads];
    c_.count[Counter::dram_read_bytes] += bytes;
  }
  busy_ += bursts * t_.ccd;
  c_.count[Counter::dram_bus_busy] += static_cast<std::uint64_t>(busy_ >> DramCycles::kBits);
  busy_ &= (Time{1} << DramCycles::kBits) - 1;
  c_.count[Counter::dram_wanted] += static_cast<std::uint64_t>(wanted_ >> DramCycles::kBits);
  wanted_ &= (Time{1} << DramCycles::kBits) - 1;
  // The crossbar between slices and controllers is charged there and back with the answer: one event less for every read.
  const Cycle extra = c_.machine.config.dram.extra_latency_cycles + 2 * c_.machine.config.noc.memory_latency_cycles;
  c_.schedule(up(end) + (request.write ? 0 : extra), EventKind::dram_done, id_, 0, request.packet);

  std::uint32_t* link = &b.first;
  std::uint32_t before = kNone;
  while (*link != r) before = *link, link = &pool_[*link].next;
  *link = request.next;
  if (b.last == r) b.last = before;
  free_.push_back(r);
  c_.release(gate_);
  choose(bank);
}

std::string DramChannel::describe_stall() const {
  const std::size_t used = pool_.size() - free_.size();
  return used == 0 ? std::string{} : fmt::format("DRAM channel {}: {} requests queued\n", id_, used);
}

}  // namespace atl
