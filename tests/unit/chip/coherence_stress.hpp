#pragma once
#include <fmt/format.h>

#include <random>

#include "core/chip/observe/consistency_checker.hpp"
#include "extreme_machines.hpp"
#include "inputs/config/walk.hpp"

/// Adversarial programs and machines for the consistency checker: everything follows from a seed.
namespace atl::test {

/// Who may write what in one kernel. Everybody may read everything at any time, so that reads race with writes, fills and
/// invalidations.
enum class Writers : std::uint8_t { one_per_line, one_per_sector, anyone };

struct StressShape {
  Writers writers = Writers::anyone;
  std::uint32_t kernels = 3, ctas_per_chip = 4, warps = 2, ops = 100;
  std::uint64_t lines = 4;            ///< 128-byte blocks that are touched: a few hot ones, or more than caches hold
  std::uint64_t spread = 128;         ///< bytes from one to the next
  std::uint64_t read_only_lines = 0;  ///< more blocks, read as read-only data and never written in the same kernel
  unsigned stores = 4;                ///< one op in so many
  unsigned atomics = 0;               ///< one op in so many; 0: none
  bool odd_sectors = true, partial = true;
};

inline ScriptedWorkload stress_workload(const SystemConfig& config, const StressShape& shape, std::uint32_t seed) {
  ScriptedWorkload w;
  std::mt19937 random(seed);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  const auto sectors = [&] { return shape.odd_sectors ? 1 + static_cast<unsigned>(below(15)) : 0xFu; };
  constexpr std::uint64_t kWritable = 0x100000, kReadOnlyFirst = 0x4000000;
  const std::uint32_t ctas = shape.ctas_per_chip * config.chips;
  for (std::uint32_t k = 0; k < shape.kernels; ++k) {
    w.kernel(ctas, shape.warps);
    // What a kernel only reads, the kernels before and after it write.
    const std::uint64_t blocks = shape.lines + (k % 2 == 0 ? shape.read_only_lines : 0);
    const bool reads_only = k % 2 == 1 && shape.read_only_lines != 0;
    const auto address = [&](std::uint64_t block) {
      return block < shape.lines ? kWritable + block * shape.spread : kReadOnlyFirst + (block - shape.lines) * shape.spread;
    };
    std::vector<std::array<std::uint32_t, 4>> writer(blocks);
    for (auto& block : writer) {
      block.fill(static_cast<std::uint32_t>(below(ctas)));
      if (shape.writers == Writers::one_per_sector)
        for (std::uint32_t& s : block) s = static_cast<std::uint32_t>(below(ctas));
    }
    for (std::uint32_t cta = 0; cta < ctas; ++cta) {
      std::vector<std::pair<std::uint64_t, unsigned>> own;
      for (std::uint64_t b = 0; b < blocks; ++b) {
        unsigned mine = 0;
        for (unsigned s = 0; s < 4; ++s) mine |= (shape.writers == Writers::anyone || writer[b][s] == cta) << s;
        if (mine != 0) own.emplace_back(b, mine);
      }
      for (std::uint32_t warp = 0; warp < shape.warps; ++warp) {
        Program& p = w.warp(cta, warp);
        for (std::uint32_t i = 0; i < shape.ops; ++i) {
          const auto slot = static_cast<std::uint8_t>(below(6));
          if (below(12) == 0) p.pause(static_cast<std::uint16_t>(1 + below(200)));
          if (!own.empty() && below(shape.stores) == 0) {
            const auto [block, mine] = own[below(own.size())];
            const unsigned part = mine & sectors();
            p.store(address(block), part != 0 ? part : mine);
            if (shape.partial && below(4) == 0) p.ops.back().flags |= kPartial;
          } else if (shape.atomics != 0 && below(shape.atomics) == 0) {
            p.atomic(address(below(shape.lines)), below(2) == 0 ? kNoSlot : slot, 1u << below(4));
          } else if (reads_only && below(2) == 0) {
            p.after({slot}).load(address(shape.lines + below(shape.read_only_lines)), slot, sectors());
            p.ops.back().flags |= kReadOnly;
          } else {
            if (below(2) == 0) p.after({slot});
            p.load(address(below(blocks)), slot, sectors());
            if (below(2) == 0) p.past_l1();
          }
        }
      }
    }
  }
  return w;
}

struct StressCase {
  SystemConfig system;
  StressShape shape;
  std::string name;  ///< organisation, protocol, replication
};

/// A machine and a program; `seed` decides on everything.
inline StressCase stress_case(std::uint32_t seed) {
  std::mt19937 random(seed * 2654435761u + 1);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  const auto flip = [&] { return below(2) == 0; };
  StressCase result;
  std::vector<SystemConfig> systems = organisations(tiny(1), true);
  SystemConfig& c = result.system;
  c = systems[below(systems.size())];
  c.chips = static_cast<std::uint32_t>(2 + below(7));
  c.link.topology = static_cast<Topology>(below(3));
  c.l1.sectored = c.llc.sectored = flip();
  c.line_bytes = below(3) == 0 ? 64 : 128;
  c.dram.timing.burst_bytes = 32;
  c.llc.size_kib = flip() ? 16 : 64, c.l1.size_kib = flip() ? 1 : 16;
  c.partition.placement = flip() ? Placement::first_touch : Placement::interleaved;
  c.link.bandwidth_gbps = flip() ? 4 : 16;
  c.link.latency_cycles = static_cast<std::uint32_t>(1 + below(200));
  c.sac.threshold = 0, c.sac.crd_sets = 32, c.control.latency_cycles = 100;
  if (below(4) == 0) minimise(c);
  c.coherence.directory_ways = 1u << below(4), c.coherence.directory_entries = flip() ? 8 : 64;
  c.coherence.range_bytes = 256u << below(5);
  // By the seed and not by the generator: what it draws next stays what it was.
  c.coherence.invalidate = seed % 2 == 0 ? InvalidationMessage::range : InvalidationMessage::line;
  c.link.slot_bytes = seed % 3 == 0 ? 150 : 1;
  if (seed % 5 == 0) c.partition.page_kib = c.partition.interleave_kib = 0.5;
  if (c.coherence.protocol != CoherenceProtocol::full_map && flip()) {
    const auto& list = words<Replication>();
    c.llc.replication = list[below(list.size() - 1)].value;  // the last one is a plug-in's
    if (c.coherence.protocol != CoherenceProtocol::software && c.llc.replication == Replication::adaptive)
      c.llc.replication = Replication::selrep;
    c.llc.slices = 8, c.sm.count = 8, c.dram.channels = 4;
    c.llc.size_kib = 32;
    if (c.llc.replication != Replication::adaptive) c.llc.remote_writes = RemoteWrites::through;
    c.selrep.epoch_cycles = c.adaptive.window_cycles = 1000, c.adaptive.epoch_cycles = 3000;
    c.selrep.directory = flip() ? DegreePrediction::line_tags : DegreePrediction::shadow_tags;
    c.adaptive.miss_margin = 1;  // private whenever there is something to try
  }
  StressShape& s = result.shape;
  s.writers = static_cast<Writers>(below(3));
  // Few hot lines; as many as there are in a set and its neighbours; more than caches and directories hold.
  s.lines = below(3) == 0 ? 1 + below(4) : flip() ? 40 : 600;
  s.spread = std::uint64_t{128} << below(6);
  s.stores = 2 + static_cast<unsigned>(below(6)), s.atomics = below(4) == 0 ? 10 : 0;
  if (c.llc.replication != Replication::shared) s.read_only_lines = 1 + below(200);
  s.odd_sectors = c.llc.sectored, s.partial = c.llc.sectored;
  result.name =
      fmt::format("{} {} {}", word_of(c.llc.organisation), word_of(c.coherence.protocol), word_of(c.llc.replication));
  if (c.llc.remote_writes == RemoteWrites::back) result.name += " back";
  // By the seed, so that what is drawn above stays what it was.
  c.selrep.flush = seed % 3 == 0 ? ReplicaFlush::everything : ReplicaFlush::replicas;
  c.selrep.restart = seed % 2 == 0 ? EpochRestart::never : EpochRestart::kernel;
  c.llc.remote_mshrs = seed % 3 == 1 ? c.llc.mshrs - c.llc.mshrs / 4 : 0;
  c.llc.write_back_at_end = seed % 5 < 2 && c.llc.remote_writes == RemoteWrites::through;
  const bool plain = c.coherence.protocol == CoherenceProtocol::software && c.llc.replication == Replication::shared;
  if (plain && c.llc.organisation == LlcOrganisation::memory_side && seed % 2 == 0) {
    add_l2(c, seed / 2);
    result.name += c.l2.writes == L2Writes::back ? " L2" : " L2 through";
  } else if (plain && c.llc.organisation == LlcOrganisation::memory_side) {
    separate_dies(c, seed / 2);
    result.name = fmt::format("dies {} L2 through", word_of(c.coherence.protocol));
  }
  return result;
}

}  // namespace atl::test
