#include "inputs/workload/parametric.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "core/engine/split_mix.hpp"
#include "inputs/workload/even_share.hpp"
#include "inputs/workload/parametric_config.hpp"
#include "inputs/workload/region_stream.hpp"

namespace atl {
namespace {

constexpr std::uint64_t kAlign = 2ull << 20;

/// One region of a kernel with the thresholds that choose it and its kind of access.
struct PreparedRegion {
  RegionStream stream;
  EvenShare advances;             ///< of the advances that no earlier region has taken
  std::uint32_t revisited_below;  ///< of the instructions that do not advance; cumulative over the kernel's regions
  std::uint32_t atomic_below, store_below;
  std::uint8_t load_flags;
};

struct PreparedKernel {
  KernelConfig config;
  std::uint32_t groups;
  EvenShare advances;  ///< instructions that advance some region's head
  std::vector<PreparedRegion> regions;
};

/// Where a CTA stands among those of its group.
struct CtaPlace {
  std::uint64_t group, ctas, number;  ///< the group's CTAs, and how many of them come before this one
};

CtaPlace place_of(std::uint64_t cta, std::uint64_t n, std::uint64_t groups, GroupOrder order) {
  if (order == GroupOrder::interleaved) {
    const std::uint64_t group = cta % groups;
    return {group, (n - group + groups - 1) / groups, cta / groups};
  }
  // Inverse of the contiguous ranges [g N / G, (g + 1) N / G).
  const std::uint64_t group = ((cta + 1) * groups - 1) / n, first = group * n / groups;
  return {group, (group + 1) * n / groups - first, cta - first};
}

class ParametricWorkload final : public Workload {
 public:
  ParametricWorkload(const ParametricConfig& config, std::uint64_t page_bytes, std::string scaled_otherwise)
      : seed_(config.seed), page_bytes_(page_bytes), scaled_otherwise_(std::move(scaled_otherwise)) {
    std::map<std::string, std::uint64_t> bases;
    std::uint64_t next = RegionStream::kFirstBase;
    for (const KernelConfig& kernel : config.kernels) {
      for (const RegionConfig& region : kernel.regions)
        if (bases.try_emplace(region.name, next).second) {
          structures_.push_back({region.name, next, region.size_kib * 1024});
          next += (region.size_kib * 1024 + kAlign - 1) / kAlign * kAlign;
        }
      if (std::ranges::any_of(kernel.regions, [](const RegionConfig& r) { return r.kind != Sharing::true_shared; }))
        laid_out_for_ = config.chips;
      prepare(kernel, config.groups_of(kernel), bases);
    }
  }

  const std::vector<KernelInfo>& kernels() const override { return infos_; }
  std::vector<DataStructure> structures() const override { return structures_; }
  std::uint32_t laid_out_for() const override { return laid_out_for_; }
  std::string scaled_otherwise() const override { return scaled_otherwise_; }

  void load_cta(std::size_t kernel, std::uint64_t cta, CtaProgram& out) override {
    out.warps.clear(), out.accesses.clear();  // ops are overwritten: their number is known
    const PreparedKernel& prepared = prepared_[prepared_of_.at(kernel)];
    const KernelConfig& config = prepared.config;
    std::vector<PreparedRegion> regions = prepared.regions;
    const CtaPlace place = place_of(cta, config.ctas, prepared.groups, config.group_order);
    const std::uint64_t concurrent =
        config.concurrent_ctas ? std::min<std::uint64_t>(config.concurrent_ctas, place.ctas) : place.ctas;
    const std::uint64_t wave = place.number / concurrent, in_wave = place.number % concurrent;
    const std::uint64_t wave_warps = concurrent * config.warps_per_cta;
    const RegionStream::HeadDraws draws{group_draw(kernel, place.group, kOfLaunch), group_draw(kernel, place.group, wave)};
    for (PreparedRegion& r : regions) r.stream.begin_group(static_cast<std::uint32_t>(place.group), wave_warps, draws);
    const std::uint32_t n_memory = config.memory_instructions;
    const std::uint32_t barriers = config.barrier_every ? (n_memory - 1) / config.barrier_every : 0;
    const std::uint32_t ops_per_warp = n_memory * (config.compute_instructions ? 2 : 1) + barriers + 1;
    out.ops.resize(std::size_t{ops_per_warp} * config.warps_per_cta);
    Op* next_op = out.ops.data();
    for (std::uint32_t warp = 0; warp < config.warps_per_cta; ++warp) {
      const std::uint64_t index = in_wave * config.warps_per_cta + warp;
      WarpRandom random(seed_, kernel, cta, warp);
      next_op = generate_warp(prepared, regions, {wave * n_memory * wave_warps + index, wave_warps, wave * n_memory}, random,
                              next_op, out);
      out.warps.push_back({warp * ops_per_warp, ops_per_warp});
    }
  }

 private:
  static constexpr std::uint64_t kOfLaunch = ~0ull;  ///< in the place of a wave's number
  std::uint64_t group_draw(std::uint64_t kernel, std::uint64_t group, std::uint64_t wave) const {
    return WarpRandom(split_mix(seed_ + 1) + wave, kernel, group, 0).next();
  }

  void prepare(const KernelConfig& kernel, std::uint32_t groups, const std::map<std::string, std::uint64_t>& bases) {
    PreparedKernel prepared{kernel, groups, {}, {}};
    std::vector<double> advances, revisits;
    for (const RegionConfig& r : kernel.regions) {
      const bool written = std::any_of(kernel.regions.begin(), kernel.regions.end(), [&](const RegionConfig& other) {
        return other.name == r.name && other.write_fraction + other.atomic_fraction > 0;
      });
      prepared.regions.push_back({{r, bases.at(r.name), groups, page_bytes_},
                                  {},
                                  0,
                                  threshold(r.atomic_fraction),
                                  threshold(r.atomic_fraction + r.write_fraction),
                                  static_cast<std::uint8_t>(written ? 0 : kReadOnly)});
      const double advancing = prepared.regions.back().stream.advancing();
      advances.push_back(r.weight * advancing);
      revisits.push_back(r.weight * (1 - advancing));
    }
    // What is left over at the end of a division is given to no one: the last share of each is exactly 1.
    const double all_revisits = std::accumulate(revisits.begin(), revisits.end(), 0.0);
    double left = std::accumulate(advances.begin(), advances.end(), 0.0), revisited = 0;
    prepared.advances = EvenShare(all_revisits > 0 ? left / (left + all_revisits) : 1);
    for (std::size_t i = 0; i < advances.size(); ++i) {
      const double later = std::accumulate(advances.begin() + static_cast<std::ptrdiff_t>(i) + 1, advances.end(), 0.0);
      prepared.regions[i].advances = EvenShare(advances[i] > 0 ? (later > 0 ? advances[i] / (advances[i] + later) : 1) : 0);
      revisited += revisits[i];
      const bool last = std::all_of(revisits.begin() + static_cast<std::ptrdiff_t>(i) + 1, revisits.end(),
                                    [](double r) { return r <= 0; });
      prepared.regions[i].revisited_below = all_revisits > 0 ? threshold(last ? 1 : revisited / all_revisits) : 0;
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

  /// The memory instructions of one warp are numbers first, first + step, ... of its group, of age, age + 1, ...
  struct Numbers {
    std::uint64_t first, step, age;
  };

  /// Writes one warp's ops from `next` on, and returns the end.
  static Op* generate_warp(const PreparedKernel& kernel, std::vector<PreparedRegion>& regions, Numbers numbers,
                           WarpRandom& random, Op* next, CtaProgram& out) {
    const KernelConfig& config = kernel.config;
    std::uint64_t number = numbers.first;
    for (PreparedRegion& r : regions) r.stream.begin_warp();
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
      // Which instructions advance, and where, is counted and not drawn: each line of a round is touched by exactly one of
      // them, however few a warp has. The rest go behind the heads at random.
      const EvenShare::Place place = kernel.advances.at(number);
      std::uint64_t advances = place.before;
      number += numbers.step;
      const std::uint32_t where = draw_part(draw, 0);
      std::size_t chosen = 0;
      std::uint64_t before = 0;
      for (;; ++chosen) {
        const EvenShare::Place of_region = regions[chosen].advances.at(advances);
        before = of_region.before;
        if (place.taken ? of_region.taken : where < regions[chosen].revisited_below) break;
        advances -= before;
      }
      PreparedRegion& region = regions[chosen];
      Op op;
      op.first_access = static_cast<std::uint32_t>(out.accesses.size());
      if (place.taken)
        region.stream.advance(before, random, out.accesses);
      else
        region.stream.revisit(before, numbers.age + m, random, draw_part(draw, 1), out.accesses);
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
  std::uint64_t page_bytes_;
  std::vector<PreparedKernel> prepared_;
  std::vector<std::size_t> prepared_of_;  ///< by launched kernel
  std::vector<KernelInfo> infos_;
  std::vector<DataStructure> structures_;
  std::uint32_t laid_out_for_ = 0;
  std::string scaled_otherwise_;
};

}  // namespace

std::unique_ptr<Workload> open_parametric(const std::string& path, const WorkloadFit& fit) {
  ParametricConfig config = read_parametric(path, fit.chips);
  std::string scaled_otherwise = scale(config, fit.scale_by);
  return std::make_unique<ParametricWorkload>(config, fit.page_bytes, std::move(scaled_otherwise));
}

}  // namespace atl
