#include "policies/llc/sac.hpp"

#include <algorithm>
#include <cmath>

#include "partition/bandwidth.hpp"
#include "policies/policy_state.hpp"

namespace atl {
namespace {

class Sac final : public PolicyWithState<Sac> {
 public:
  explicit Sac(const SystemConfig& config) : config_(config) {}

  Verdict at_kernel_start(std::size_t, Cycle) override {
    windows_ = 0;  // of a kernel that ended within them
    return {{}, all(profiling())};
  }

  std::optional<Verdict> at_epoch_end(const Epoch& epoch) override {
    Verdict v{{{epoch.kernel, epoch.end, {}, {}}}, {}};
    Decision& decision = v.decisions[0];
    if (!profiling_) {
      decision.choice = "profile";
      v.modes = all(profiling());
      return v;
    }
    const EabInputs in = eab_inputs(config_, epoch.chips);
    const Eab memory = eab_memory_side(in), sm = eab_sm_side(in);
    const double wanted = memory.total() * (1 + config_.sac.threshold);
    const bool sm_side = sm.total() > wanted;
    decision.choice = sm_side ? "sm_side" : "memory_side";
    decision.values = report(in, memory, sm);
    // How much the two hit rates rest on: a window has some ten thousand requests, of which the directory sees one in 256.
    std::uint64_t requests = 0, sampled = 0;
    for (const ChipEpoch& c : epoch.chips) requests += c.profile.requests, sampled += c.profile.crd_requests;
    decision.values.emplace_back("memory_side.requests", static_cast<double>(requests));
    decision.values.emplace_back("sm_side.sampled_requests", static_cast<double>(sampled));
    if (config_.sac.confidence > 0) {
      const auto [low, high] = eab_within(in, sampled, config_.sac.confidence);
      decision.values.insert(decision.values.end(), {{"sm_side.eab_low", low}, {"sm_side.eab_high", high}});
      if (low <= wanted && wanted < high && ++windows_ < config_.sac.confidence_windows) {
        decision.choice = "profile";
        v.modes = all(profiling());
        return v;
      }
    }
    profiling_ = false, windows_ = 0;
    v.modes = all({.llc = sm_side ? LlcRole::sm_side : LlcRole::memory_side, .epoch_cycles = config_.sac.reprofile_cycles});
    return v;
  }
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, profiling_, windows_); }

 private:
  Modes profiling() {
    profiling_ = true;
    return {.llc = LlcRole::memory_side, .profile = true, .epoch_cycles = config_.sac.window_cycles};
  }
  std::vector<Modes> all(const Modes& m) const { return std::vector<Modes>(config_.chips, m); }

  static std::vector<std::pair<std::string, double>> report(const EabInputs& in, const Eab& memory, const Eab& sm) {
    std::vector<std::pair<std::string, double>> v{{"r_local", in.r_local},
                                                  {"memory_side.hit", in.memory_side.hit},
                                                  {"memory_side.lsu", in.memory_side.lsu},
                                                  {"sm_side.hit", in.sm_side.hit},
                                                  {"sm_side.lsu", in.sm_side.lsu}};
    const auto add = [&](const std::string& name, const EabTerms& t) {
      v.insert(v.end(), {{name + ".b_sm_llc", t.sm_llc},
                         {name + ".b_llc_hit", t.llc_hit},
                         {name + ".b_llc_miss", t.llc_miss},
                         {name + ".b_llc_mem", t.llc_mem},
                         {name + ".b_mem", t.mem},
                         {name + ".eab", t.value()}});
    };
    add("memory_side.local", memory.local), add("memory_side.remote", memory.remote);
    add("sm_side.local", sm.local), add("sm_side.remote", sm.remote);
    v.insert(v.end(), {{"memory_side.eab", memory.total()}, {"sm_side.eab", sm.total()}});
    return v;
  }

  const SystemConfig config_;
  bool profiling_ = false;
  std::uint32_t windows_ = 0;  ///< of the profile under way, that have not sufficed
};

}  // namespace

std::unique_ptr<Policy> make_sac(const SystemConfig& config) { return std::make_unique<Sac>(config); }

double slice_uniformity(std::span<const ChipEpoch> chips, std::vector<std::uint64_t> LlcProfile::*requests) {
  std::uint64_t sum = 0, most = 0, slices = 0;
  for (const ChipEpoch& c : chips) {
    for (const std::uint64_t r : c.profile.*requests) sum += r, most = std::max(most, r), ++slices;
  }
  return most == 0 ? 1 : static_cast<double>(sum) / static_cast<double>(slices) / static_cast<double>(most);
}

EabInputs eab_inputs(const SystemConfig& config, std::span<const ChipEpoch> chips) {
  LlcProfile sum;
  for (const ChipEpoch& c : chips) {
    for (const auto member : {&LlcProfile::requests, &LlcProfile::hits, &LlcProfile::merges, &LlcProfile::local,
                              &LlcProfile::remote, &LlcProfile::crd_requests, &LlcProfile::crd_hits})
      sum.*member += c.profile.*member;
  }
  const auto ratio = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  const SystemBandwidth b = system_bandwidth(config);
  // A request that joins a pending miss of its line costs no memory access: the CRD calls it a hit, and so must the LLC's
  // counter, or SM-side caching looks better than it is wherever chips share lines at the same time.
  const std::uint64_t hits = sum.hits + (config.sac.merged_is_hit ? sum.merges : 0);
  return {.b_intra = b.intra,
          .b_inter = b.inter,
          .b_llc = b.llc,
          .b_mem = b.memory,
          .r_local = ratio(sum.local, sum.local + sum.remote),
          .memory_side = {ratio(hits, sum.requests), slice_uniformity(chips, &LlcProfile::at_home)},
          .sm_side = {ratio(sum.crd_hits, sum.crd_requests), slice_uniformity(chips, &LlcProfile::at_requester)}};
}

std::pair<double, double> eab_within(const EabInputs& in, std::uint64_t sampled, double errors) {
  // One hit and one miss more than were seen: a rate of 0 or 1 out of a few samples is not exact.
  const double n = static_cast<double>(sampled), rate = (in.sm_side.hit * n + 1) / (n + 2);
  const double error = errors * std::sqrt(rate * (1 - rate) / std::max(1.0, n));
  EabInputs low = in, high = in;
  low.sm_side.hit = std::max(0.0, in.sm_side.hit - error), high.sm_side.hit = std::min(1.0, in.sm_side.hit + error);
  return {eab_sm_side(low).total(), eab_sm_side(high).total()};
}

SacStorage sac_storage(const SystemConfig& c) {
  constexpr std::uint64_t kSliceCounterBits = 16, kCounterBits = 24, kCounters = 4, kOrganisations = 2;
  const std::uint64_t presence = std::uint64_t{c.chips} * (c.llc.sectored ? c.line_bytes / 32 : 1);
  return {.crd = std::uint64_t{c.sac.crd_sets} * c.sac.crd_ways * (c.sac.crd_tag_bits + presence) / 8,
          .slice_counters = kOrganisations * c.llc.slices * kSliceCounterBits / 8,
          .counters = kCounters * kCounterBits / 8};
}

}  // namespace atl
