#include "policies/plugin/api.hpp"
#include "policies/policy_state.hpp"

// A policy in 45 lines: every kernel begins memory-side; once its LLCs hit more often than not, what the chips share fits,
// and the LLCs turn SM-side for the rest of the kernel, and for the next kernels.
namespace {

using namespace atl;

class HitRate final : public PolicyWithState<HitRate> {
 public:
  /// Its own number: --set llc.policy_options="threshold=0.6".
  static std::vector<PolicyOption> options() { return {{"threshold", 0.5}}; }

  explicit HitRate(const SystemConfig& c)
      : chips_(c.chips), threshold_(policy_option<HitRate>(c.llc.policy_options, "threshold")) {}

  Verdict at_kernel_start(std::size_t, Cycle) override { return {{}, modes()}; }

  std::optional<Verdict> at_epoch_end(const Epoch& epoch) override {
    std::uint64_t hits = 0, accesses = 0;
    for (const ChipEpoch& chip : epoch.chips)
      hits += chip.count[Counter::llc_hits], accesses += chip.count[Counter::llc_accesses];
    if (accesses == 0 || sm_side_) return std::nullopt;
    const double rate = static_cast<double>(hits) / static_cast<double>(accesses);
    sm_side_ = rate > threshold_;
    return Verdict{{{epoch.kernel, epoch.end, sm_side_ ? "sm_side" : "memory_side", {{"hit_rate", rate}}}}, modes()};
  }

  /// What it remembers, for checkpoints.
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, sm_side_); }

 private:
  std::vector<Modes> modes() const {
    const LlcRole role = sm_side_ ? LlcRole::sm_side : LlcRole::memory_side;
    return std::vector<Modes>(chips_, Modes{.llc = role, .epoch_cycles = sm_side_ ? 0u : 10000u});
  }

  std::uint32_t chips_;
  double threshold_;
  bool sm_side_ = false;
};

constexpr PolicyTraits kTraits{.roles = Roles(LlcRole::memory_side) | LlcRole::sm_side, .switches = true};

}  // namespace

ATOLL_POLICY_PLUGIN("hit_rate", kTraits, HitRate)
