#pragma once
#include <random>

#include "run.hpp"

namespace atl::test {

struct RaceFreeShape {
  std::uint32_t kernels = 3, ctas_per_chip = 4, warps = 4, ops = 30;
  std::uint64_t lines = 300;    ///< 128-byte blocks that are touched, in all
  std::uint64_t spread = 1280;  ///< bytes from one to the next
  unsigned quiet = 4;           ///< one block in so many is only read in a kernel
  bool by_sector = false;       ///< the sectors of a block have writers of their own, on different chips
  bool odd_sectors = true;
};

/// Programs without data races: in a kernel each block, or sector, is written by the warps of at most one CTA, and read by
/// these only or, if nobody writes it, by everybody. Writers change from kernel to kernel, so that most reads are of what
/// another chip wrote. About every second access is a store.
inline ScriptedWorkload race_free_workload(const SystemConfig& config, const RaceFreeShape& shape, std::uint32_t seed) {
  ScriptedWorkload w;
  std::mt19937 random(seed);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  constexpr std::uint32_t kNobody = ~0u;
  const std::uint32_t ctas = shape.ctas_per_chip * config.chips;
  for (std::uint32_t k = 0; k < shape.kernels; ++k) {
    w.kernel(ctas, shape.warps);
    // [block][sector] the CTA that writes there in this kernel
    std::vector<std::array<std::uint32_t, 4>> writer(shape.lines);
    for (auto& block : writer) {
      const bool quiet = below(shape.quiet) == 0;
      block.fill(quiet ? kNobody : static_cast<std::uint32_t>(below(ctas)));
      if (!quiet && shape.by_sector)
        for (std::uint32_t& s : block) s = static_cast<std::uint32_t>(below(ctas));
    }
    for (std::uint32_t cta = 0; cta < ctas; ++cta) {
      // Blocks and sectors that this CTA may write, and those that it may read.
      std::vector<std::pair<std::uint64_t, unsigned>> own, readable;
      for (std::uint64_t b = 0; b < shape.lines; ++b) {
        unsigned mine = 0, quiet = 0;
        for (unsigned s = 0; s < 4; ++s) mine |= (writer[b][s] == cta) << s, quiet |= (writer[b][s] == kNobody) << s;
        if (mine != 0) own.emplace_back(b, mine);
        if ((mine | quiet) != 0) readable.emplace_back(b, mine | quiet);
      }
      const auto some = [&](unsigned sectors) {
        if (!shape.odd_sectors) return sectors;
        const unsigned part = sectors & static_cast<unsigned>(below(16));
        return part != 0 ? part : sectors;
      };
      const auto address = [&](std::uint64_t block) { return 0x100000 + block * shape.spread; };
      for (std::uint32_t warp = 0; warp < shape.warps; ++warp) {
        Program& p = w.warp(cta, warp);
        for (std::uint32_t i = 0; i < shape.ops; ++i) {
          const auto slot = static_cast<std::uint8_t>(below(6));
          const bool writes = !own.empty() && below(2) == 0;
          const auto& from = writes || (!own.empty() && below(2) == 0) ? own : readable;
          if (from.empty()) continue;
          const auto [block, sectors] = from[below(from.size())];
          if (writes) {
            p.store(address(block), some(sectors));
            if (below(4) == 0) p.ops.back().flags |= kPartial;
          } else {
            if (below(2) == 0) p.after({slot});
            p.load(address(block), slot, some(sectors));
            if (below(4) == 0) p.past_l1();
          }
          if (below(8) == 0) p.pause(static_cast<std::uint16_t>(1 + below(60)));
        }
      }
    }
  }
  return w;
}

}  // namespace atl::test
