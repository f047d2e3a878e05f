#include <algorithm>
#include <cmath>

#include "inputs/workload/parametric_config.hpp"

namespace atl {

// A warp keeps its number of memory instructions as long as that leaves every chip one full wave of CTAs: fewer would leave
// part of the machine empty. Beyond that warps become shorter. Either way the launch's accesses are divided by `n`.
void scale(ParametricConfig& config, unsigned n) {
  if (n <= 1) return;
  for (KernelConfig& k : config.kernels) {
    const std::uint32_t groups = config.groups_of(k);
    const std::uint32_t wave = std::min(k.ctas, groups * std::max(1u, k.concurrent_ctas));
    const std::uint32_t ctas = std::max(k.ctas / n, wave);
    const double instructions = static_cast<double>(k.ctas) * k.memory_instructions / n / ctas;
    k.ctas = ctas;
    k.memory_instructions = static_cast<std::uint32_t>(std::max(1l, std::lround(instructions)));
    for (RegionConfig& r : k.regions) {
      const std::uint64_t least = r.kind == Sharing::page_interleaved ? 4 * groups : (groups + 7) / 8;
      r.size_kib = std::max<std::uint64_t>(r.size_kib / n, least);
      r.near_lines = std::max(1u, r.near_lines / n);
      r.far_lines = std::max(1u, r.far_lines / n);
      r.skew_lines /= n;
      if (r.hot_moves_every) r.hot_moves_every = std::max(1u, r.hot_moves_every / n);
    }
  }
}

}  // namespace atl
