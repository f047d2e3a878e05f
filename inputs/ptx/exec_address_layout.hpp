#pragma once
#include <bit>
#include <cstdint>

#include "inputs/ptx/exec_warp.hpp"

namespace atl::ptx::exec {

/// How the addresses of all lanes lie, which access `bytes` each. Most are alike or a row: then two of them tell of all.
struct AddressLayout {
  const std::uint64_t* address;
  unsigned bytes;
  Spread spread = Spread::apart;
  std::uint64_t bits = 0;  ///< that one of them has

  AddressLayout(const std::uint64_t* addresses, unsigned n) : address(addresses), bytes(n) {
    const std::uint64_t first = address[0], span = address[kLanes - 1] - first;
    std::uint64_t elsewhere = 0;
    bits = first;
    if (span == 0) {
#pragma GCC ivdep
      for (unsigned l = 0; l < kLanes; ++l) elsewhere |= address[l] ^ first;
      if (elsewhere == 0) spread = Spread::same;
      bits |= elsewhere;
      return;
    }
    if (span == std::uint64_t{kLanes - 1} * bytes && std::has_single_bit(bytes)) {
      const int shift = std::countr_zero(bytes);
#pragma GCC ivdep
      for (unsigned l = 0; l < kLanes; ++l) elsewhere |= address[l] ^ (first + (std::uint64_t{l} << shift));
      if (elsewhere == 0) {
        spread = Spread::row;
        bits |= address[kLanes - 1];
        return;
      }
    }
#pragma GCC ivdep
    for (unsigned l = 0; l < kLanes; ++l) bits |= address[l];
  }
  /// Of ranges that end below 2^63: a difference that is then negative has that bit.
  bool within(const Range& r) const {
    const std::uint64_t last = r.high - bytes;
    std::uint64_t beyond = (address[0] - r.low) | (last - address[0]) | (last - address[kLanes - 1]);
    if (spread == Spread::apart) {
#pragma GCC ivdep
      for (unsigned l = 0; l < kLanes; ++l) beyond |= (address[l] - r.low) | (last - address[l]);
    }
    return beyond >> 63 == 0;
  }
};

}  // namespace atl::ptx::exec
