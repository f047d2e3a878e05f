#include <doctest/doctest.h>

#include <string>

#include "policies/plugin/api.hpp"
#include "policies/policy_state.hpp"

namespace atl::plugin_state_test {
namespace {

struct Empty : public Policy {
  Verdict at_kernel_start(std::size_t, Cycle) override { return {}; }
};
struct Counting : public Empty {
  int kernels = 0;
};
struct Sure : public Counting {
  static constexpr bool remembers_nothing = true;
};
struct Unsure : public Counting {
  static constexpr bool remembers_nothing = false;
};
struct Listed final : public PolicyWithState<Listed> {
  int kernels = 0;
  Verdict at_kernel_start(std::size_t, Cycle) override { return {}; }
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, kernels); }
};
class Hidden : public Counting {
  void save(SaveArchive& a) override { state(a, kernels); }
};
struct BelowHidden final : public Hidden {
  int more = 0;
};
class Guarded : public Counting {
 protected:
  void save(SaveArchive&) noexcept override {}
};
struct Overloaded final : public Counting {
  void save(SaveArchive& a) override { state(a, kernels); }
  void save(std::string& text) const { text += std::to_string(kernels); }
};

template <class Class> constexpr bool saves() { return policy_traits<Class>({.roles = LlcRole::sm_side}).saves; }

TEST_CASE("a class that has members and neither saves them nor says that they do not change cannot be in a checkpoint") {
  CHECK(!saves<Counting>());
  CHECK(!saves<Unsure>());
  CHECK(saves<Sure>());
  CHECK(saves<Empty>());
}

TEST_CASE("an override of save is found in any class between the policy and its base, whoever may call it") {
  CHECK(saves<Listed>());
  CHECK(saves<Hidden>());
  CHECK(saves<BelowHidden>());
  CHECK(saves<Guarded>());
  CHECK(saves<Overloaded>());
}

TEST_CASE("what else is declared stays, and so does that checkpoints cannot keep it") {
  const PolicyTraits traits = policy_traits<Listed>({.roles = LlcRole::split, .switches = true, .saves = false});
  CHECK(traits.roles == LlcRole::split);
  CHECK(traits.switches);
  CHECK(!traits.saves);
}

}  // namespace
}  // namespace atl::plugin_state_test
