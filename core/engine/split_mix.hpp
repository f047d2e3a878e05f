#pragma once
#include <cstdint>

/// splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014): a counter, which goes
/// on by this step, passed through a mixer.
namespace atl {

inline constexpr std::uint64_t kSplitMixStep = 0x9E3779B97F4A7C15ull;

constexpr std::uint64_t split_mix(std::uint64_t z) {
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return z ^ z >> 31;
}

}  // namespace atl
