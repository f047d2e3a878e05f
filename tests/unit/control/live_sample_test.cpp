#include <numeric>

#include "tests/unit/chip/run.hpp"

namespace atl {
namespace {

using namespace test;

/// Two kernels of three CTAs, which compute for 12,000, 21,000 and 30,000 cycles.
RunResult run(const SimulationOptions& options, std::uint32_t chips) {
  ScriptedWorkload w;
  for (int kernel = 0; kernel < 2; ++kernel) {
    w.kernel(3);
    for (std::uint32_t cta = 0; cta < 3; ++cta)
      w.warp(cta).pause(static_cast<std::uint16_t>(12000 + 9000 * cta)).load(0x10000, 0).after({0});
  }
  SystemConfig c = tiny(chips);
  c.sm.count = 3, c.control.sample_cycles = 5000;
  SerialTransport transport;
  return *simulate(transport, c, w, RankMap::spread(chips, 1), options);
}

TEST_CASE("a run that is watched tells with every sample what each chip does, and is the same run") {
  for (const std::uint32_t chips : {1u, 2u}) {
    CAPTURE(chips);
    struct Told {
      Cycle end;
      std::uint64_t kernel, ctas;
      Cycle spent;
    };
    std::vector<Told> told;
    SimulationOptions options;
    options.watched = true;
    options.live = [&](const LiveSample& s) {
      REQUIRE(s.chips.size() == chips);
      REQUIRE(s.looks.size() == chips);
      REQUIRE(s.modes.size() == chips);
      CHECK(s.kernels.size() == 2);
      std::uint64_t ctas = 0;
      for (const ChipLook& l : s.looks) {
        CHECK(l.kernel == s.looks[0].kernel);
        CHECK(l.ctas_done <= l.ctas);
        ctas += l.ctas;
      }
      const auto& span = s.looks[0].census.span;
      told.push_back({s.progress.cycle, s.looks[0].kernel, ctas, std::reduce(span.begin(), span.end())});
    };
    const RunResult watched = run(options, chips);
    REQUIRE(told.size() > 8);
    for (const Told& t : told) {
      CAPTURE(t.end);
      CHECK(t.ctas == 3);
      CHECK(t.spent == t.end - watched.kernels[t.kernel].started);  // every cycle since the launch, once
    }
    CHECK(told.back().kernel == 1);
    CHECK(run({}, chips).digest == watched.digest);
  }
}

TEST_CASE("a run that is not watched sends no looks, whoever listens") {
  SimulationOptions options;
  options.live = [](const LiveSample&) { FAIL("nobody is to be told"); };
  CHECK(run(options, 2).complete);
}

}  // namespace
}  // namespace atl
