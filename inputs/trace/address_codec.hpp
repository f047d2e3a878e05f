#pragma once
#include <cstddef>
#include <cstdint>

/// Block addresses as differences: zigzag (small negative numbers stay small), then 7 bits per byte, low bits first.
namespace atl {

inline constexpr unsigned kMostDeltaBytes = 10;

/// Writes at most kMostDeltaBytes and returns their end.
inline std::uint8_t* put_delta(std::uint8_t* out, std::uint64_t from, std::uint64_t to) {
  const std::uint64_t delta = to - from;
  std::uint64_t z = (delta << 1) ^ (0 - (delta >> 63));
  for (; z >= 0x80; z >>= 7) *out++ = static_cast<std::uint8_t>(z | 0x80);
  *out++ = static_cast<std::uint8_t>(z);
  return out;
}

/// Reads one difference at `p` and adds it to `value`. False: the bytes end, or the number is longer than 64 bits.
inline bool take_delta(const std::uint8_t*& p, const std::uint8_t* end, std::uint64_t& value) {
  std::uint64_t z = 0;
  for (unsigned shift = 0; p != end && shift < 64; shift += 7) {
    const std::uint8_t byte = *p++;
    z |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) {
      value += (z >> 1) ^ (0 - (z & 1));
      return true;
    }
  }
  return false;
}

}  // namespace atl
