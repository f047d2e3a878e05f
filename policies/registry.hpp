#pragma once
#include <memory>
#include <string>

#include "inputs/config/system_config.hpp"
#include "policies/policy.hpp"

namespace atl {

/// A policy of a run, and what its plug-in or table row says of it.
struct LoadedPolicy {
  std::unique_ptr<Policy> policy;
  PolicyTraits traits;
  std::string name;
  std::string digest;  ///< of a plug-in's file; else empty

  Policy* operator->() const { return policy.get(); }
};

/// The policy that the configuration names, with the policies of replication and coherence around it. Errors: InputError
/// for a plug-in that cannot be loaded.
LoadedPolicy load_policy(const SystemConfig& config);

}  // namespace atl
