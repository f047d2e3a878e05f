#pragma once
#include "core/chip/base/packet.hpp"

namespace atl {

struct Context;
struct Event;

/// What an access of an L1 met.
enum class L1Outcome : std::uint8_t { hit, merge, fetch, stall };

/// What a look-up of a slice met. A `bypass` passed the tags by.
enum class LlcOutcome : std::uint8_t { hit, merge, fetch, bypass };

/// Sees what passes through a chip at a few named points, for statistics and validation. Costs a predicted branch while
/// absent.
class ChipObserver {
 public:
  virtual ~ChipObserver() = default;
  /// Whether on_l1_load() of a hit must come before any event of the next cycle. Else it may come later, but before
  /// anything changes in that L1.
  virtual bool sees_each_hit() const { return true; }
  /// Before the event is handled.
  virtual void on_event(const Context&, const Event&) {}
  /// The chip has emptied its L1s and is about to start CTAs of this kernel.
  virtual void on_kernel_start(const Context&, std::uint64_t /*kernel*/) {}
  /// An access that the L1 took, stalls excepted.
  virtual void on_l1_load(const Context&, std::uint32_t /*sm*/, LineAddr, std::uint8_t /*sectors*/, L1Outcome) {}
  virtual void on_l1_store(const Context&, std::uint32_t /*sm*/, LineAddr) {}
  virtual void on_l1_atomic(const Context&, std::uint32_t /*sm*/, LineAddr) {}
  virtual void on_l1_fill(const Context&, std::uint32_t /*sm*/, LineAddr, std::uint8_t /*sectors*/) {}
  /// A read that misses asks for the line within its cluster: an L1 there answers it, or on_request follows.
  virtual void on_cluster_request(const Context&, const Packet&) {}
  /// The L1 of `owner` answers the read of a neighbour out of its line.
  virtual void on_cluster_answer(const Context&, std::uint32_t /*owner*/, const Packet&) {}
  /// A request that leaves an L1: a miss, a store, an atomic, or a load that passes the L1 by.
  virtual void on_request(const Context&, const Packet&) {}
  /// A request that a slice took. A write that finds no entry for its line is a `fetch` although it fetches nothing.
  virtual void on_llc_lookup(const Context&, std::uint32_t /*slice*/, const Packet&, LlcOutcome) {}
  /// A line is forgotten for another reason than replacement: flushed or invalidated.
  virtual void on_llc_flush(const Context&, std::uint32_t /*slice*/, LineAddr) {}
  virtual void on_llc_fill(const Context&, std::uint32_t /*slice*/, LineAddr, std::uint8_t /*sectors*/) {}
  /// What a slice asks for below because of a miss.
  virtual void on_llc_fetch(const Context&, std::uint32_t /*slice*/, const Packet&) {}
  /// A slice answers this request, out of its line or, for one that passed by, out of memory.
  virtual void on_llc_answer(const Context&, std::uint32_t /*slice*/, const Packet&) {}
  /// A slice answers this read of another slice without data: `chip` is to be asked instead.
  virtual void on_llc_refer(const Context&, std::uint32_t /*slice*/, const Packet&, std::uint8_t /*chip*/) {}
  /// A home's slice is about to end the copies of these chips, one bit each.
  virtual void on_llc_invalidate(const Context&, std::uint32_t /*slice*/, LineAddr, std::uint64_t /*chips*/) {}
  /// The chip's directories forget who has its lines.
  virtual void on_llc_forget(const Context&) {}
  /// A slice has obeyed an invalidation: it will hit no copy that it had.
  virtual void on_llc_obey(const Context&, std::uint32_t /*slice*/, const Packet& /*invalidation*/) {}
  /// A line leaves the tags; its dirty sectors, if any, are written back.
  virtual void on_llc_leave(const Context&, std::uint32_t /*slice*/, LineAddr, std::uint8_t /*dirty*/) {}
  /// A request enters a memory controller.
  virtual void on_memory(const Context&, std::uint32_t /*channel*/, const Packet&) {}
  /// A channel plans a command for `at`, in core cycles << DramCycles::kBits, which may lie ahead.
  virtual void on_dram_precharge(const Context&, std::uint32_t /*channel*/, std::uint32_t /*bank*/, std::int64_t /*at*/) {}
  virtual void on_dram_activate(const Context&, std::uint32_t /*channel*/, std::uint32_t /*bank*/, std::uint32_t /*row*/,
                                std::int64_t /*at*/) {}
  /// The first of the column commands that serve this request.
  virtual void on_dram_column(const Context&, std::uint32_t /*channel*/, const Packet&, std::int64_t /*at*/) {}
};

}  // namespace atl
