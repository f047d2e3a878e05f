#pragma once
#include <cstdint>
#include <vector>

#include "core/engine/archive.hpp"

namespace atl {

/// What SAC's profilers say of one chip (SAC section 3.2), since modes with `profile` began. Atomics are in none of it: they
/// execute at the home in either organisation. What slices and the directory count is of the same requests, those that home
/// slices have looked up.
struct LlcProfile {
  std::vector<std::uint64_t> at_home, at_requester;  ///< [slice] requests, as memory-side and SM-side caching route them
  std::uint64_t requests = 0, hits = 0, merges = 0;  ///< at the own slices; of these hits, and those that join a fetch
  std::uint64_t local = 0, remote = 0;               ///< L1 misses and stores of the own SMs, by their home
  std::uint64_t crd_requests = 0, crd_hits = 0;      ///< of the Chip Request Directory
  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, at_home, at_requester, requests, hits, merges, local, remote, crd_requests, crd_hits);
  }
};

}  // namespace atl
