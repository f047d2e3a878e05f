#pragma once
#include <cstdint>
#include <utility>

namespace atl::ptx {

/// The next of the random numbers that begin with a seed (splitmix64): of the order in which those take turns that run at
/// the same time, the same in every run.
inline std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = state += 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

/// Puts them into another order.
template <class List> void shuffle_turns(List& list, std::uint64_t& random) {
  for (std::size_t n = list.size(); n > 1; --n) std::swap(list[n - 1], list[next_random(random) % n]);
}

}  // namespace atl::ptx
