#include "policies/coherence/rec_adaptive.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "policies/coherence/directory_layout.hpp"
#include "policies/policy_state.hpp"

namespace atl {
namespace {

/// All chips have the same range: what a kernel does in one, it does in most.
class RecAdaptive final : public PolicyWithState<RecAdaptive> {
 public:
  RecAdaptive(const SystemConfig& c, std::unique_ptr<Policy> rest)
      : c_(c), rest_(std::move(rest)), range_bytes_(c.coherence.range_bytes) {}

  Verdict at_kernel_start(std::size_t kernel, Cycle start) override {
    Verdict verdict = rest_->at_kernel_start(kernel, start);
    verdict.modes = with_range(std::move(verdict.modes));
    return verdict;
  }

  std::optional<Verdict> at_epoch_end(const Epoch& epoch) override {
    auto verdict = rest_->at_epoch_end(epoch);
    if (verdict) verdict->modes = with_range(std::move(verdict->modes));
    return verdict;
  }

  std::vector<Decision> at_kernel_end(const KernelEnd& end) override {
    auto decisions = rest_->at_kernel_end(end);
    RangeUse use;
    for (const Counters& c : end.chips) {
      use.lookups += c[Counter::directory_lookups], use.evictions += c[Counter::directory_evictions];
      use.evicted_lines += c[Counter::directory_evicted_lines];
    }
    range_bytes_ = next_range(c_, range_bytes_, use);
    decisions.push_back({end.kernel,
                         end.end,
                         fmt::format("{} B", range_bytes_),
                         {{"lines_per_entry", use.lines_per_entry()},
                          {"evictions", static_cast<double>(use.evictions)},
                          {"lookups", static_cast<double>(use.lookups)}}});
    return decisions;
  }
  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, range_bytes_), carry_policy(a, *rest_);
    const std::uint32_t lines = range_bytes_ / c_.line_bytes;
    require_state(range_bytes_ % c_.line_bytes == 0 && lines <= 64 && std::has_single_bit(lines));
  }

 private:
  std::vector<Modes> with_range(std::vector<Modes> modes) const {
    for (Modes& m : modes) m.range_bytes = range_bytes_;
    return modes;
  }

  const SystemConfig c_;
  const std::unique_ptr<Policy> rest_;
  std::uint32_t range_bytes_;
};

}  // namespace

std::uint32_t next_range(const SystemConfig& c, std::uint32_t range_bytes, const RangeUse& use) {
  const RecAdaptiveConfig& rule = c.rec_adaptive;
  const auto evictions = static_cast<double>(use.evictions);
  if (use.evictions == 0 || evictions < rule.min_evictions * static_cast<double>(use.lookups)) return range_bytes;
  const double full = use.lines_per_entry() * c.line_bytes / range_bytes;
  if (full < rule.narrow_below && range_bytes / 2 >= rule.min_range_bytes) return range_bytes / 2;
  if (full <= rule.widen_above || range_bytes * 2 > rule.max_range_bytes) return range_bytes;
  const DirectoryShape wide = directory_shape(c, range_bytes * 2);
  return wide.sets * wide.ways >= c.coherence.directory_ways ? range_bytes * 2 : range_bytes;
}

std::unique_ptr<Policy> make_rec_adaptive(const SystemConfig& c, std::unique_ptr<Policy> rest) {
  return std::make_unique<RecAdaptive>(c, std::move(rest));
}

}  // namespace atl
