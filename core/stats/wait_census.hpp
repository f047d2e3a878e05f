#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "core/engine/archive.hpp"
#include "core/engine/types.hpp"

/// Who waits for what in one chip, counted at regular moments of simulated time: what a bottleneck stack is made from.
namespace atl {

/// What an issue slot, a warp or a packet waits for. A packet in a queue waits for what its queue's head waits for.
enum class Wait : std::uint8_t {
  no_warp,          ///< issue slots: the scheduler has no warp
  compute,          ///< a latency within the SM: arithmetic, shared memory
  memory,           ///< answers to loads and atomics, wherever these are
  stores,           ///< a warp that is done waits for the acknowledgements of its stores, wherever these are
  l1,               ///< the L1's port
  l1_mshr,          ///< an MSHR of the L1, or a place in one
  store_credit,     ///< the SM's limit of unacknowledged stores and atomics
  cluster,          ///< another L1 of the cluster (COLAB)
  page_home,        ///< the controller's answer to a first touch
  request,          ///< a cluster's port of the request crossbar
  l2,               ///< look-ups of an L2 slice
  slice,            ///< look-ups of an LLC slice
  llc_mshr,         ///< an MSHR of a slice, or an entry for reads that pass it by
  fetch,            ///< data of another chip, or of the LLC behind an L2, which the slice has asked for
  dram,             ///< this chip's memory
  response,         ///< a port of the response crossbar, at a slice or at a cluster
  link,             ///< bandwidth between this chip and another one
  request_credit,   ///< a free buffer for requests in the next chip
  response_credit,  ///< ... for responses
  coherence,        ///< a write's invalidations, or the owner of a line
  count_
};
inline constexpr std::size_t kWaits = static_cast<std::size_t>(Wait::count_);
using Waits = std::array<std::uint64_t, kWaits>;

/// Packets by who waits for them.
enum class PacketUse : std::uint8_t { load, store, fetch, count_ };  ///< fetch: asked for by a slice
inline constexpr std::size_t kPacketUses = static_cast<std::size_t>(PacketUse::count_);

/// What a chip does with its time between launch and end of a kernel.
enum class Span : std::uint8_t {
  running,       ///< it has CTAs
  changing,      ///< in the middle of a kernel: towards another organisation of the LLC
  draining,      ///< its CTAs have ended, not all of their requests
  waiting,       ///< until the other chips have drained, too
  flushing,      ///< writes lines back
  invalidating,  ///< waits for the last invalidations
  idle,          ///< done
  count_
};
inline constexpr std::size_t kSpans = static_cast<std::size_t>(Span::count_);

/// One chip during one kernel. Everything from `slots` on is weighted by the cycles that a look stands for.
struct WaitCensus {
  std::array<std::uint64_t, kSpans> span{};          ///< cycles, exact
  std::uint64_t issued = 0;                          ///< issue slots used, exact
  std::uint64_t l1_hits = 0, local = 0, remote = 0;  ///< loads that hit; requests by their home; exact
  std::uint64_t memory_reads = 0;                    ///< served by this chip's memory, exact

  Waits slots{};  ///< issue slots of schedulers that cannot issue, in units of 1 / kSlot
  std::array<std::uint64_t, kPacketUses> outstanding{};  ///< this chip's requests under way
  std::uint64_t outstanding_at_home = 0;                 ///< of the loads: while homes serve them (memory-side)
  std::array<Waits, 2> arrived{};                        ///< requests, responses from links, in this chip's buffers
  std::uint64_t memory_owes = 0;                         ///< reads under way at this chip's memory
  std::vector<std::array<Waits, kPacketUses>> packets;   ///< [chip that asked] in this chip's queues and MSHRs

  static constexpr std::uint64_t kSlot = 5040;  ///< a scheduler's slot is divided among its warps

  explicit WaitCensus(std::size_t chips = 0) : packets(chips) {}

  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, span, issued, l1_hits, local, remote, memory_reads, slots, outstanding, outstanding_at_home, arrived,
          memory_owes);
    state(a, packets);
  }
  /// All members in order, for messages.
  template <class Value> void each(Value&& v) {
    for (auto& x : span) v(x);
    v(issued), v(l1_hits), v(local), v(remote), v(memory_reads);
    for (auto& x : slots) v(x);
    for (auto& x : outstanding) v(x);
    v(outstanding_at_home);
    for (Waits& w : arrived)
      for (auto& x : w) v(x);
    v(memory_owes);
    for (auto& chip : packets)
      for (Waits& w : chip)
        for (auto& x : w) v(x);
  }
};

/// Censuses of successive kernels as a row of numbers, and back.
std::vector<std::uint64_t> flatten(std::vector<WaitCensus> kernels);
std::vector<WaitCensus> unflatten(const std::vector<std::uint64_t>& numbers, std::size_t chips);

}  // namespace atl
