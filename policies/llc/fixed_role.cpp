#include "policies/llc/fixed_role.hpp"

namespace atl {
namespace {

class FixedRole final : public Policy {
 public:
  FixedRole(LlcRole role, std::uint32_t chips) : modes_(chips, Modes{.llc = role}) {}
  std::vector<Modes> at_kernel_start(std::size_t, Cycle) override { return modes_; }

 private:
  const std::vector<Modes> modes_;
};

}  // namespace

std::unique_ptr<Policy> make_memory_side(const SystemConfig& c) {
  return std::make_unique<FixedRole>(LlcRole::memory_side, c.chips);
}
/// Slices that hold no remote lines are memory-side ones.
std::unique_ptr<Policy> make_sm_side(const SystemConfig& c) {
  const bool none = keeps_remote_out_of_llc(c.coherence.protocol);
  return std::make_unique<FixedRole>(none ? LlcRole::memory_side : LlcRole::sm_side, c.chips);
}

}  // namespace atl
