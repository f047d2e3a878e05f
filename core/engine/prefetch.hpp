#pragma once

namespace atl {

/// Asks the host for the cache line at `address`.
///
/// gcc 12 takes a function that does nothing but prefetch for one without any effect, and drops calls of it; the empty
/// statement is an effect, and no instruction.
inline void prefetch_address(const void* address) {
  __builtin_prefetch(address);
  asm volatile("" : : "r"(address));
}

/// Likewise, to be written: another processor that has it gives it up meanwhile.
inline void prefetch_for_write(const void* address) {
  __builtin_prefetch(address, 1);
  asm volatile("" : : "r"(address));
}

}  // namespace atl
