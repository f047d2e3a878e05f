#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "inputs/workload/parametric_config.hpp"

namespace atl {
namespace {

/// [name] KiB of each region, which is one size for all kernels: at least what the layout of each of them needs.
std::map<std::string, std::uint64_t> scaled_sizes(const ParametricConfig& config, unsigned n) {
  std::map<std::string, std::uint64_t> sizes;
  for (const KernelConfig& k : config.kernels)
    for (const RegionConfig& r : k.regions) {
      const std::uint64_t groups = config.groups_of(k);
      const std::uint64_t least = r.kind == Sharing::page_interleaved ? 4 * groups : (groups + 7) / 8;
      std::uint64_t& size = sizes[r.name];
      size = std::max({size, r.size_kib / n, least});
    }
  return sizes;
}

}  // namespace

// A warp keeps its number of memory instructions as long as that leaves every chip one full wave of CTAs: fewer would leave
// part of the machine empty. Beyond that warps become shorter. Either way the launch's accesses are divided by `n`.
std::string scale(ParametricConfig& config, unsigned n) {
  constexpr double kUnlike = 0.1;
  std::string unlike;
  if (n <= 1) return unlike;
  const std::map<std::string, std::uint64_t> sizes = scaled_sizes(config, n);
  for (KernelConfig& k : config.kernels) {
    const std::uint64_t wave = std::uint64_t{config.groups_of(k)} * std::max(1u, k.concurrent_ctas);
    const auto ctas = static_cast<std::uint32_t>(std::max<std::uint64_t>(k.ctas / n, std::min<std::uint64_t>(k.ctas, wave)));
    const double instructions = static_cast<double>(k.ctas) * k.memory_instructions / n / ctas;
    k.ctas = ctas;
    const std::uint32_t before = k.memory_instructions;
    k.memory_instructions = static_cast<std::uint32_t>(std::max(1l, std::lround(instructions)));
    const double ratio = k.memory_instructions / instructions;
    if (std::abs(ratio - 1) > kUnlike)
      unlike += fmt::format(
          "{}kernel {} has {:.2f} times the accesses that scale = {} should leave it, as its warps' {} memory "
          "instructions become {} where {:.2f} would be right",
          unlike.empty() ? "" : "; ", k.name, ratio, n, before, k.memory_instructions, instructions);
    if (k.barrier_every > k.memory_instructions && k.barrier_every <= before)
      unlike += fmt::format("{}kernel {} has no barriers at scale = {}: its warps are shorter than `barrier_every` = {}",
                            unlike.empty() ? "" : "; ", k.name, n, k.barrier_every);
    for (RegionConfig& r : k.regions) {
      r.size_kib = sizes.at(r.name);
      r.near_lines = std::max(1u, r.near_lines / n);
      r.far_lines = std::max(1u, r.far_lines / n);
      r.skew_lines /= n;
      if (r.hot_moves_every) r.hot_moves_every = std::max(1u, r.hot_moves_every / n);
    }
  }
  return unlike;
}

}  // namespace atl
