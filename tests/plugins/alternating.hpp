#pragma once
#include "policies/plugin/api.hpp"

namespace atl::test {

/// memory_side and sm_side in turn, kernel by kernel: what a first policy of one's own might do.
class Alternating final : public Policy {
 public:
  static constexpr bool remembers_nothing = true;

  explicit Alternating(const SystemConfig& c) : chips_(c.chips) {}

  Verdict at_kernel_start(std::size_t kernel, Cycle start) override {
    const LlcRole role = kernel % 2 == 0 ? LlcRole::memory_side : LlcRole::sm_side;
    return {{{kernel, start, std::string(name_of(role)), {}}}, std::vector<Modes>(chips_, Modes{.llc = role})};
  }

 private:
  std::uint32_t chips_;
};

inline constexpr PolicyTraits kAlternating{.roles = Roles(LlcRole::memory_side) | LlcRole::sm_side, .switches = true};

}  // namespace atl::test
