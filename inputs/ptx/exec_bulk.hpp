#pragma once
#include "inputs/ptx/exec_decoder.hpp"
#include "inputs/ptx/exec_memory.hpp"

/// What copies of bytes and of tensors share (exec_bulk.cpp, exec_tensor_copy.cpp).
namespace atl::ptx::exec {

/// Beside MemoryOption; kNarrowBase is that of the destination.
enum BulkOption : std::uint8_t { kNarrowSource = 32, kNarrowBarrier = 64 };

/// What --check hears of a lane's side in shared memory.
void check_shared_range(Warp& w, unsigned lane, std::uint64_t address, std::uint64_t bytes);
/// kIsStrong of reductions: each element's is a relaxed atomic (PTX ISA). What they combine comes from shared memory.
std::uint8_t strength_of_bulk(const Instruction& in);
/// What others may notice of a lane's side in global memory, `step` bytes, at most 8, at a time; `value`: what it stores or
/// combines there, null for loads.
void show_global_range(Warp& w, const Inst& i, unsigned lane, std::uint64_t address, std::uint64_t bytes, unsigned step,
                       const std::byte* value);
/// `each(rank)` for the CTAs of a multicast, as a part of a generic address.
template <class Each> void for_each_rank(std::uint16_t mask, Each each) {
  for (std::uint32_t left = mask; left != 0; left &= left - 1)
    each((static_cast<std::uint64_t>(std::countr_zero(left)) + 1) << kRankShift);
}
/// The same place in the CTA of that rank.
inline std::uint64_t at_rank(std::uint64_t address, std::uint64_t rank) {
  return kSharedWindow | (address & kOwnOffset) | rank;
}

/// cp.async.bulk.tensor and its kin.
bool decode_tensor_copy(Decoder& d);

}  // namespace atl::ptx::exec
