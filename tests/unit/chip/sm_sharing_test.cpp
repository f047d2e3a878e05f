#include "core/stats/sm_sharing.hpp"

#include "core/stats/metric.hpp"
#include "random_programs.hpp"

namespace atl::sm_sharing_test {
namespace {

using namespace test;

constexpr std::uint64_t kX = 0x10000, kY = 0x20000, kZ = 0x30000, kP = 0x40000, kQ = 0x50000, kV = 0x60000, kW = 0x70000;

/// One chip whose SM k runs CTA k.
SystemConfig observed(Cycle window) {
  SystemConfig c = tiny(1);
  c.sm.count = 12;
  c.observe.sm_sharing = true, c.observe.sm_window_cycles = window;
  return c;
}

double value(const RunResult& r, const char* metric) { return value_of(*find_metric(metric), r).value(); }

TEST_CASE("lines, loads and askers are counted by SM, kernel by kernel") {
  ScriptedWorkload w;
  w.kernel(12);
  for (std::uint64_t cta = 0; cta < 12; ++cta) w.warp(cta).load(kX, 0).read_only();  // all SMs
  w.warp(0).load(kY, 1).read_only().after({1}).load(kY).read_only();                 // a miss, then a hit
  w.warp(1).load(kY).read_only();
  w.warp(2).load(kY).read_only();
  w.warp(0).load(kZ).read_only();
  w.warp(1).load(kZ).read_only().load(kZ).read_only();  // joins its own miss
  w.warp(3).load(kP).read_only();                       // private
  w.warp(4).store(kW);
  w.warp(5).load(kW);  // shared, and written
  w.warp(6).load(kQ).load(kQ);
  w.warp(7).load(kV).past_l1();  // no L1 sees these
  w.warp(8).load(kV).past_l1();
  w.kernel(12);
  w.warp(3).load(kX).read_only();
  const RunResult r = run(observed(1'000'000), w);
  REQUIRE(r.sm_sharing);
  REQUIRE(r.sm_sharing->kernels.size() == 2);
  CHECK((r.sm_sharing->kernels[0] == SmSharing{7, 5, 4, 22, 1, 1, 4, 3, 2, 1}));
  CHECK((r.sm_sharing->kernels[1] == SmSharing{1, 0, 0, 0, 0, 0, 1, 0, 0, 0}));

  CHECK(value(r, "sm_sharing.read_only_share") == doctest::Approx(4.0 / 5));
  CHECK(value(r, "sm_sharing.llc_share") == doctest::Approx(20.0 / 22));
  CHECK(value(r, "sm_sharing.by_2_share") == doctest::Approx(3.0 / 5));
  CHECK(value(r, "sm_sharing.by_3_share") == doctest::Approx(2.0 / 5));
  CHECK(value(r, "sm_sharing.by_10_share") == doctest::Approx(1.0 / 5));
  const double share = static_cast<double>(r.kernels[0].finished - r.kernels[0].launched) / static_cast<double>(r.cycles);
  CHECK(value(r, "sm_sharing.set_mib") == doctest::Approx(share * 5 * 128 / (1 << 20)));
}

TEST_CASE("SMs that ask in different windows are not seen together") {
  for (const auto& [window, wanted] : {std::pair{1'000'000u, 1u}, std::pair{1'000u, 0u}}) {
    ScriptedWorkload w;
    w.kernel(12);
    w.warp(0).load(kX).read_only();
    w.warp(1).pause(3000).load(kX).read_only();
    const SmSharing s = run(observed(window), w).sm_sharing->total();
    CHECK(s.window_lines == 2 - wanted);
    CHECK(s.window_lines_2 == wanted);
    CHECK(s.shared_lines == 1);
  }
}

TEST_CASE("thousands of lines are counted one by one, and chips are added up") {
  SystemConfig config = observed(1000);
  config.chips = 2;
  ScriptedWorkload w;
  w.kernel(24);
  constexpr std::uint64_t kLines = 7000;                // beyond the table's first size
  for (const std::uint64_t cta : {0u, 1u, 12u, 13u}) {  // two SMs of each chip
    for (std::uint64_t i = 0; i < kLines; ++i) w.warp(cta).load((i + cta % 12 * kLines / 2) * 128);
  }
  const SmSharing s = run(config, w).sm_sharing->total();
  CHECK(s.lines == 2 * (kLines + kLines / 2));
  CHECK(s.shared_lines == 2 * kLines / 2);
  CHECK(s.shared_read_only_lines == s.shared_lines);
  CHECK(s.shared_loads == 2 * s.shared_lines);
  CHECK(s.window_lines == 0);  // none is marked
}

TEST_CASE("watching what SMs share changes nothing that is simulated, and without it there is no result of it") {
  SystemConfig config = observed(1000);
  config.chips = 3, config.sm.count = 4;
  ScriptedWorkload w = random_workload(config, {.kernels = 2}, 9);
  const RunResult on = run(config, w);
  config.observe.sm_sharing = false;
  const RunResult off = run(config, w);
  CHECK(on.digest == off.digest);
  CHECK(on.cycles == off.cycles);
  CHECK(on.sm_sharing->total().shared_lines > 0);
  CHECK_FALSE(off.sm_sharing);
  CHECK_FALSE(value_of(*find_metric("sm_sharing.llc_share"), off));
}

}  // namespace
}  // namespace atl::sm_sharing_test
