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

TEST_CASE("the time of an L1 goes to its loads and stores, what passes it, and look-ups for neighbours") {
  Counters c;
  c[Counter::l1_accesses] = 100, c[Counter::l1_misses] = 40, c[Counter::l1_stores] = 20;
  CHECK(work_of(c, {}, Resource::l1) == 120);
  c[Counter::requests_local] = 50, c[Counter::requests_remote] = 10;  // misses and stores
  CHECK(work_of(c, {}, Resource::l1) == 120);
  c[Counter::requests_remote] += 30;  // atomics, or loads that pass
  CHECK(work_of(c, {}, Resource::l1) == 150);
  // Eight misses are served by neighbours, of which three more had not what was asked for.
  c[Counter::requests_local] -= 8, c[Counter::cluster_served] = 8, c[Counter::cluster_false_positives] = 3;
  CHECK(work_of(c, {}, Resource::l1) == 161);
}

TEST_CASE("the time of a slice goes to whatever is looked up, of older files to its requests") {
  Capacity capacity;
  capacity.line_bytes = 128;
  Counters c;
  c[Counter::llc_accesses] = 10;
  CHECK(work_of(c, capacity, Resource::slice) == 1280);
  c[Counter::llc_lookup_bytes] = 1290;
  CHECK(work_of(c, capacity, Resource::slice) == 1290);
}

TEST_CASE("the busiest period is looked for in all but a last one that was cut short") {
  // The launch makes the first one three times as long.
  const Utilisation u = buses_of(run_of({{1500, 0}, {2000, 400}, {2500, 900}, {3000, 100}, {3100, 200}}));
  CHECK(u.mean == Approx(1600.0 / (2 * 3100)));
  CHECK(u.most == Approx(0.9));
  CHECK(buses_of(run_of({{1500, 0}, {2000, 400}, {2400, 700}})).most == Approx(0.4));  // what came after the end is in it
  CHECK(buses_of(run_of({{1500, 0}, {2000, 400}, {2500, 700}})).most == Approx(0.7));
  RunResult two = run_of({{1500, 300}, {1600, 200}});  // the first is as long as the launch makes it
  two.provenance.effective_config = R"({"control": {"sample_cycles": 500}})";
  CHECK(buses_of(two).most == Approx(500.0 / (2 * 1600)));
  two.provenance.effective_config = R"({"control": {"sample_cycles": 100}})";
  CHECK(buses_of(two).most == Approx(1));
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
