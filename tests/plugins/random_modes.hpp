#pragma once
#include <algorithm>
#include <optional>
#include <random>

#include "partition/replica_map.hpp"
#include "policies/registry.hpp"

namespace atl::test {

/// Any modes that the protocol allows, at random, for every kernel and every epoch: no sequence may make a read stale.
class RandomModes final : public Policy {
 public:
  /// `switches`: else the role is one of the protocol's for the whole run.
  RandomModes(const SystemConfig& c, std::uint32_t seed, bool switches) : c_(c), random_(seed), switches_(switches) {}

  Verdict at_kernel_start(std::size_t, Cycle) override { return {{}, modes()}; }
  std::optional<Verdict> at_epoch_end(const Epoch& epoch) override {
    if (below(4) == 0) return std::nullopt;
    return Verdict{{{epoch.kernel, epoch.end, "random", {}}}, modes()};
  }

  static LoadedPolicy load(const SystemConfig& c, std::uint32_t seed, bool switches) {
    return {std::make_unique<RandomModes>(c, seed, switches),
            {.roles = kAllRoles, .switches = switches, .replicates = true, .llc_profile = true},
            "random",
            {}};
  }

 private:
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

  std::vector<Modes> modes() {
    const ProtocolRow& protocol = row_of(c_.coherence.protocol);
    const bool split = !protocol.full_map && protocol.llc_keeps_remote;
    Modes m;
    if (!role_ || switches_) role_ = static_cast<LlcRole>(below(split ? 3 : 2));
    m.llc = *role_;
    m.epoch_cycles = below(5) == 0 ? 0 : 200 + below(1500);
    m.profile = below(4) == 0;
    const auto local_ways = [&] { return m.llc == LlcRole::split ? 1 + below(c_.llc.ways - 1) : 0; };
    if (protocol.home.ranges && below(2) == 0)
      m.range_bytes =
          std::min((2u << below(4)) * c_.line_bytes, std::max(c_.partition.page_bytes(), c_.coherence.range_bytes));
    if (c_.llc.replication == Replication::policy) {
      m.replication.level = below(ReplicaMap(c_).levels());
      m.replication.profile = below(2) == 0;
      // Kept for a few epochs: a copy that a change of levels leaves behind is read when its level is back.
      if (below(4) == 0) all_lines_ = c_.coherence.protocol == CoherenceProtocol::software && below(2) == 0;
      m.replication.all_lines = all_lines_;
    }
    std::vector<Modes> all(c_.chips, m);
    for (Modes& chip : all) {  // these may differ
      chip.local_ways = local_ways();
      if (c_.llc.replication == Replication::policy && below(2) == 0)
        chip.replication.level = below(ReplicaMap(c_).levels());
    }
    return all;
  }

  const SystemConfig c_;
  std::mt19937 random_;
  const bool switches_;
  std::optional<LlcRole> role_;
  bool all_lines_ = false;
};

}  // namespace atl::test
