#include "policies/registry.hpp"

#include <array>

#include "core/engine/error.hpp"
#include "policies/llc/fixed_role.hpp"

namespace atl {
namespace {

constexpr std::array kPolicies{
    PolicyInfo{LlcOrganisation::memory_side, "memory_side", "slices hold their own chip's lines, for the SMs of every chip",
               make_memory_side},
    PolicyInfo{LlcOrganisation::sm_side, "sm_side", "slices hold any chip's lines, for the SMs of their own chip",
               make_sm_side},
};

}  // namespace

std::span<const PolicyInfo> policies() { return kPolicies; }

std::unique_ptr<Policy> make_policy(const SystemConfig& config) {
  for (const PolicyInfo& p : kPolicies) {
    if (p.organisation == config.llc.organisation) return p.make(config);
  }
  throw InputError("llc.organisation", "this organisation has no policy in policies/registry.cpp");
}

}  // namespace atl
