#include "policies/llc/fixed_role.hpp"

namespace atl {
namespace {

class FixedRole final : public Policy {
 public:
  FixedRole(LlcRole role, std::uint32_t chips) : modes_(chips, Modes{.llc = role}) {}
  Verdict at_kernel_start(std::size_t, Cycle) override { return {{}, modes_}; }

 private:
  const std::vector<Modes> modes_;
};

}  // namespace

std::unique_ptr<Policy> make_memory_side(const SystemConfig& c) {
  return std::make_unique<FixedRole>(LlcRole::memory_side, c.chips);
}
std::unique_ptr<Policy> make_sm_side(const SystemConfig& c) {
  return std::make_unique<FixedRole>(LlcRole::sm_side, c.chips);
}

}  // namespace atl
