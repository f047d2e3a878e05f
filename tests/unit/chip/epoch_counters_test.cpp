#include "run.hpp"

#include "policies/registry.hpp"

namespace atl::test {
namespace {

/// Notes what chips report, and changes nothing.
class EpochLog final : public Policy {
 public:
  EpochLog(std::uint32_t chips, std::vector<std::vector<std::uint64_t>>& loads) : chips_(chips), loads_(loads) {}
  Verdict at_kernel_start(std::size_t, Cycle) override { return {{}, std::vector<Modes>(chips_, {.epoch_cycles = 4000})}; }
  std::optional<Verdict> at_epoch_end(const Epoch& epoch) override {
    std::vector<std::uint64_t>& row = loads_.emplace_back();
    for (const ChipEpoch& c : epoch.chips) row.push_back(c.count[Counter::l1_accesses]);
    return std::nullopt;
  }

 private:
  std::uint32_t chips_;
  std::vector<std::vector<std::uint64_t>>& loads_;
};

TEST_CASE("policies are told what each chip counted in each epoch, and no more") {
  SystemConfig c = tiny(2);
  c.control.latency_cycles = 100;
  ScriptedWorkload w;
  w.kernel(2);
  for (std::uint32_t cta = 0; cta < 2; ++cta) {
    Program& p = w.warp(cta);
    for (std::uint64_t i = 0; i < 3 + cta; ++i) p.load(0x100000 + i * 128, static_cast<std::uint8_t>(i));
    p.pause(5000);  // into the second epoch
    for (std::uint64_t i = 0; i < 7; ++i) p.load(0x200000 + (7 * cta + i) * 128, static_cast<std::uint8_t>(i));
    p.pause(9000);
  }
  std::vector<std::vector<std::uint64_t>> loads;
  SerialTransport transport;
  SimulationOptions options;
  options.policy = [&](const SystemConfig& config) {
    return LoadedPolicy{std::make_unique<EpochLog>(config.chips, loads), {}, "log", {}};
  };
  simulate(transport, c, w, RankMap::spread(2, 1), options);
  REQUIRE(loads.size() > 2);
  CHECK(loads[0] == std::vector<std::uint64_t>{3, 4});
  CHECK(loads[1] == std::vector<std::uint64_t>{7, 7});
  CHECK(loads[2] == std::vector<std::uint64_t>{0, 0});
}

/// Turns SM-side for every other kernel, and notes of which kernel it was told an epoch, and when that ended.
class Turning final : public Policy {
 public:
  Turning(std::uint32_t chips, std::vector<std::pair<std::uint64_t, Cycle>>& told) : chips_(chips), told_(told) {}
  Verdict at_kernel_start(std::size_t kernel, Cycle) override {
    const LlcRole role = kernel % 2 == 0 ? LlcRole::memory_side : LlcRole::sm_side;
    return {{}, std::vector<Modes>(chips_, {.llc = role, .epoch_cycles = 300})};
  }
  std::optional<Verdict> at_epoch_end(const Epoch& epoch) override {
    told_.emplace_back(epoch.kernel, epoch.end);
    return std::nullopt;
  }

 private:
  std::uint32_t chips_;
  std::vector<std::pair<std::uint64_t, Cycle>>& told_;
};

TEST_CASE("no epoch is reported of a kernel that waits for lines to leave the slices before it begins") {
  SystemConfig c = tiny(2);
  c.control.latency_cycles = 200, c.dram.channels = 1;
  ScriptedWorkload w;
  for (int kernel = 0; kernel < 4; ++kernel) {
    w.kernel(2);
    for (std::uint32_t cta = 0; cta < 2; ++cta)
      for (std::uint64_t line = 0; line < 100; ++line) w.warp(cta).store(0x100000 + (2 * line + cta) * 128);
  }
  std::vector<std::pair<std::uint64_t, Cycle>> told;
  SerialTransport transport;
  SimulationOptions options;
  options.policy = [&](const SystemConfig& config) {
    const PolicyTraits traits{.roles = Roles(LlcRole::memory_side) | LlcRole::sm_side, .switches = true};
    return LoadedPolicy{std::make_unique<Turning>(config.chips, told), traits, "turning", {}};
  };
  const RunResult r = *simulate(transport, c, w, RankMap::spread(2, 1), options);
  REQUIRE(r.kernels[1].started > r.kernels[1].launched + 4 * 300);  // written back first
  REQUIRE(told.size() >= 8);
  for (const auto& [kernel, end] : told) CHECK(end > r.kernels[kernel].started);
}

}  // namespace
}  // namespace atl::test
