#pragma once
#include <cstdint>
#include <utility>

#include "core/engine/split_mix.hpp"

namespace atl::ptx {

/// The next of the random numbers that begin with a seed: of the order in which those take turns that run at
/// the same time, the same in every run.
inline std::uint64_t next_random(std::uint64_t& state) { return split_mix(state += kSplitMixStep); }

/// Puts them into another order.
template <class List> void shuffle_turns(List& list, std::uint64_t& random) {
  for (std::size_t n = list.size(); n > 1; --n) std::swap(list[n - 1], list[next_random(random) % n]);
}

}  // namespace atl::ptx
