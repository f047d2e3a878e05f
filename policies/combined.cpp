#include "policies/combined.hpp"

#include <algorithm>
#include <utility>

#include "core/engine/error.hpp"
#include "policies/policy_state.hpp"

namespace atl {
namespace {

/// One of the two, and how far its epoch has come.
struct Part {
  std::unique_ptr<Policy> policy;
  std::vector<Modes> modes;
  std::vector<ChipEpoch> sum;
  Cycle gone = 0;

  bool has_epochs() const { return modes[0].epoch_cycles != 0; }
  /// A profile of degrees that does not begin anew goes on from the kernel before, and so does its epoch.
  void start(std::vector<Modes> m) {
    modes = std::move(m);
    const ReplicationModes& r = modes[0].replication;
    gone = 0;
    if (!r.profile || r.restart) sum.clear();
    sum.resize(modes.size());
  }
  void begin_epoch() { gone = 0, sum.assign(modes.size(), {}); }

  void add(const Epoch& epoch) {
    gone += epoch.length;
    for (std::size_t i = 0; i < sum.size(); ++i) {
      const ChipEpoch& from = epoch.chips[i];
      sum[i].count += from.count;
      sum[i].profile = from.profile;  // counted from the profile's beginning
      sum[i].degrees += from.degrees;
    }
  }
  /// Whether it decided anything.
  bool end_epoch(const Epoch& epoch, std::vector<Decision>& decisions) {
    auto verdict = policy->at_epoch_end({epoch.kernel, epoch.end, gone, sum});
    begin_epoch();
    if (!verdict) return false;
    modes = std::move(verdict->modes);
    for (Decision& d : verdict->decisions) decisions.push_back(std::move(d));
    return true;
  }
  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, modes, sum, gone), carry_policy(a, *policy);
    require_state(sum.size() == modes.size());
    for (const Modes& m : modes) require_state(m.llc <= LlcRole::split && m.epoch_cycles == modes[0].epoch_cycles);
  }
};

class Combined final : public PolicyWithState<Combined> {
 public:
  Combined(std::unique_ptr<Policy> organisation, std::unique_ptr<Policy> replication) {
    organisation_.policy = std::move(organisation), replication_.policy = std::move(replication);
  }

  Verdict at_kernel_start(std::size_t kernel, Cycle start) override {
    Verdict v;
    for (Part* part : {&organisation_, &replication_}) {
      Verdict own = part->policy->at_kernel_start(kernel, start);
      part->start(std::move(own.modes));
      for (Decision& d : own.decisions) v.decisions.push_back(std::move(d));
    }
    v.modes = in_force_ = merged();
    return v;
  }

  /// Modes are those in force, with all that chips know of epochs, unless something else changes: they would begin anew.
  std::optional<Verdict> at_epoch_end(const Epoch& epoch) override {
    Verdict v;
    bool decided = false;
    for (Part* part : {&organisation_, &replication_}) {
      require_state(!part->modes.empty() && part->modes.size() == epoch.chips.size());
      if (!part->has_epochs()) continue;
      part->add(epoch);
      if (part->gone >= part->modes[0].epoch_cycles) decided |= part->end_epoch(epoch, v.decisions);
    }
    if (!decided) return std::nullopt;
    std::vector<Modes> modes = merged();
    if (!std::ranges::equal(modes, in_force_, alike)) in_force_ = std::move(modes);
    v.modes = in_force_;
    return v;
  }

  std::vector<Decision> at_kernel_end(const KernelEnd& end) override {
    std::vector<Decision> decisions = organisation_.policy->at_kernel_end(end);
    for (Decision& d : replication_.policy->at_kernel_end(end)) decisions.push_back(std::move(d));
    return decisions;
  }
  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, organisation_, replication_, in_force_);
    require_state(organisation_.modes.size() == replication_.modes.size() && organisation_.modes.size() == in_force_.size());
  }

 private:
  /// What the chips are told, in which a profile's restart is said once: it must not happen again with the other's
  /// decisions.
  std::vector<Modes> merged() {
    std::vector<Modes> all = organisation_.modes;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!(all[i].replication == ReplicationModes{}))
        throw InputError("llc.replication",
                         "decides degrees, and so does the policy of `llc.organisation`: set "
                         "`llc.replication` = policy, or have the policy leave `replication` alone");
      all[i].replication = replication_.modes[i].replication;
      replication_.modes[i].replication.restart = false;
      all[i].epoch_gone = static_cast<std::uint32_t>(organisation_.gone);
      all[i].beside_cycles = replication_.modes[i].epoch_cycles;
      all[i].beside_gone = static_cast<std::uint32_t>(replication_.gone);
    }
    return all;
  }
  /// A restart that was said has happened, and what has gone of epochs is known to the chips.
  static bool alike(Modes a, Modes b) {
    for (Modes* m : {&a, &b}) m->epoch_gone = m->beside_gone = 0;
    b.replication.restart = false;
    return a == b;
  }

  Part organisation_, replication_;
  std::vector<Modes> in_force_;
};

}  // namespace

std::unique_ptr<Policy> combine(std::unique_ptr<Policy> organisation, std::unique_ptr<Policy> replication) {
  return std::make_unique<Combined>(std::move(organisation), std::move(replication));
}

}  // namespace atl
