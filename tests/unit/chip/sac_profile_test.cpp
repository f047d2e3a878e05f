#include <map>
#include <string>

#include "run.hpp"

namespace atl {
namespace {

using namespace test;

/// All data lies at chip 0, and SAC's directory samples every set of its LLC.
SystemConfig profiled() {
  SystemConfig c = tiny(2);
  c.llc.organisation = LlcOrganisation::sac;
  c.sac.window_cycles = 1500, c.sac.crd_ways = 4, c.sac.crd_sets = 128;
  return c;
}

std::map<std::string, double> profile_of(ScriptedWorkload& w, const SystemConfig& c) {
  const RunResult r = run(c, w);
  REQUIRE(r.decisions.size() == 1);
  return {r.decisions[0].values.begin(), r.decisions[0].values.end()};
}

// Data that only its home's SMs use lie in the same slices under both organisations: whatever the profilers say of one they
// must say of the other, or SAC decides by how it counts.
TEST_CASE(
    "of data that only its home asks for both profiles are equal, with a queue before one slice and stores in flight") {
  for (const bool sectored : {false, true}) {
    CAPTURE(sectored);
    ScriptedWorkload w;
    w.kernel(2);
    Program& p = w.warp(0);
    for (std::uint64_t i = 0; i < 400; ++i) {
      const std::uint64_t line = i % 90 * (i % 3 == 0 ? 128 : 256);
      p.load(line, i % 30, 0x3).past_l1();
      p.store(line, 0x2);
      if (i % 4 == 0) p.store(line, 0x4).partly();
    }
    SystemConfig c = profiled();
    c.llc.sectored = sectored;
    auto v = profile_of(w, c);
    CHECK(v["r_local"] == 1);
    CHECK(v["memory_side.requests"] == v["sm_side.sampled_requests"]);
    CHECK(v["memory_side.requests"] > 100);
    CHECK(v["memory_side.hit"] == v["sm_side.hit"]);
    CHECK(v["memory_side.lsu"] == v["sm_side.lsu"]);
    CHECK(v["memory_side.eab"] == v["sm_side.eab"]);
  }
}

TEST_CASE("atomics, which execute at the home in either organisation, are in no profile") {
  ScriptedWorkload w;
  w.kernel(2);
  for (std::uint64_t i = 0; i < 300; ++i) w.warp(0).load(i % 40 * 128, i % 30).past_l1();
  for (std::uint64_t i = 0; i < 300; ++i) w.warp(1).atomic(i % 4 * 128);
  auto v = profile_of(w, profiled());
  CHECK(v["r_local"] == 1);
  CHECK(v["memory_side.requests"] > 100);
  CHECK(v["memory_side.hit"] == v["sm_side.hit"]);
  CHECK(v["memory_side.eab"] == v["sm_side.eab"]);
}

}  // namespace
}  // namespace atl
