#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace atl::ptx {

/// Accesses beyond allocations that are tolerated: loads give 0, stores and atomics do nothing. One site per instruction.
/// Goes into LaunchSpec::outside of one launch after the other; may hear of several threads at a time.
class OutOfBounds {
 public:
  struct Site {
    std::string kernel, place;
    std::uint32_t line = 0;  ///< which `place` is
    bool writes = false;
    std::uint64_t count = 0;  ///< lanes
    // The first in the lowest block.
    std::uint64_t cta = 0, address = 0;
    std::uint32_t thread = 0, bytes = 0;
    std::string where;  ///< "4 bytes behind allocation 3 (...)"
  };
  void note(const Site& site);
  std::vector<Site> sites() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::uint32_t>, Site> sites_;  // by kernel and line
};
/// "kernel k, k.ptx:12: 480 loads out of bounds gave 0; the first: ...".
std::string text_of(const OutOfBounds::Site& site);

}  // namespace atl::ptx
