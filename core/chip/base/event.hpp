#pragma once
#include "core/chip/base/gate.hpp"
#include "core/chip/base/packet.hpp"
#include "core/engine/digest.hpp"

namespace atl {

enum class EventKind : std::uint8_t {
  warp_ready,       ///< index: SM, sub: warp
  issue,            ///< index: SM, sub: scheduler
  access_done,      ///< index: SM, sub: warp, packet.token: slot; L1 hit or shared-memory result
  lsu,              ///< index: SM, sub: kHitsOnly or 0; the load-store unit can take its next access
  l1_fill,          ///< index: SM; packet: response at the SM; sub: 1 from a neighbour's L1
  request_port,     ///< index: cluster port; its bandwidth is free again
  response_port,    ///< index: cluster port of the response crossbar
  response_arrive,  ///< index: cluster port of the response crossbar; packet
  slice_arrive,     ///< index: slice, sub: queue; packet
  slice,            ///< index: slice; look on
  slice_out,        ///< index: slice; its response port is free again
  slice_write,      ///< index: slice; its write-back port is free again
  slice_flush,      ///< index: slice; write back and invalidate the next lines
  dram_pick,        ///< index: channel
  dram_done,        ///< index: channel; packet
  egress_arrive,    ///< index: virtual channel; packet
  egress,           ///< index: link port; its bandwidth is free again
  ingress_arrive,   ///< index: virtual channel; packet
  ingress,          ///< index: link port; its crossbar side is free again
  credits_arrive,   ///< index: virtual channel, packet.token: number
  credits_send,     ///< return the credits of freed buffers
  resume,           ///< index and sub: a Waiter that was given its credit
  dispatch,         ///< place the next CTA
  touch_send,       ///< report first touches to the controller
  control,          ///< index: which parked control message takes effect
  sample,           ///< send the counters
  epoch,            ///< packet.token: modes it belongs to; report the epoch to the controller's policy
  slice_acks,       ///< index: slice; acknowledge the invalidations taken
  cluster_table,    ///< index: cluster; packet: read whose look-up in the ownership table is done
  cluster_access,   ///< index: SM; its L1 may look on for neighbours
  cluster_miss,     ///< index: SM; packet: read of a neighbour that its L1 did not have
};

inline constexpr std::uint8_t kHitsOnly = 1;  ///< of EventKind::lsu: an observer is to see the hits until now (sm_hits.cpp)

/// What a chip's event queue holds. 40 bytes.
struct Event {
  using PlainState = void;
  Packet packet{};
  std::uint16_t index = 0;
  EventKind kind{};
  std::uint8_t sub = 0;
  std::uint32_t unused = 0;
};
static_assert(sizeof(Event) == 40);

inline Event resumption(const Waiter& w) {
  Event e{{}, w.index, EventKind::resume, w.sub};
  e.packet.token = static_cast<std::uint32_t>(w.kind);
  return e;
}

/// For digests: the event and when it was handled.
inline std::uint64_t hash_of(Cycle at, const Event& e) {
  return Digest::mixed(at << 24 ^ std::uint64_t{e.index} << 8 ^ static_cast<std::uint64_t>(e.kind) ^
                           std::uint64_t{e.sub} << 56 ^ e.packet.word0(),
                       e.packet.word1());
}

}  // namespace atl
