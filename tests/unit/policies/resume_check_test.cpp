#include "policies/resume_check.hpp"

#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <string>

#include "core/engine/error.hpp"
#include "policies/policy_state.hpp"
#include "policies/registry.hpp"

using namespace atl;

namespace {

/// Decides by two numbers, of which a checkpoint may have one or neither.
struct Counting final : public PolicyWithState<Counting> {
  int saved = 2;  ///< how many of the two are saved
  std::uint64_t kernels = 0, doubled = 1;

  explicit Counting(int n) : saved(n) {}
  Verdict at_kernel_start(std::size_t, Cycle) override {
    kernels += doubled, doubled *= 2;
    return {{}, {Modes{.local_ways = kernels < 100 ? 0u : 1u}}};
  }
  std::vector<Decision> at_kernel_end(const KernelEnd& end) override {
    return {{end.kernel, end.end, "sum", {{"kernels", static_cast<double>(kernels)}}}};
  }
  template <class Archive> void serialize(Archive& a, unsigned) {
    if (saved > 0) state(a, kernels);
    if (saved > 1) state(a, doubled);
  }
};

/// Saves two numbers and takes `loaded` of them back.
struct Lopsided final : public Policy {
  int loaded;
  explicit Lopsided(int n) : loaded(n) {}
  Verdict at_kernel_start(std::size_t, Cycle) override { return {}; }
  void save(SaveArchive& a) override {
    std::uint64_t one = 1, two = 2;
    state(a, one, two);
  }
  void load(LoadArchive& a) override {
    std::uint64_t number = 0;
    for (int i = 0; i < loaded; ++i) state(a, number);
  }
};

std::unique_ptr<Policy> checked(int saved) {
  return check_resume("mine", std::make_unique<Counting>(saved), [=] { return std::make_unique<Counting>(saved); });
}

}  // namespace

TEST_CASE("a policy that saves all that it decides by answers as without the check") {
  const auto policy = checked(2);
  Counting alone(2);
  for (std::size_t k = 0; k < 20; ++k) {
    CHECK(policy->at_kernel_start(k, 10 * k).modes == alone.at_kernel_start(k, 10 * k).modes);
    CHECK(policy->at_kernel_end({k, 10 * k + 5, {}}).at(0).values == alone.at_kernel_end({k, 10 * k + 5, {}}).at(0).values);
  }
}

TEST_CASE("a policy that saves nothing of what it counts is told of at the first decision by it") {
  const auto policy = checked(0);
  CHECK_NOTHROW(policy->at_kernel_start(0, 0));  // modes are alike, whatever was counted
  CHECK_THROWS_WITH_AS(policy->at_kernel_end({0, 500, {}}),
                       doctest::Contains("loaded from it right before returns something else from at_kernel_end of kernel 0 "
                                         "at cycle 500"),
                       InputError);
}

TEST_CASE(
    "a policy that loads more or less than it saves is refused at the first call, since no checkpoint could be resumed") {
  for (const int loaded : {0, 1, 3}) {
    CAPTURE(loaded);
    const auto policy =
        check_resume("mine", std::make_unique<Lopsided>(loaded), [=] { return std::make_unique<Lopsided>(loaded); });
    CHECK_THROWS_WITH_AS(policy->at_kernel_start(0, 0),
                         doctest::Contains("mine: `load` does not take all that `save` writes"), InputError);
  }
  CHECK_NOTHROW(check_resume("mine", std::make_unique<Lopsided>(2), [] {
                  return std::make_unique<Lopsided>(2);
                })->at_kernel_start(0, 0));
}

TEST_CASE("what first changes what is saved, and only later a decision, is seen by who was loaded some calls ago") {
  const auto policy = checked(1);
  // Both numbers are as in a new object before kernel 0; whoever is loaded from then on counts by ones.
  std::string said;
  for (std::size_t k = 0; k < 20 && said.empty(); ++k) {
    try {
      policy->at_kernel_start(k, k);
    } catch (const InputError& e) {
      said = e.what();
    }
  }
  CHECK(said.find("from at_kernel_start of kernel 6 at cycle 6") != said.npos);
}

TEST_CASE("the built-in policies save all that they decide by") {
  SystemConfig c;
  c.llc.organisation = LlcOrganisation::sac, c.llc.replication = Replication::selrep;
  c.selrep.epoch_cycles = c.sac.window_cycles;
  const auto policy = check_resume("sac", load_policy(c).policy, [c] { return load_policy(c).policy; });
  std::vector<ChipEpoch> chips(c.chips);
  std::vector<Counters> counts(c.chips);
  std::size_t decisions = 0;
  const Cycle window = c.sac.window_cycles;
  for (std::size_t k = 0; k < 6; ++k) {
    policy->at_kernel_start(k, 10 * window * k);
    for (std::uint64_t e = 1; e < 5; ++e) {
      for (ChipEpoch& chip : chips) {
        LlcProfile& p = chip.profile;
        p.at_home.assign(c.llc.slices, e + k), p.at_requester.assign(c.llc.slices, 2 * e);
        p.crd_requests = 100, p.crd_hits = 20 * e, p.requests = 1000, p.hits = 100 * (k + 1);
      }
      const auto verdict = policy->at_epoch_end({k, (10 * k + e) * window, window, chips});
      decisions += verdict ? verdict->decisions.size() : 0;
    }
    policy->at_kernel_end({k, (10 * k + 9) * window, counts});
  }
  CHECK(decisions > 6);
}
