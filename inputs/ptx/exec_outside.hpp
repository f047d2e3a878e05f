#pragma once
#include "inputs/ptx/exec_warp.hpp"

/// Global memory out of bounds: what is said of it, and what is borne with.
namespace atl::ptx::exec {

/// Throws Fault: `bytes` at an address that is in no allocation, with what is near.
[[noreturn]] void illegal(Warp& w, unsigned lane, std::uint64_t address, std::uint64_t bytes);
/// Throws Fault: an address in an allocation of a device to which this one has no peer access.
[[noreturn]] void foreign(Warp& w, unsigned lane, std::uint64_t address, const Allocation& a);
/// Whether a lane out of bounds is to be borne with: a GPU survives what lies near an allocation.
bool tolerates(const Warp& w, std::uint64_t address);
/// Keeps, for what is said in the end, that lanes are out of bounds. `window`: what the addresses lack to be generic.
void note_outside(Warp& w, const std::uint64_t* address, std::uint32_t outside, unsigned bytes, std::uint64_t window);
/// Where an access out of bounds stands in the trace: at the nearest end of the allocation.
std::uint64_t nearest_inside(const Warp& w, std::uint64_t address, unsigned bytes);

}  // namespace atl::ptx::exec
