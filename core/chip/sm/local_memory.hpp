#pragma once
#include <cstdint>

#include "core/chip/base/machine.hpp"
#include "inputs/workload/workload.hpp"

namespace atl {

/// Where the local memory of a system's threads lies. All threads that can be resident have a place in it: by chip, SM and
/// warp slot, so a CTA uses what the one before it in its place has used. Word w of all places lies side by side, as GPUs
/// interleave it and Accel-Sim does: row r of place p is block r * stride + p. The stride is odd, lest the rows of one
/// warp meet in one set of a cache.
class LocalMemory {
 public:
  /// Above every address of CUDA's.
  static constexpr std::uint64_t kFirstBlock = (std::uint64_t{1} << 48) / Access::kBlockBytes;

  LocalMemory(const SystemConfig& c, std::uint32_t chip, std::uint32_t sm)
      : stride_((std::uint64_t{c.chips} * c.sm.count * c.sm.warps) | 1),
        first_(kFirstBlock + (std::uint64_t{chip} * c.sm.count + sm) * c.sm.warps) {}

  /// The address of an access that names a row of the warp in slot `warp`.
  Access locate(Access row, std::uint32_t warp) const {
    return Access::make((first_ + warp + row.block() * stride_) * Access::kBlockBytes, row.sectors());
  }

 private:
  std::uint64_t stride_, first_;  ///< blocks
};

}  // namespace atl
