#include <fmt/format.h>

#include <algorithm>

#include "partition/replica_map.hpp"
#include "policies/policy_state.hpp"
#include "policies/replication/degree_bandwidth.hpp"
#include "policies/replication/degree_policies.hpp"

namespace atl {
namespace {

/// Each chip has the degree of the most bandwidth for the next epoch (SelRep section III-C). The degree goes on from one
/// kernel to the next, and so do epochs unless `selrep.restart` = kernel. `selrep.limit` = replies is ours.
class Selrep final : public PolicyWithState<Selrep> {
 public:
  explicit Selrep(const SystemConfig& c)
      : c_(c), levels_(ReplicaMap(c).levels()), bandwidth_(slice_bandwidth(c)), level_(c.chips), conflict_(c.chips) {}

  Verdict at_kernel_start(std::size_t, Cycle start) override {
    const Cycle epoch = c_.selrep.epoch_cycles;
    if (c_.selrep.restart == EpochRestart::kernel) return {{}, modes(c_.selrep.epoch_cycles, true)};
    const Cycle gone = start - std::min(start, epoch_begin_);
    return {{}, modes(static_cast<std::uint32_t>(std::max<Cycle>(kShortest, epoch - std::min(epoch, gone))))};
  }

  std::optional<Verdict> at_epoch_end(const Epoch& epoch) override {
    epoch_begin_ = epoch.end;
    Decision d{epoch.kernel, epoch.end, {}, {}};
    for (std::size_t chip = 0; chip < level_.size(); ++chip) choose(chip, epoch.chips[chip].degrees, d);
    return Verdict{{std::move(d)}, modes(c_.selrep.epoch_cycles)};
  }
  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, fixed(level_), fixed(conflict_), epoch_begin_);
    for (const std::uint32_t level : level_) require_state(level < levels_);
    for (const double conflict : conflict_) require_state(conflict >= 0);
  }

 private:
  /// A shorter epoch would end while the answer to the one before is under way.
  static constexpr Cycle kShortest = 1000;

  /// Of degrees that are alike in bandwidth the one that `selrep.tie` says. As published, only equal ones are, and the
  /// lowest is taken: the paper has no rule for them. A chip without requests keeps its degree.
  void choose(std::size_t chip, const DegreeCounts& counts, Decision& d) {
    const std::string prefix = level_.size() == 1 ? "" : fmt::format("chip{}.", chip);
    const bool known = !counts.sampled.empty() && counts.sampled[0] != 0;
    const bool replies = c_.selrep.limit == DegreeLimit::replies;
    // A private LLC has no conflicts, and tells nothing of other degrees': what was seen before holds.
    if (known && replies && level_[chip] + 1 < levels_) conflict_[chip] = reply_conflict(counts, level_[chip], levels_);
    std::vector<double> total;
    for (std::uint32_t level = 0; known && level < levels_; ++level) {
      const DegreeBandwidth b = degree_bandwidth(counts, level, bandwidth_);
      const std::string name = prefix + degree_name(level, levels_);
      d.values.insert(d.values.end(), {{name + ".lsp", b.parallelism},
                                       {name + ".hit", b.hit},
                                       {name + ".b_hit", b.hits},
                                       {name + ".b_miss", b.misses},
                                       {name + ".bandwidth", b.total()}});
      const double loss = reply_loss(conflict_[chip], level, levels_);
      if (replies) d.values.emplace_back(name + ".reply_loss", loss);
      total.push_back(b.total() * (1 - loss));
    }
    if (known) level_[chip] = best(total);
    const double sampled = known ? static_cast<double>(counts.sampled[0]) : 0;
    d.values.insert(d.values.end(), {{prefix + "degree", double(1u << level_[chip])}, {prefix + "sampled", sampled}});
    if (!d.choice.empty()) d.choice += " ";
    d.choice += degree_name(level_[chip], levels_);
  }

  std::uint32_t best(const std::vector<double>& bandwidth) const {
    const double least = *std::ranges::max_element(bandwidth) * (1 - c_.selrep.margin);
    const auto alike = [least](double b) { return b >= least; };
    if (c_.selrep.tie == DegreeTie::lowest)
      return static_cast<std::uint32_t>(std::ranges::find_if(bandwidth, alike) - bandwidth.begin());
    const auto last = std::find_if(bandwidth.rbegin(), bandwidth.rend(), alike);
    return static_cast<std::uint32_t>(bandwidth.rend() - last - 1);
  }

  std::vector<Modes> modes(std::uint32_t epoch_cycles, bool restart = false) const {
    std::vector<Modes> all;
    for (const std::uint32_t level : level_)
      all.push_back({.epoch_cycles = epoch_cycles, .replication = {.level = level, .profile = true, .restart = restart}});
    return all;
  }

  const SystemConfig c_;
  const std::uint32_t levels_;
  const SliceBandwidth bandwidth_;
  std::vector<std::uint32_t> level_;  ///< [chip]
  std::vector<double> conflict_;      ///< [chip] reply_conflict(); 0 unless `selrep.limit` = replies
  Cycle epoch_begin_ = 0;
};

}  // namespace

std::unique_ptr<Policy> make_selrep(const SystemConfig& c) { return std::make_unique<Selrep>(c); }

std::optional<SelrepStorage> selrep_storage(const SystemConfig& c) {
  constexpr std::uint64_t kCounterBits = 16, kDirectoryBytes = 520;
  const SelrepConfig& s = c.selrep;
  const ReplicaMap map(c);
  if (s.limit != DegreeLimit::slices || s.directory != DegreePrediction::line_tags || s.directory_sets != 2 ||
      s.directory_ways != 16 || map.slices() != 16)
    return std::nullopt;
  const std::uint64_t counters = std::uint64_t{map.slices()} * map.levels() + map.levels() + 1;
  return SelrepStorage{counters * kCounterBits / 8, kDirectoryBytes};
}

}  // namespace atl
