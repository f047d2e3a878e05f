#pragma once
#include <cstdint>

#include "core/engine/split_mix.hpp"

namespace atl {

/// Random numbers that are seeded anew for every warp.
class WarpRandom {
 public:
  WarpRandom(std::uint64_t seed, std::uint64_t kernel, std::uint64_t cta, std::uint64_t warp)
      : state_(split_mix(split_mix(split_mix(seed + 0x632BE59BD9B4E019ull) + kernel * kSplitMixStep) +
                         (cta << 8 | warp) * kSplitMixStep)) {}
  std::uint64_t next() { return split_mix(state_ += kSplitMixStep); }
  /// Uniform in [0, n), by multiplication instead of division.
  std::uint64_t below(std::uint64_t n) { return static_cast<std::uint64_t>(Wide{next()} * n >> 64); }

 private:
  __extension__ using Wide = unsigned __int128;
  std::uint64_t state_;
};

/// Several probabilities are drawn from one random number, 21 bits each.
inline constexpr unsigned kDrawBits = 21;
inline std::uint32_t threshold(double probability) {
  return static_cast<std::uint32_t>(probability * (1 << kDrawBits) + 0.5);
}
inline std::uint32_t draw_part(std::uint64_t draw, unsigned part) {
  return static_cast<std::uint32_t>(draw >> part * kDrawBits) & ((1u << kDrawBits) - 1);
}

}  // namespace atl
