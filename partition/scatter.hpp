#pragma once
#include <cstdint>

namespace atl {

/// A number below `n` that looks random and is the same for the same `number`: two rounds of a multiplicative mixer, whose
/// upper half is scaled to n without a division.
inline std::uint64_t scatter(std::uint64_t number, std::uint64_t n) {
  std::uint64_t z = (number ^ number >> 17) * 0x9E3779B97F4A7C15ull;
  z = (z ^ z >> 32) * 0xD6E8FEB86659FD93ull;
  return (z >> 32) * n >> 32;
}

}  // namespace atl
