#pragma once
#include <cstdint>
#include <vector>

#include "inputs/workload/workload.hpp"

namespace atl {

/// Joins the byte ranges [address, address + width) of a warp's active lanes into 128-byte blocks with sector masks, in
/// the order in which the lanes first touch them. Writes at most two accesses per lane to `out`; returns how many.
unsigned coalesce(const std::uint64_t* address, unsigned lanes, unsigned width, Access* out);

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

}  // namespace atl
