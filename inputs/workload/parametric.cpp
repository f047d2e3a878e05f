#include "inputs/workload/parametric.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "inputs/workload/parametric_config.hpp"
#include "inputs/workload/region_stream.hpp"

namespace atl {
namespace {

constexpr std::uint64_t kFirstBase = 0x100000000, kAlign = 2ull << 20;

/// One region of a kernel with the thresholds that choose it and its kind of access.
struct PreparedRegion {
  RegionStream stream;
  std::uint32_t chosen_below;  ///< cumulative over the kernel's regions
  std::uint32_t atomic_below, store_below;
  std::uint8_t load_flags;
};

struct PreparedKernel {
  KernelConfig config;
  std::vector<PreparedRegion> regions;
};

class ParametricWorkload final : public Workload {
 public:
  explicit ParametricWorkload(const ParametricConfig& config) : seed_(config.seed), chips_(config.chips) {
    std::map<std::string, std::uint64_t> bases;
    std::uint64_t next = kFirstBase;
    for (const KernelConfig& kernel : config.kernels) {
      for (const RegionConfig& region : kernel.regions)
        if (bases.try_emplace(region.name, next).second) next += (region.size_kib * 1024 + kAlign - 1) / kAlign * kAlign;
      prepare(kernel, bases);
    }
  }

  const std::vector<KernelInfo>& kernels() const override { return infos_; }

  void load_cta(std::size_t kernel, std::uint64_t cta, CtaProgram& out) override {
    out.warps.clear(), out.accesses.clear();  // ops are overwritten: their number is known
    const PreparedKernel& prepared = prepared_[prepared_of_.at(kernel)];
    const KernelConfig& config = prepared.config;
    std::vector<PreparedRegion> regions = prepared.regions;
    // Inverse of the contiguous ranges [g N / G, (g + 1) N / G).
    const std::uint64_t n = config.ctas, group = ((cta + 1) * chips_ - 1) / n;
    const std::uint64_t first = group * n / chips_, in_group = (group + 1) * n / chips_ - first;
    const std::uint64_t concurrent =
        config.concurrent_ctas ? std::min<std::uint64_t>(config.concurrent_ctas, in_group) : in_group;
    WarpPlace place{static_cast<std::uint32_t>(group), (cta - first) / concurrent, 0, concurrent * config.warps_per_cta};
    const std::uint32_t n_memory = config.memory_instructions;
    const std::uint32_t barriers = config.barrier_every ? (n_memory - 1) / config.barrier_every : 0;
    const std::uint32_t ops_per_warp = n_memory * (config.compute_instructions ? 2 : 1) + barriers + 1;
    out.ops.resize(std::size_t{ops_per_warp} * config.warps_per_cta);
    Op* next_op = out.ops.data();
    for (std::uint32_t warp = 0; warp < config.warps_per_cta; ++warp) {
      place.index = (cta - first) % concurrent * config.warps_per_cta + warp;
      for (PreparedRegion& r : regions) r.stream.begin_warp(place);
      WarpRandom random(seed_, kernel, cta, warp);
      next_op = generate_warp(config, regions, random, next_op, out);
      out.warps.push_back({warp * ops_per_warp, ops_per_warp});
    }
  }

 private:
  void prepare(const KernelConfig& kernel, const std::map<std::string, std::uint64_t>& bases) {
    double total = 0, sum = 0;
    for (const RegionConfig& r : kernel.regions) total += r.weight;
    PreparedKernel prepared{kernel, {}};
    for (const RegionConfig& r : kernel.regions) {
      sum += r.weight;
      const double advances = kernel.memory_instructions * r.weight / total * (1 - r.near_reuse - r.far_reuse);
      prepared.regions.push_back({{r, bases.at(r.name), chips_, std::max<std::uint64_t>(1, std::llround(advances))},
                                  threshold(sum / total),
                                  threshold(r.atomic_fraction),
                                  threshold(r.atomic_fraction + r.write_fraction),
                                  static_cast<std::uint8_t>(r.read_only ? kReadOnly : 0)});
    }
    prepared_.push_back(std::move(prepared));
    KernelInfo info;
    info.name = kernel.name;
    info.grid[0] = kernel.ctas;
    info.block[0] = 32 * kernel.warps_per_cta;
    info.registers_per_thread = kernel.registers_per_thread;
    info.shared_bytes = kernel.shared_kib * 1024;
    infos_.insert(infos_.end(), kernel.repeat, info);
    prepared_of_.insert(prepared_of_.end(), kernel.repeat, prepared_.size() - 1);
  }

  /// Writes one warp's ops from `next` on, and returns the end.
  static Op* generate_warp(const KernelConfig& config, std::vector<PreparedRegion>& regions, WarpRandom& random, Op* next,
                           CtaProgram& out) {
    Op compute;
    compute.issue = static_cast<std::uint16_t>(config.compute_instructions);
    compute.latency = static_cast<std::uint16_t>(std::max(config.compute_instructions, config.compute_latency_cycles));
    std::uint32_t pending = 0, due = 0;  // scoreboard slots: in use, and to be waited for by the next op
    unsigned loads = 0;
    const auto push = [&](Op op) {
      op.wait = due;
      pending &= ~due, due = 0;
      *next++ = op;
    };
    Op barrier;
    barrier.kind = OpKind::barrier;
    for (std::uint32_t m = 0, until_barrier = config.barrier_every; m < config.memory_instructions; ++m) {
      if (config.barrier_every && until_barrier-- == 0) push(barrier), until_barrier = config.barrier_every - 1;
      if (config.compute_instructions) push(compute);
      const std::uint64_t draw = random.next();
      // No early exit, and no branch on the kind: neither can be predicted. The last threshold is above every draw.
      std::size_t chosen = 0;
      for (const PreparedRegion& r : regions) chosen += draw_part(draw, 0) >= r.chosen_below;
      PreparedRegion& region = regions[chosen];
      Op op;
      op.first_access = static_cast<std::uint32_t>(out.accesses.size());
      region.stream.access(random, draw_part(draw, 1), out.accesses);
      op.accesses = static_cast<std::uint8_t>(out.accesses.size() - op.first_access);
      const std::uint32_t choice = draw_part(draw, 2);
      const bool load = choice >= region.store_below;
      op.kind = load ? OpKind::load : choice < region.atomic_below ? OpKind::atomic : OpKind::store;
      op.flags = load ? region.load_flags : std::uint8_t{0};
      op.slot = load ? static_cast<std::uint8_t>(loads) : kNoSlot;
      push(op);
      pending |= std::uint32_t{load} << loads;
      loads += load;
      const bool full = loads == config.loads_in_flight;
      due = full ? pending : 0;
      loads = full ? 0 : loads;
    }
    due = pending;
    Op exit;
    exit.kind = OpKind::exit;
    push(exit);
    return next;
  }

  std::uint64_t seed_;
  std::uint32_t chips_;
  std::vector<PreparedKernel> prepared_;
  std::vector<std::size_t> prepared_of_;  ///< by launched kernel
  std::vector<KernelInfo> infos_;
};

}  // namespace

std::unique_ptr<Workload> open_parametric(const std::string& path, unsigned scale_by) {
  ParametricConfig config = read_parametric(path);
  scale(config, scale_by);
  return std::make_unique<ParametricWorkload>(config);
}

}  // namespace atl
