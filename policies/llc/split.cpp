#include "policies/llc/split.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "partition/bandwidth.hpp"
#include "policies/policy_state.hpp"

namespace atl {
namespace {

class StaticSplit final : public Policy {
 public:
  explicit StaticSplit(const SystemConfig& c) : modes_(c.chips, {.llc = LlcRole::split, .local_ways = c.llc.local_ways}) {}
  Verdict at_kernel_start(std::size_t, Cycle) override { return {{}, modes_}; }

 private:
  const std::vector<Modes> modes_;
};

class DynamicSplit final : public PolicyWithState<DynamicSplit> {
 public:
  explicit DynamicSplit(const SystemConfig& c) : c_(c), ways_(c.chips) {}

  Verdict at_kernel_start(std::size_t, Cycle) override {
    std::ranges::fill(ways_, c_.llc.local_ways);
    return {{}, std::vector<Modes>(c_.chips, modes(c_.llc.local_ways))};
  }

  std::optional<Verdict> at_epoch_end(const Epoch& epoch) override {
    Verdict v{{{epoch.kernel, epoch.end, {}, {}}}, {}};
    Decision& decision = v.decisions[0];
    const double ns = static_cast<double>(epoch.length) / c_.core_clock_mhz * 1e3;  // GB/s times ns are bytes
    bool changed = false;
    for (std::size_t chip = 0; chip < ways_.size(); ++chip) {
      const Counters& n = epoch.chips[chip].count;
      const double link_bytes = link_bandwidth_in(c_, static_cast<std::uint32_t>(chip)) * ns;
      // A chip that is alone has no links.
      const double link = link_bytes > 0 ? static_cast<double>(n[Counter::link_received_bytes]) / link_bytes : 0;
      const double memory = memory_use(n, epoch.length, c_);
      const std::uint32_t next = next_local_ways(ways_[chip], link, memory, c_.llc.ways, c_.dynamic);
      changed |= next != ways_[chip];
      ways_[chip] = next;
      v.modes.push_back(modes(next));
      const std::string name = fmt::format("chip{}.", chip);
      decision.values.insert(decision.values.end(),
                             {{name + "link", link}, {name + "memory", memory}, {name + "local_ways", next}});
    }
    if (!changed) return std::nullopt;
    decision.choice = fmt::format("local ways {}", fmt::join(ways_, " "));
    return v;
  }
  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, fixed(ways_));
    for (const std::uint32_t ways : ways_) require_state(ways <= c_.llc.ways);
  }

 private:
  Modes modes(std::uint32_t local_ways) const {
    return {.llc = LlcRole::split, .local_ways = local_ways, .epoch_cycles = c_.dynamic.period_cycles};
  }

  const SystemConfig c_;
  std::vector<std::uint32_t> ways_;  ///< [chip] for local lines
};

}  // namespace

std::unique_ptr<Policy> make_static(const SystemConfig& c) { return std::make_unique<StaticSplit>(c); }
std::unique_ptr<Policy> make_dynamic(const SystemConfig& c) { return std::make_unique<DynamicSplit>(c); }

double memory_use(const Counters& n, Cycle length, const SystemConfig& c) {
  if (c.dynamic.memory == MemoryFull::attainable)
    return static_cast<double>(n[Counter::dram_wanted]) / (static_cast<double>(length) * c.dram.channels);
  const double ns = static_cast<double>(length) / c.core_clock_mhz * 1e3;  // GB/s times ns are bytes
  return static_cast<double>(n[Counter::dram_read_bytes] + n[Counter::dram_write_bytes]) / (memory_bandwidth(c) * ns);
}

std::uint32_t next_local_ways(std::uint32_t local_ways, double link, double memory, std::uint32_t ways,
                              const DynamicConfig& rules) {
  const bool link_full = link >= rules.saturation, memory_full = memory >= rules.saturation;
  const std::uint32_t step = rules.step_ways, least = rules.min_ways, most = ways - rules.min_ways, half = ways / 2;
  const std::uint32_t fewer = local_ways > least + step ? local_ways - step : least,
                      more = std::min(local_ways + step, most);
  if (link_full && memory_full) return local_ways < half ? std::min(more, half) : std::max(fewer, half);
  if (link_full) return fewer;
  return memory_full ? more : local_ways;
}

}  // namespace atl
