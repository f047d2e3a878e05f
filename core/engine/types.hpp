#pragma once
#include <cstdint>
#include <limits>

/// Basic vocabulary of the simulated machine: time, identifiers and addresses.
namespace atl {

/// Simulated time in core-clock cycles.
using Cycle = std::uint64_t;
inline constexpr Cycle kNever = std::numeric_limits<Cycle>::max();
/// A run ends before this cycle: components keep fractions of cycles (Server: 24 bits) in 64 bits, and what begins before it
/// may end as much later.
inline constexpr Cycle kCycleLimit = Cycle{1} << 39;

/// A logical process: chips are 0..N-1, the controller is N.
using LpId = std::uint32_t;

/// Byte address in the simulated global address space, below 2^63 (docs/traces.md).
using ByteAddr = std::uint64_t;

/// A number of a given meaning, so that a line is never passed where a page is expected.
template <class Tag> struct Address {
  using PlainState = void;  // core/engine/archive.hpp
  std::uint64_t value = 0;
  auto operator<=>(const Address&) const = default;
};
using LineAddr = Address<struct LineTag>;      ///< byte address / line size
inline constexpr unsigned kLineAddrBits = 58;  ///< addresses below 2^63, lines of 32 B or more
using PageAddr = Address<struct PageTag>;      ///< byte address / page size

}  // namespace atl
