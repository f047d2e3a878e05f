#pragma once
#include <bit>
#include <cstdint>

namespace atl {

/// Order-sensitive hash over what a logical process handled. Equal digests mean the same events, at the same cycles, in
/// the same order.
class Digest {
 public:
  using PlainState = void;
  void add(std::uint64_t x) { state_ = std::rotl(state_ ^ x, 29) * 0x9E3779B97F4A7C15ull; }
  /// Hashes two words with one step of the serial chain; the words are mixed off it.
  void add(std::uint64_t a, std::uint64_t b) { add(mixed(a, b)); }
  static std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
    return (a * 0xC2B2AE3D27D4EB4Full) ^ std::rotl(b * 0x165667B19E3779F9ull, 32);
  }
  std::uint64_t value() const { return state_ ^ (state_ >> 31); }

 private:
  std::uint64_t state_ = 0x243F6A8885A308D3ull;
};

}  // namespace atl
