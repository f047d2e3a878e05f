#include <cstdlib>
#include <stdexcept>

#include "policies/plugin/api.hpp"

namespace {
/// A policy with a fault: what it throws is no error of Atoll's, and with two chips no std::exception either. With three or
/// five it ends the program.
class Throwing final : public atl::Policy {
 public:
  explicit Throwing(const atl::SystemConfig& c) : chips_(c.chips) {}
  atl::Verdict at_kernel_start(std::size_t, atl::Cycle) override {
    if (chips_ == 2) throw 42;  // NOLINT(hicpp-exception-baseclass): on purpose
    if (chips_ == 3) std::exit(0);
    if (chips_ == 5) std::quick_exit(0);
    throw std::runtime_error("out of luck");
  }

 private:
  std::uint32_t chips_;
};
}  // namespace

ATOLL_POLICY_PLUGIN("throwing", (atl::PolicyTraits{.roles = atl::LlcRole::memory_side}), Throwing)
