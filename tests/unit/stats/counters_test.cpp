#include "core/stats/counters.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace atl;

TEST_CASE("every counter has a unique name of the form group.quantity, a unit and a doc") {
  std::set<std::string_view> names;
  for (const auto& counter : counter_table()) {
    CAPTURE(counter.name);
    CHECK(names.insert(counter.name).second);
    const auto dot = counter.name.find('.');
    CHECK(dot != std::string_view::npos);
    CHECK(dot == counter.name.rfind('.'));
    CHECK(counter.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.") == std::string_view::npos);
    CHECK_FALSE(counter.unit.empty());
    CHECK_FALSE(counter.doc.empty());
  }
  CHECK(names.size() == kCounters);
}

TEST_CASE("the row of a counter stands at the counter's own index") {
  CHECK(counter_table()[static_cast<std::size_t>(Counter::llc_hits)].name == "llc.hits");
  CHECK(counter_table()[kCounters - 1].id == Counter::queue_link_in);
}

TEST_CASE("the difference of two snapshots added to the first gives the second") {
  Counters before, after;
  before[Counter::dram_reads] = 5;
  after[Counter::dram_reads] = 12;
  after[Counter::ctas] = 1;
  Counters sum = before;
  sum += after - before;
  CHECK(sum.value == after.value);
}
