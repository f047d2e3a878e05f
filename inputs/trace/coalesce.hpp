#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "inputs/workload/workload.hpp"

namespace atl {

/// Joins the byte ranges [address, address + width) of a warp's active lanes into 128-byte blocks with sector masks, in
/// the order in which the lanes first touch them. Writes at most two accesses per lane to `out`; returns how many.
unsigned coalesce(const std::uint64_t* address, unsigned lanes, unsigned width, Access* out);

/// Sectors of a block from the one of byte `first` to the one of byte `last`.
inline unsigned sector_mask(unsigned first, unsigned last) {
  return (2u << last / Access::kSectorBytes) - (1u << first / Access::kSectorBytes);
}

/// The same as coalesce() for `bytes` that lie together, which may be 1024 at most.
inline unsigned coalesce(std::uint64_t first, std::uint64_t bytes, Access* out) {
  constexpr std::uint64_t kInside = Access::kBlockBytes - 1;
  const std::uint64_t end = first + bytes;
  unsigned count = 0;
  for (std::uint64_t next = 0; first < end; first = next) {
    next = std::min((first | kInside) + 1, end);
    out[count++] = Access::make(
        first, sector_mask(static_cast<unsigned>(first & kInside), static_cast<unsigned>((next - 1) & kInside)));
  }
  return count;
}
/// Whether these leave bytes of their sectors untouched.
inline bool touches_partly(std::uint64_t address, std::uint64_t bytes) {
  return (address | (address + bytes)) % Access::kSectorBytes != 0;
}

/// Whether the byte ranges leave bytes of the sectors in `found`, which coalesce() made of them, untouched.
bool touches_partly(const std::uint64_t* address, unsigned lanes, unsigned width, const Access* found, unsigned count);

/// The same for local memory: `offset` of the lanes of `mask` in their threads' windows. Appends accesses that name rows
/// (kLocalRows), and says whether bytes of their sectors are left untouched.
bool coalesce_local(const std::uint64_t* offset, std::uint32_t mask, unsigned width, std::vector<Access>& out);

/// Appends the blocks of bytes that lie together, as bulk copies move them; a block that the last one in `out` is becomes
/// one with it. Says whether bytes of the sectors at the ends are left untouched.
bool coalesce_range(std::uint64_t address, std::uint64_t bytes, std::vector<Access>& out);

/// Passes that a shared-memory access takes: the most distinct 4-byte words that fall into one of the 32 banks. At least 1.
unsigned shared_passes(const std::uint64_t* address, unsigned lanes, unsigned width);
/// The same for `bytes` that lie together.
unsigned shared_passes(std::uint64_t address, std::uint64_t bytes);

}  // namespace atl
