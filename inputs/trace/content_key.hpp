#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

namespace atl {

/// Equal for the same bytes in the same pieces, and for no others that will ever meet. Lanes beside each other keep it from
/// waiting for a multiplication per word.
class ContentKey {
 public:
  using Value = std::pair<std::uint64_t, std::uint64_t>;

  template <typename T> void add(const T* values, std::size_t count) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(values);
    std::size_t left = count * sizeof(T);
    step(0, left);
    for (; left >= sizeof(std::uint64_t) * kLanes; left -= sizeof(std::uint64_t) * kLanes)
      for (unsigned lane = 0; lane < kLanes; ++lane, bytes += sizeof(std::uint64_t)) step(lane, word(bytes, 8));
    for (unsigned lane = 0; left > 0; ++lane) {
      const std::size_t now = left < 8 ? left : 8;
      step(lane, word(bytes, now));
      bytes += now, left -= now;
    }
  }

  Value value() const {
    Value key{};
    for (const std::uint64_t s : state_) {
      key.first = mixed(key.first ^ s, 0xC2B2AE3D27D4EB4Full);
      key.second = mixed(key.second + std::rotl(s, 32), 0x165667B19E3779F9ull);
    }
    return key;
  }

 private:
  static constexpr unsigned kLanes = 4;

  static std::uint64_t word(const unsigned char* bytes, std::size_t count) {
    std::uint64_t w = 0;
    std::memcpy(&w, bytes, count);
    return w;
  }
  static std::uint64_t mixed(std::uint64_t x, std::uint64_t factor) {
    x = (x ^ x >> 31) * factor;
    return x ^ x >> 29;
  }
  /// One to one in the word, and in what was before.
  void step(unsigned lane, std::uint64_t w) { state_[lane] = std::rotl(state_[lane] ^ w, 29) * 0x9E3779B97F4A7C15ull; }

  std::uint64_t state_[kLanes] = {0x243F6A8885A308D3ull, 0x13198A2E03707344ull, 0xA4093822299F31D0ull,
                                  0x082EFA98EC4E6C89ull};
};

}  // namespace atl
