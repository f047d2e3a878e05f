#include "policies/registry.hpp"

#include <doctest/doctest.h>

using namespace atl;

TEST_CASE("every organisation but a plug-in has a policy of its name, with the traits of its row") {
  for (const OrganisationRow& row : kOrganisations) {
    if (row.value == LlcOrganisation::plugin) continue;
    SystemConfig config;
    config.llc.organisation = row.value;
    const LoadedPolicy policy = load_policy(config);
    CHECK(policy.name == row.word);
    CHECK(policy.traits.roles == row.traits.roles);
    const Verdict first = policy->at_kernel_start(0, 0);
    REQUIRE(first.modes.size() == config.chips);
    CHECK(row.traits.roles.has(first.modes[0].llc));
  }
}

TEST_CASE("memory_side and sm_side keep their role for every kernel") {
  SystemConfig config;
  for (const auto& [organisation, role] :
       {std::pair{LlcOrganisation::memory_side, LlcRole::memory_side}, {LlcOrganisation::sm_side, LlcRole::sm_side}}) {
    config.llc.organisation = organisation;
    const auto policy = load_policy(config);
    for (std::size_t kernel = 0; kernel < 3; ++kernel) CHECK(policy->at_kernel_start(kernel, 0).modes[0].llc == role);
  }
}
