#include "partition/replica_map.hpp"
#include "policies/policy_state.hpp"
#include "policies/replication/degree_bandwidth.hpp"
#include "policies/replication/degree_policies.hpp"

namespace atl {
namespace {

/// The Adaptive LLC: shared while it profiles, then shared or private with all its lines until the epoch ends. Kernels begin
/// shared. The profile sees shared traffic only, and of it the sampled sets.
class Adaptive final : public PolicyWithState<Adaptive> {
 public:
  explicit Adaptive(const SystemConfig& c) : c_(c), levels_(ReplicaMap(c).levels()), bandwidth_(slice_bandwidth(c)) {}

  Verdict at_kernel_start(std::size_t, Cycle) override { return {{}, profile()}; }

  std::optional<Verdict> at_epoch_end(const Epoch& epoch) override {
    Decision d{epoch.kernel, epoch.end, "profile", {}};
    if (!profiling_) return Verdict{{std::move(d)}, profile()};
    profiling_ = false;
    DegreeCounts sum;
    for (const ChipEpoch& c : epoch.chips) sum += c.degrees;
    require_state(!sum.sampled.empty());
    const DegreeBandwidth shared = degree_bandwidth(sum, 0, bandwidth_);
    const DegreeBandwidth own = degree_bandwidth(sum, levels_ - 1, bandwidth_);
    const bool known = sum.sampled[0] != 0;
    const bool loses_little = (1 - own.hit) <= (1 - shared.hit) + c_.adaptive.miss_margin;
    const bool to_private = known && (loses_little || own.total() > shared.total());
    d.choice = to_private ? "private" : "shared";
    d.values = {{"shared.lsp", shared.parallelism}, {"shared.hit", shared.hit}, {"shared.bandwidth", shared.total()},
                {"private.lsp", own.parallelism},   {"private.hit", own.hit},   {"private.bandwidth", own.total()},
                {"sampled", double(sum.sampled[0])}};
    return Verdict{{std::move(d)}, to_private ? all({.level = levels_ - 1, .all_lines = true}, kEpoch) : all({}, kEpoch)};
  }
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, profiling_); }

 private:
  enum Length { kWindow, kEpoch };
  std::vector<Modes> profile() {
    profiling_ = true;
    return all({.profile = true, .restart = true}, kWindow);
  }
  std::vector<Modes> all(const ReplicationModes& r, Length length) const {
    const std::uint32_t cycles = length == kWindow ? c_.adaptive.window_cycles : c_.adaptive.epoch_cycles;
    return std::vector<Modes>(c_.chips, Modes{.epoch_cycles = cycles, .replication = r});
  }

  const SystemConfig c_;
  const std::uint32_t levels_;
  const SliceBandwidth bandwidth_;
  bool profiling_ = false;
};

}  // namespace

std::unique_ptr<Policy> make_adaptive(const SystemConfig& c) { return std::make_unique<Adaptive>(c); }

}  // namespace atl
