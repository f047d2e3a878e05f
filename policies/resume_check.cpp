#include "policies/resume_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "core/engine/archive_bytes.hpp"
#include "core/engine/error.hpp"

namespace atl {
namespace {

/// One that was loaded from what another had saved.
struct Resumed {
  int calls;  ///< that it answers before it is made anew
  int left = 0;
  std::unique_ptr<Policy> policy{};
};

bool same(const Decision& a, const Decision& b) {
  return a.kernel == b.kernel && a.cycle == b.cycle && a.choice == b.choice && a.values == b.values;
}
bool same(const std::vector<Decision>& a, const std::vector<Decision>& b) {
  return std::ranges::equal(a, b, [](const Decision& x, const Decision& y) { return same(x, y); });
}
bool same(const Verdict& a, const Verdict& b) { return a.modes == b.modes && same(a.decisions, b.decisions); }
bool same(const std::optional<Verdict>& a, const std::optional<Verdict>& b) {
  return a && b ? same(*a, *b) : a.has_value() == b.has_value();
}

class ResumeCheck final : public Policy {
 public:
  ResumeCheck(std::string name, std::unique_ptr<Policy> policy, PolicyMaker make)
      : name_(std::move(name)), policy_(std::move(policy)), make_(std::move(make)) {}

  Verdict at_kernel_start(std::size_t kernel, Cycle start) override {
    return ask("at_kernel_start", kernel, start, [&](Policy& p) { return p.at_kernel_start(kernel, start); });
  }
  std::optional<Verdict> at_epoch_end(const Epoch& epoch) override {
    return ask("at_epoch_end", epoch.kernel, epoch.end, [&](Policy& p) { return p.at_epoch_end(epoch); });
  }
  std::vector<Decision> at_kernel_end(const KernelEnd& end) override {
    return ask("at_kernel_end", end.kernel, end.end, [&](Policy& p) { return p.at_kernel_end(end); });
  }
  void save(SaveArchive& a) override { policy_->save(a); }
  void load(LoadArchive& a) override { policy_->load(a); }

 private:
  template <class Call>
  std::invoke_result_t<Call, Policy&> ask(const char* method, std::uint64_t kernel, Cycle cycle, Call&& call) {
    std::optional<std::string> saved;
    for (Resumed& r : resumed_) {
      if (r.left == 0) make_anew(r, saved);
      --r.left;
    }
    auto answer = call(*policy_);
    for (Resumed& r : resumed_) {
      if (!same(call(*r.policy), answer))
        throw InputError(name_,
                         fmt::format("what it saves for checkpoints is not all that it decides by: one of its kind that "
                                     "was loaded from it {} before returns something else from {} of kernel {} at cycle "
                                     "{}; save all that it remembers, in the object and outside of it",
                                     calls(r.calls - r.left), method, kernel, cycle));
    }
    return answer;
  }
  static std::string calls(int n) { return n == 1 ? "right" : n == 2 ? "one call" : fmt::format("{} calls", n - 1); }

  void make_anew(Resumed& r, std::optional<std::string>& saved) {
    if (!saved) saved = bytes_of_state([&](SaveArchive& a) { policy_->save(a); });
    r.policy = make_();
    load_saved(name_, *saved, *r.policy);
    r.left = r.calls;
  }

  const std::string name_;
  const std::unique_ptr<Policy> policy_;
  const PolicyMaker make_;
  std::array<Resumed, 2> resumed_{Resumed{1}, Resumed{8}};
};

}  // namespace

void load_saved(const std::string& name, const std::string& saved, Policy& policy) {
  try {
    load_state(saved, [&](LoadArchive& a) { policy.load(a); });
  } catch (const SimulationError&) {
    throw InputError(
        name, "`load` does not take all that `save` writes, or takes more; a checkpoint with it could not be resumed");
  }
}

std::unique_ptr<Policy> check_resume(std::string name, std::unique_ptr<Policy> policy, PolicyMaker make) {
  return std::make_unique<ResumeCheck>(std::move(name), std::move(policy), std::move(make));
}

}  // namespace atl
