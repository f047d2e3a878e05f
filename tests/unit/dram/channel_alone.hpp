#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/chip/dram/dram_channel.hpp"
#include "dram_rules.hpp"

namespace atl::test {

/// A request for a channel, in the terms of the device.
struct DramRequest {
  Cycle at = 0;
  std::uint32_t bank = 0, row = 0;
  bool write = false;
  std::uint8_t sectors = 0xF;
};

/// Timings that no sum of others equals by chance. RC exceeds RAS + RP, and FAW exceeds four times RRD: both can decide.
inline constexpr DramTiming kPrimes{.clock_mhz = 1000,
                                    .burst_bytes = 128,
                                    .banks = 16,
                                    .bank_groups = 4,
                                    .ccd = 3,
                                    .ccdl = 8,
                                    .rrd = 5,
                                    .rcd = 13,
                                    .ras = 29,
                                    .rp = 11,
                                    .rc = 47,
                                    .cl = 17,
                                    .wl = 6,
                                    .cdlr = 9,
                                    .wr = 23,
                                    .rtp = 7,
                                    .faw = 31};

/// One channel of one chip with this timing. Channel, bank and row lie in neighbouring bits of an address.
inline SystemConfig one_channel(const DramTiming& timing, double core_clock_mhz) {
  SystemConfig c;
  c.chips = 1, c.core_clock_mhz = core_clock_mhz, c.line_bytes = 128;
  c.llc.slices = 1, c.noc.memory_latency_cycles = 3;
  c.dram.channels = 1, c.dram.extra_latency_cycles = 41, c.dram.row_bytes = 256;
  c.dram.timing = timing;
  c.partition.mapping = Mapping::interleaved;
  return c;
}

/// A DRAM channel with an event queue and nothing else of a chip, which has answered these requests: its commands in the
/// order of planning, and when it answered.
class ChannelAlone final : public ChipObserver {
 public:
  /// Presents the requests in this order, each at its cycle or when the queue has room, and runs until all are answered.
  ChannelAlone(const SystemConfig& config, std::vector<DramRequest> requests)
      : machine_(config),
        context_{machine_, 0},
        channel_(context_, 0),
        requests_(std::move(requests)),
        answered_(requests_.size(), kNever) {
    context_.observer = this;
    for (std::uint32_t i = 0; i < requests_.size(); ++i) {
      context_.schedule(requests_[i].at, EventKind::slice_arrive, 0, 0, packet(i));
    }
    context_.queue.run_until(kNever, [&](Cycle, const Event& e) { handle(e); });
    const auto left = std::count(answered_.begin(), answered_.end(), kNever);
    if (!channel_.credits_home() || left != 0) throw std::logic_error("requests are left without an answer");
  }

  ChannelAlone(const ChannelAlone&) = delete;

  const std::vector<DramRequest>& requests() const { return requests_; }
  const std::vector<DramCommand>& commands() const { return commands_; }
  const std::vector<std::uint32_t>& served() const { return served_; }  ///< requests in the order of column commands
  const std::vector<Cycle>& answered() const { return answered_; }      ///< cycle, by request
  std::uint64_t counted(Counter counter) const { return context_.count[counter]; }

  /// When the commands of this kind are, in clocks.
  std::vector<double> all(DramCommand::Kind kind) const {
    std::vector<double> at;
    for (const DramCommand& c : commands_) {
      if (c.kind == kind) at.push_back(c.at);
    }
    return at;
  }

  void on_dram_precharge(const Context&, std::uint32_t, std::uint32_t bank, std::int64_t at) override {
    commands_.push_back({DramCommand::precharge, bank, 0, 0, clocks(at)});
  }
  void on_dram_activate(const Context&, std::uint32_t, std::uint32_t bank, std::uint32_t row, std::int64_t at) override {
    commands_.push_back({DramCommand::activate, bank, row, 0, clocks(at)});
  }
  void on_dram_column(const Context&, std::uint32_t, const Packet& p, std::int64_t at) override {
    const DramRequest& r = requests_.at(p.token);
    const auto bytes = static_cast<std::uint32_t>(std::popcount(r.sectors)) * 32, burst = timing().burst_bytes;
    commands_.push_back(
        {r.write ? DramCommand::write : DramCommand::read, r.bank, r.row, (bytes + burst - 1) / burst, clocks(at)});
    served_.push_back(p.token);
  }

 private:
  const DramTiming& timing() const { return machine_.config.dram.timing; }
  double clocks(std::int64_t at) const {
    return std::ldexp(static_cast<double>(at), -static_cast<int>(DramCycles::kBits)) * timing().clock_mhz /
           machine_.config.core_clock_mhz;
  }
  Packet packet(std::uint32_t i) const {
    const DramRequest& r = requests_[i];
    Packet p;
    p.line = {(std::uint64_t{r.row} * timing().banks + r.bank) *
              (machine_.config.dram.row_bytes / machine_.config.line_bytes)};
    p.token = i, p.sectors = r.sectors;
    p.kind = r.write ? PacketKind::writeback : PacketKind::read;
    return p;
  }
  void handle(const Event& e) {
    switch (e.kind) {
      case EventKind::slice_arrive:
        if (channel_.gate().acquire()) return channel_.push(e.packet);
        channel_.gate().wait({WaiterKind::slice_queue, 0, 0});
        return waiting_.push_back(e.packet);
      case EventKind::resume:
        channel_.push(waiting_.front());
        return waiting_.pop_front();
      case EventKind::dram_pick:
        return channel_.on_pick();
      case EventKind::dram_done:
        if (answered_.at(e.packet.token) != kNever) throw std::logic_error("a request is answered twice");
        answered_[e.packet.token] = context_.now();
        return;
      default:
        throw std::logic_error("an event that is no channel's");
    }
  }

  const Machine machine_;
  Context context_;
  DramChannel channel_;
  const std::vector<DramRequest> requests_;
  std::deque<Packet> waiting_;
  std::vector<DramCommand> commands_;
  std::vector<std::uint32_t> served_;
  std::vector<Cycle> answered_;
};

}  // namespace atl::test
