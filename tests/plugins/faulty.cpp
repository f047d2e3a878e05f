#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "core/engine/error.hpp"
#include "policies/plugin/api.hpp"
#include "policies/policy_state.hpp"

namespace {

/// The environment says what is wrong with it.
bool has_fault(std::string_view fault) {
  const char* given = std::getenv("ATOLL_FAULT");
  return given != nullptr && fault == given;
}

[[maybe_unused]] const bool kStarted = [] {
  if (has_fault("static")) throw std::runtime_error("out of luck");
  return true;
}();

const char* name() {
  if (has_fault("entry")) throw std::runtime_error("out of luck");
  if (has_fault("no name")) return nullptr;
  if (has_fault("empty name")) return "";
  if (has_fault("two lines")) return "a\nb";
  return has_fault("built-in name") ? "sac" : "faulty";
}

/// Saves what it counts; a fault is in what it loads.
class Faulty final : public atl::Policy {
 public:
  explicit Faulty(const atl::SystemConfig& c) : chips_(c.chips) {}
  atl::Verdict at_kernel_start(std::size_t kernel, atl::Cycle start) override {
    ++kernels_;
    atl::Verdict v{{}, std::vector<atl::Modes>(chips_)};
    if (has_fault("other kernel") && kernel != 0) v.decisions.push_back({kernel - 1, start, "sm_side", {}});
    if (has_fault("own error")) throw atl::SimulationError("out of luck");
    return v;
  }
  void save(atl::SaveArchive& a) override { atl::state(a, kernels_, chips_); }
  void load(atl::LoadArchive& a) override {
    std::uint32_t lost = 0;
    atl::state(a, has_fault("loads nothing") ? lost : kernels_);
    if (!has_fault("loads less")) atl::state(a, chips_);
    if (has_fault("loads more")) atl::state(a, lost);
  }

 private:
  std::uint32_t chips_, kernels_ = 0;
};

}  // namespace

ATOLL_POLICY_PLUGIN(name(), (atl::PolicyTraits{.roles = atl::LlcRole::memory_side}), Faulty)
