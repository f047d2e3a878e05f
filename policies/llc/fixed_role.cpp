#include "policies/llc/fixed_role.hpp"

namespace atl {
namespace {

class FixedRole final : public Policy {
 public:
  explicit FixedRole(LlcRole role) : role_(role) {}
  Modes at_kernel_start(std::size_t) override { return {.llc = role_}; }

 private:
  LlcRole role_;
};

}  // namespace

std::unique_ptr<Policy> make_memory_side(const SystemConfig&) { return std::make_unique<FixedRole>(LlcRole::memory_side); }
/// Slices that hold no remote lines are memory-side ones.
std::unique_ptr<Policy> make_sm_side(const SystemConfig& c) {
  return std::make_unique<FixedRole>(keeps_remote_out_of_llc(c.coherence.protocol) ? LlcRole::memory_side
                                                                                   : LlcRole::sm_side);
}

}  // namespace atl
