#include "policies/registry.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace atl;

TEST_CASE("every word of llc.organisation names exactly one policy") {
  for (const auto& word : words<LlcOrganisation>()) {
    const auto fits = [&](const PolicyInfo& p) {
      return p.organisation == word.value && p.name == word.word && !p.doc.empty();
    };
    CHECK(std::count_if(policies().begin(), policies().end(), fits) == 1);
  }
}

TEST_CASE("memory_side and sm_side keep their role for every kernel") {
  SystemConfig config;
  for (const auto& [organisation, role] :
       {std::pair{LlcOrganisation::memory_side, LlcRole::memory_side}, {LlcOrganisation::sm_side, LlcRole::sm_side}}) {
    config.llc.organisation = organisation;
    const auto policy = make_policy(config);
    for (std::size_t kernel = 0; kernel < 3; ++kernel) CHECK(policy->at_kernel_start(kernel, 0)[0].llc == role);
  }
}
