#include <array>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "policies/plugin/api.hpp"

namespace {
/// A policy with a fault: what it throws is no error of Atoll's, and with two chips no std::exception either. With three or
/// five it ends the program, with six, seven or eight it crashes. With nine it returns no modes, with
/// ten to twelve modes with a field that is Atoll's own.
class Throwing final : public atl::Policy {
 public:
  explicit Throwing(const atl::SystemConfig& c) : chips_(c.chips) {}
  atl::Verdict at_kernel_start(std::size_t, atl::Cycle) override {
    if (chips_ == 2) throw 42;  // NOLINT(hicpp-exception-baseclass): on purpose
    if (chips_ == 3) std::exit(0);
    if (chips_ == 5) std::quick_exit(0);
    if (chips_ == 6) std::raise(SIGSEGV);
    if (chips_ == 7) std::abort();
    if (chips_ == 8) return for_ever(0);
    if (chips_ == 9) return {};
    if (chips_ == 10) return {{}, std::vector<atl::Modes>(chips_, {.epoch_gone = 5})};
    if (chips_ == 11) return {{}, std::vector<atl::Modes>(chips_, {.beside_cycles = 5})};
    if (chips_ == 12) return {{}, std::vector<atl::Modes>(chips_, {.beside_gone = 5})};
    throw std::runtime_error("out of luck");
  }

 private:
  /// Calls itself until there is no stack.
  atl::Verdict for_ever(std::uint32_t depth) {  // NOLINT(misc-no-recursion): on purpose
    std::array<volatile char, 4096> frame;      // no compiler makes a loop of this
    frame[depth % 4096] = 1;
    if (chips_ == 2) return {};
    atl::Verdict deeper = for_ever(depth + 1);
    deeper.decisions.resize(static_cast<std::size_t>(frame[depth % 4096]));
    return deeper;
  }

  std::uint32_t chips_;
};
}  // namespace

ATOLL_POLICY_PLUGIN("throwing", (atl::PolicyTraits{.roles = atl::LlcRole::memory_side}), Throwing)
