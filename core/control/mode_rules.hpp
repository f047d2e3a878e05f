#pragma once
#include <span>
#include <string>
#include <vector>

#include "inputs/config/system_config.hpp"
#include "policies/policy.hpp"

namespace atl {

/// Whether modes that a policy has returned may be obeyed: their number, what must be alike on all chips, what the policy
/// has declared, and what the machine and its coherence protocol allow. Checked once, in the controller, so that chips need
/// trust nobody.
class ModeRules {
 public:
  /// `policy`: its name, for messages.
  ModeRules(const SystemConfig& config, const PolicyTraits& traits, std::string policy)
      : config_(config), traits_(traits), policy_(std::move(policy)) {}

  /// The modes as chips obey them: where the protocol keeps remote lines out of slices, these are memory-side ones.
  /// `before`: the modes in force, if any are. Throws InputError, which names the policy, the kernel and the field.
  std::vector<Modes> accept(std::vector<Modes> modes, std::span<const Modes> before, std::size_t kernel) const;

  /// What it decided can be kept in the result, and is of this kernel at the latest, and of no later cycle than `now`.
  /// `launched`: of the decision's kernel. Throws InputError, which names the policy and the kernel.
  void check(const Decision& decision, std::size_t kernel, Cycle launched, Cycle now) const;

 private:
  static constexpr std::size_t kLongestName = 200;
  void check(std::span<const Modes> modes, std::size_t kernel) const;
  void check_role(const Modes& m, std::size_t kernel) const;
  void check_replication(const Modes& m, std::size_t kernel) const;
  void check_range(const Modes& m, std::size_t kernel) const;
  [[noreturn]] void refuse(std::size_t kernel, const std::string& why) const;

  const SystemConfig config_;
  const PolicyTraits traits_;
  const std::string policy_;
};

}  // namespace atl
