#pragma once
#include <memory>
#include <span>
#include <string_view>

#include "inputs/config/system_config.hpp"
#include "policies/policy.hpp"

namespace atl {

/// A policy that `llc.organisation` can name.
struct PolicyInfo {
  LlcOrganisation organisation;
  std::string_view name;
  std::string_view doc;
  std::unique_ptr<Policy> (*make)(const SystemConfig&);
};

/// All policies, one line each. An explicit table: self-registering objects in a static library are dropped by the linker.
std::span<const PolicyInfo> policies();

/// The policy that the configuration names.
std::unique_ptr<Policy> make_policy(const SystemConfig& config);

}  // namespace atl
