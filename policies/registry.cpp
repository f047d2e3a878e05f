#include "policies/registry.hpp"

#include <array>
#include <utility>

#include "policies/coherence/rec_adaptive.hpp"
#include "policies/combined.hpp"
#include "policies/llc/fixed_role.hpp"
#include "policies/llc/sac.hpp"
#include "policies/llc/split.hpp"
#include "policies/plugin/load.hpp"
#include "policies/replication/degree_policies.hpp"

namespace atl {
namespace {

struct Maker {
  LlcOrganisation organisation;
  std::unique_ptr<Policy> (*make)(const SystemConfig&);
};

/// All policies, one line each. An explicit table: self-registering objects in a static library are dropped by the linker.
constexpr std::array kMakers{
    Maker{LlcOrganisation::memory_side, make_memory_side},
    Maker{LlcOrganisation::sm_side, make_sm_side},
    Maker{LlcOrganisation::fixed_split, make_static},
    Maker{LlcOrganisation::dynamic_split, make_dynamic},
    Maker{LlcOrganisation::sac, make_sac},
};
static_assert(kMakers.size() + 1 == kOrganisations.size(), "every organisation but plugin has a maker");

LoadedPolicy organisation_policy(const SystemConfig& config) {
  const OrganisationRow& row = row_of(config.llc.organisation);
  for (const Maker& m : kMakers)
    if (m.organisation == row.value) return {m.make(config), row.traits, std::string(row.word), {}};
  return load_plugin(config);
}

std::unique_ptr<Policy> make_replication(const SystemConfig& c) {
  const ReplicationRow& row = row_of(c.llc.replication);
  if (!row.profiles) return make_fixed_degree(c);
  return row.all_lines ? make_adaptive(c) : make_selrep(c);
}

}  // namespace

LoadedPolicy load_policy(const SystemConfig& config) {
  LoadedPolicy p = organisation_policy(config);
  const bool own_degrees = config.llc.replication == Replication::shared || config.llc.replication == Replication::policy;
  if (!own_degrees) p.policy = combine(std::move(p.policy), make_replication(config));
  if (row_of(config.coherence.protocol).home.range_per_kernel) p.policy = make_rec_adaptive(config, std::move(p.policy));
  return p;
}

}  // namespace atl
