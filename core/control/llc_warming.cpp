#include "core/control/llc_warming.hpp"

#include <algorithm>
#include <unordered_map>

#include "partition/cta_distribution.hpp"
#include "partition/page_placement.hpp"

namespace atl {

bool LlcWarming::possible(const SystemConfig& config) {
  return config.line_bytes == Access::kBlockBytes && config.coherence.protocol == CoherenceProtocol::software &&
         config.llc.replication == Replication::shared;
}

std::vector<std::vector<std::uint64_t>> LlcWarming::lines(std::size_t first, std::size_t end,
                                                          const std::function<std::uint8_t(PageAddr)>& home) {
  const SystemConfig& config = machine_.config;
  const std::uint64_t capacity = std::uint64_t{config.llc.size_kib} * 1024 / config.line_bytes;
  std::vector<std::vector<std::uint64_t>> out(config.chips);
  std::unordered_map<std::uint64_t, std::size_t> place;  // of a line, in its chip's list; never iterated over
  std::uint64_t left = kPatience * capacity * config.chips;
  std::size_t full = 0;
  const auto take = [&](const Access& access) {
    const std::uint8_t chip = home(machine_.page_of(LineAddr{access.block()}));
    if (chip >= config.chips) return;
    std::vector<std::uint64_t>& mine = out[chip];
    const auto known = place.find(access.block());
    if (known != place.end()) {
      mine[known->second] |= access.sectors();
    } else if (mine.size() < capacity) {
      place.emplace(access.block(), mine.size());
      mine.push_back(access.packed);
      full += mine.size() == capacity;
    }
  };
  for (std::size_t k = end; k-- > first && full < config.memory_chips() && left > 0;) {
    // The chips run their CTAs side by side, each its own in order.
    std::vector<ChipCtas> ctas;
    std::uint64_t most = 0;
    for (LpId chip = 0; chip < config.compute_chips(); ++chip) {
      ctas.push_back(ctas_of(workload_.kernels()[k], config, machine_.devices, chip));
      most = std::max(most, ctas.back().count());
    }
    for (std::uint64_t at = most; at-- > 0 && full < config.memory_chips() && left > 0;) {
      for (const ChipCtas& mine : ctas) {
        if (at >= mine.count()) continue;
        workload_.load_cta(k, mine.nth(at), program_);
        for (std::size_t o = program_.ops.size(); o-- > 0;) {
          const Op& op = program_.ops[o];
          if ((op.kind != OpKind::load && op.kind != OpKind::store && op.kind != OpKind::atomic) || (op.flags & kLocal) != 0)
            continue;
          for (std::uint32_t a = 0; a < op.accesses; ++a) take(program_.accesses[op.first_access + a]);
          left -= std::min<std::uint64_t>(left, op.accesses);
        }
      }
    }
  }
  for (auto& mine : out) std::ranges::reverse(mine);
  return out;
}

}  // namespace atl
