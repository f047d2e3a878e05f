#include "latency_terms.hpp"

// The counter llc.stalls: how often the head of a slice's queue found no room in the slice.
namespace atl {
namespace {

using namespace test;

constexpr std::uint64_t kA = 0x10000;

/// Stalls of one slice when so many SMs ask for as many of its lines at once.
std::uint64_t stalls(std::uint32_t lines, std::uint32_t mshrs) {
  SystemConfig config = tiny(1);
  config.sm.count = 4;
  config.llc.mshrs = mshrs;
  const AddressMap map(config);
  ScriptedWorkload w;
  w.kernel(4);
  std::uint64_t at = kA;
  for (std::uint32_t sm = 0; sm < lines; ++sm) {
    w.warp(sm).load(at, 0);
    at = find_line(config, at, [&](LineAddr line) { return map.slice(line) == map.slice({kA / 128}); });
  }
  const RunResult r = run(config, w);
  CHECK(total(r, Counter::llc_misses) == lines);
  return total(r, Counter::llc_stalls);
}

TEST_CASE("a miss that finds every MSHR of its slice in use is one stall, and one that finds a free MSHR is none") {
  CHECK(stalls(1, 1) == 0);
  CHECK(stalls(2, 1) == 1);
  CHECK(stalls(2, 2) == 0);
  CHECK(stalls(3, 2) == 1);
  CHECK(stalls(4, 4) == 0);
}

}  // namespace
}  // namespace atl
