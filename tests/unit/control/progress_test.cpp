#include "tests/unit/chip/run.hpp"

namespace atl {
namespace {

using namespace test;

TEST_CASE("progress is told with every sample: kernels begun, CTAs that have ended, and how many there are") {
  ScriptedWorkload w;
  for (int kernel = 0; kernel < 2; ++kernel) {
    w.kernel(3);
    for (std::uint32_t cta = 0; cta < 3; ++cta) w.warp(cta).pause(static_cast<std::uint16_t>(12000 + 9000 * cta));
  }
  SystemConfig c = tiny(1);
  c.sm.count = 3, c.control.sample_cycles = 5000;
  std::vector<ProgressState> told;
  SimulationOptions options;
  options.progress = [&](const ProgressState& s) { told.push_back(s); };
  SerialTransport transport;
  const RunResult r = *simulate(transport, c, w, RankMap::spread(1, 1), options);
  REQUIRE(told.size() > 8);
  for (std::size_t i = 0; i < told.size(); ++i) {
    const ProgressState& s = told[i];
    CAPTURE(s.cycle);
    CHECK(s.kernels == 2);
    CHECK(s.ctas_total == 6);
    if (i > 0) CHECK(s.cycle > told[i - 1].cycle);
    std::uint64_t ended = 0;
    for (std::uint64_t kernel = 0; kernel < 2; ++kernel)
      for (std::uint64_t cta = 0; cta < 3; ++cta) ended += r.kernels[kernel].started + 12000 + 9000 * cta < s.cycle;
    CHECK(s.ctas_done <= ended);
    CHECK(s.ctas_done + 1 >= ended);  // a chip notices a CTA's end at its next event
  }
  CHECK(told.front().kernel == 1);
  CHECK(told.back().kernel == 2);
  CHECK(told.back().ctas_done >= 3);
}

}  // namespace
}  // namespace atl
