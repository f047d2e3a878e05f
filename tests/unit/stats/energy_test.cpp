#include "core/stats/energy.hpp"

#include <doctest/doctest.h>

#include <set>

#include "core/stats/metric.hpp"
#include "core/stats/summary.hpp"
#include "sample_result.hpp"

using namespace atl;

TEST_CASE("every component of energy has a name of its own of the form energy.part, a label and a doc") {
  std::set<std::string_view> names;
  for (const auto& part : energy_table()) {
    CAPTURE(part.name);
    CHECK(part.name.starts_with("energy."));
    CHECK(part.name.find('.') == part.name.rfind('.'));
    CHECK(names.insert(part.name).second);
    CHECK_FALSE(part.label.empty());
    CHECK_FALSE(part.doc.empty());
  }
}

TEST_CASE("tables can show the energy and each of its components, summed over the chips") {
  RunResult r;
  r.chips.resize(2);
  double whole = 0;
  for (std::size_t i = 0; i < kEnergyComponents; ++i) {
    r.chips[0].energy.joules[i] = static_cast<double>(1 << i);
    r.chips[1].energy.joules[i] = 0.5;
    whole += static_cast<double>(1 << i) + 0.5;
  }
  CHECK(energy_of_chips(r).total() == whole);
  const auto metric = find_metric("energy.total");
  REQUIRE(metric);
  CHECK(value_of(*metric, r) == whole);
  for (const auto& part : energy_table()) {
    CAPTURE(part.name);
    const auto m = find_metric(part.name);
    REQUIRE(m);
    CHECK(m->mean == Mean::none);
    CHECK_FALSE(m->whole);
    CHECK(value_of(*m, r) == static_cast<double>(1 << static_cast<std::size_t>(part.id)) + 0.5);
  }
}

TEST_CASE("counters and cycles are whole numbers in tables, ratios and joules are not") {
  CHECK(find_metric("cycles")->whole);
  CHECK(find_metric("llc.hits")->whole);
  CHECK_FALSE(find_metric("ipc")->whole);
}

TEST_CASE("the least and the greatest energy have each price at one end of its range") {
  const std::vector<PricedEnergy> prices{{"a", 6, 3}, {"b", 1, 2}, {"c", 0, 5}};
  const EnergyBounds bounds = energy_bounds(prices);
  CHECK(bounds.least == 2.5);
  CHECK(bounds.greatest == 20);
}
