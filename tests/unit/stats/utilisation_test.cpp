#include "core/stats/utilisation.hpp"

#include <doctest/doctest.h>

#include "core/stats/explanation.hpp"

using namespace atl;
using doctest::Approx;

namespace {

/// Cycles of DRAM buses in periods that end at these cycles.
RunResult run_of(const std::vector<std::pair<Cycle, std::uint64_t>>& periods) {
  RunResult r;
  r.chips.resize(1);
  for (const auto& [end, busy] : periods) {
    Sample s{end, std::vector<Counters>(1)};
    s.chips[0][Counter::dram_bus_busy] = busy;
    r.chips[0].totals += s.chips[0];
    r.samples.push_back(std::move(s));
    r.cycles = end;
  }
  return r;
}

Utilisation buses_of(const RunResult& r) {
  Capacities capacities(1);
  capacities[0][Resource::dram] = 2;
  return utilisation(r, capacities, 0, Resource::dram);
}

}  // namespace

TEST_CASE("the busiest period is looked for in all but a last one that was cut short") {
  // The launch makes the first one three times as long.
  const Utilisation u = buses_of(run_of({{1500, 0}, {2000, 400}, {2500, 900}, {3000, 100}, {3100, 200}}));
  CHECK(u.mean == Approx(1600.0 / (2 * 3100)));
  CHECK(u.most == Approx(0.9));
  CHECK(buses_of(run_of({{1500, 0}, {2000, 400}, {2400, 700}})).most == Approx(700.0 / 800));  // nearly whole
  CHECK(buses_of(run_of({{1500, 300}, {1600, 200}})).most == Approx(1));                       // all there is but the launch
  CHECK(buses_of(run_of({{1000, 500}})).most == Approx(0.25));
}

TEST_CASE("links in both directions count as one limit, which has the name of the larger") {
  Stack s;
  s[StackPart::dram] = 50, s[StackPart::link_out] = 20, s[StackPart::link_in] = 40;
  CHECK(limit_of(s) == StackPart::link_in);
  s[StackPart::link_out] = 45;
  CHECK(limit_of(s) == StackPart::link_out);
  s[StackPart::dram] = 90;
  CHECK(limit_of(s) == StackPart::dram);
}
