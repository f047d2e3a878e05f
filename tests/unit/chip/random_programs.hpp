#pragma once
#include <random>

#include "run.hpp"

namespace atl::test {

struct RandomShape {
  std::uint32_t kernels = 1, ctas_per_chip = 4, warps = 2, ops = 24;
  std::uint64_t lines = 200;          ///< 128-byte blocks that are touched, in all
  std::uint64_t spread = 4096;        ///< bytes from one to the next
  std::uint64_t read_only_lines = 0;  ///< more blocks, that half of the loads read as read-only data
  bool stores = true, atomics = true, bypasses = true, odd_sectors = true;
};

/// Warps that load, store, add, pass the L1 by and meet at barriers, at random but the same for the same seed.
inline ScriptedWorkload random_workload(const SystemConfig& config, const RandomShape& shape, std::uint32_t seed) {
  ScriptedWorkload w;
  std::mt19937 random(seed);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  const auto address = [&] { return 0x100000 + below(shape.lines) * shape.spread; };
  const auto sectors = [&] { return shape.odd_sectors ? 1 + static_cast<unsigned>(below(15)) : 0xFu; };
  for (std::uint32_t k = 0; k < shape.kernels; ++k) {
    const std::uint32_t ctas = shape.ctas_per_chip * config.chips;
    w.kernel(ctas, shape.warps);
    for (std::uint32_t cta = 0; cta < ctas; ++cta) {
      for (std::uint32_t warp = 0; warp < shape.warps; ++warp) {
        Program& p = w.warp(cta, warp);
        for (std::uint32_t i = 0; i < shape.ops; ++i) {
          const auto slot = static_cast<std::uint8_t>(below(6));
          if (i == shape.ops / 2) p.barrier();
          switch (below(10)) {
            case 0:
            case 1:
              if (shape.stores) p.store(address(), sectors());
              break;
            case 2:
              if (shape.atomics) p.after({slot}).atomic(address(), below(2) == 0 ? kNoSlot : slot, sectors());
              break;
            case 3:
              p.compute(1 + static_cast<std::uint16_t>(below(3)), static_cast<std::uint16_t>(1 + below(9)));
              break;
            case 4:
              p.after({slot}).load(address(), slot, sectors());
              if (shape.bypasses) p.past_l1();
              break;
            default: {
              std::vector<Access> list;
              if (shape.read_only_lines != 0 && below(2) == 0) {
                for (std::uint64_t n = 1 + below(4); n-- > 0;)
                  list.push_back(Access::make(0x8000000 + below(shape.read_only_lines) * shape.spread, sectors()));
                p.after({slot}).loads(list, slot);
                p.ops.back().flags |= kReadOnly;
                break;
              }
              for (std::uint64_t n = 1 + below(4); n-- > 0;) list.push_back(Access::make(address(), sectors()));
              p.after({slot}).loads(list, slot);
            }
          }
        }
      }
    }
  }
  return w;
}

}  // namespace atl::test
