#pragma once
#include "core/chip/packet.hpp"
#include "core/stats/wait_census.hpp"
#include "inputs/workload/workload.hpp"

namespace atl {

/// One look at a chip: components tell it what everything in them waits for. Nothing simulated depends on it, and no event
/// is needed: it is taken between two of them.
struct Census {
  WaitCensus& to;
  Cycle now = 0;             ///< all events before it have been handled, no later one
  std::uint64_t weight = 1;  ///< cycles that it stands for

  static std::size_t index(Wait w) { return static_cast<std::size_t>(w); }
  void packets(std::uint8_t chip, PacketUse use, Wait wait, std::uint64_t number) {
    to.packets[chip][static_cast<std::size_t>(use)][index(wait)] += number * weight;
  }
  /// Write-backs and messages of protocols are nobody's to wait for.
  void packet(const Packet& p, Wait wait) {
    const bool data = p.kind == PacketKind::read || p.kind == PacketKind::read_data;
    const bool written = p.kind == PacketKind::write || p.kind == PacketKind::write_ack ||
                         (p.kind == PacketKind::atomic && (p.token & 0xFF) == kNoSlot);
    if (p.has(kToSlice)) {
      if (data) packets(p.source, PacketUse::fetch, wait, 1);
    } else {
      packets(p.source, written ? PacketUse::store : PacketUse::load, wait, 1);
    }
  }
  void under_way(PacketUse use, std::uint64_t number) { to.outstanding[static_cast<std::size_t>(use)] += number * weight; }
};

/// When a chip is looked at: at multiples of a period that doubles after so many looks, so that short runs are seen in
/// detail and long ones cost little. The first period is no power of two, which much in a machine repeats at.
class LookTimes {
 public:
  static constexpr Cycle kFirst = 251;
  static constexpr std::uint32_t kLooks = 512;  ///< with one period

  Cycle next() const { return next_; }
  /// Takes all looks before `until`, one at least, at which nothing will have changed; returns the cycles they stand for.
  std::uint64_t take(Cycle until) {
    std::uint64_t n = until > next_ ? (until - next_ + period_ - 1) / period_ : 1;
    if (n > kLooks - looks_) n = kLooks - looks_;
    const std::uint64_t weight = n * period_;
    looks_ += static_cast<std::uint32_t>(n);
    next_ += weight;
    if (looks_ == kLooks) looks_ = 0, period_ *= 2;
    return weight;
  }

 private:
  Cycle period_ = kFirst, next_ = kFirst;
  std::uint32_t looks_ = 0;
};

}  // namespace atl
