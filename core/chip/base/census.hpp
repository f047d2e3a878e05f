#pragma once
#include "core/chip/base/packet.hpp"
#include "core/stats/counters.hpp"
#include "core/stats/wait_census.hpp"
#include "inputs/workload/workload.hpp"

namespace atl {

/// One look at a chip: components tell it what everything in them waits for. Nothing simulated depends on it, and no event
/// is needed: it is taken between two of them.
struct Census {
  WaitCensus& to;
  Counters& depth;           ///< of queues
  Cycle now = 0;             ///< all events before it have been handled, no later one
  std::uint64_t weight = 1;  ///< cycles that it stands for

  /// So many are in a queue of this kind.
  void queued(Counter queue, std::uint64_t number) { depth[queue] += number * weight; }

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

}  // namespace atl
