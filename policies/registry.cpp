#include "policies/registry.hpp"

#include <array>
#include <utility>

#include "core/engine/error.hpp"
#include "policies/coherence/rec_adaptive.hpp"
#include "policies/combined.hpp"
#include "policies/llc/fixed_role.hpp"
#include "policies/llc/sac.hpp"
#include "policies/llc/split.hpp"
#include "policies/replication/degree_policies.hpp"

namespace atl {
namespace {

constexpr std::array kPolicies{
    PolicyInfo{LlcOrganisation::memory_side, "memory_side", "slices hold their own chip's lines, for the SMs of every chip",
               make_memory_side},
    PolicyInfo{LlcOrganisation::sm_side, "sm_side", "slices hold any chip's lines, for the SMs of their own chip",
               make_sm_side},
    PolicyInfo{LlcOrganisation::fixed_split, "static", "ways divided between local and remote lines once and for all",
               make_static},
    PolicyInfo{LlcOrganisation::dynamic_split, "dynamic", "ways divided anew every period, by what is saturated",
               make_dynamic},
    PolicyInfo{LlcOrganisation::sac, "sac", "memory-side or SM-side, chosen for each kernel from a short profile", make_sac},
};

}  // namespace

std::span<const PolicyInfo> policies() { return kPolicies; }

std::unique_ptr<Policy> make_policy(const SystemConfig& config) {
  for (const PolicyInfo& p : kPolicies) {
    if (p.organisation != config.llc.organisation) continue;
    std::unique_ptr<Policy> policy = p.make(config);
    if (config.llc.replication != Replication::shared) policy = combine(std::move(policy), make_replication(config));
    if (config.coherence.protocol == CoherenceProtocol::rec_adaptive) policy = make_rec_adaptive(config, std::move(policy));
    return policy;
  }
  throw InputError("llc.organisation", "this organisation has no policy in policies/registry.cpp");
}

}  // namespace atl
