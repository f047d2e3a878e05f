#pragma once
#include <array>
#include <cstdint>

#include "core/engine/archive.hpp"
#include "inputs/workload/workload.hpp"

namespace atl {

/// A resident warp. One cache line, since every event of an SM touches one.
struct alignas(64) Warp {
  using PlainState = void;
  std::uint32_t op = 0;        ///< next op, index into the CTA's program
  std::uint32_t busy = 0;      ///< scoreboard slots with a result under way
  std::uint32_t wait = 0;      ///< slots that the next op waits for; copied here so that a fill touches this line only
  std::uint32_t access = 0;    ///< first access of the next op, to be prefetched
  std::uint32_t age = 0;       ///< order of assignment to the SM, for GTO
  std::uint32_t ready_at = 0;  ///< low bits of the cycle from which the next op may issue; at a barrier, if all are there
  std::uint8_t cta = 0;        ///< CTA slot
  bool live = false;
  bool waiting = false;                                      ///< the next op waits for the scoreboard
  bool at_barrier = false;                                   ///< stopped until the whole CTA is there
  std::array<std::uint8_t, kScoreboardSlots> outstanding{};  ///< parts still under way, by scoreboard slot
  std::uint32_t stores = 0;  ///< stores and atomics without a slot under way, where sm.exit_waits for them
};
static_assert(sizeof(Warp) == 64);

/// Where the program of a resident CTA lies: all that most events need of it, those of an SM in a few cache lines.
struct CtaCode {
  const Op* ops = nullptr;
  const Access* accesses = nullptr;
  std::size_t access_count = 0;
};

/// A resident CTA with its decoded program. The buffers are reused by the next CTA in the same slot.
struct CtaSlot {
  CtaProgram program;            ///< no part of a checkpoint: the workload has it
  std::uint64_t cta = 0;         ///< in its kernel
  std::uint32_t live_warps = 0;  ///< 0: free
  std::uint32_t at_barrier = 0;
  std::uint32_t draining = 0;  ///< live warps at their exit, waiting for stores
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, cta, live_warps, at_barrier, draining); }
};

}  // namespace atl
