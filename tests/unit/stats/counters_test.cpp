#include "core/stats/counters.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "core/stats/metric.hpp"

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
    CHECK(counter.doc.find('|') == std::string_view::npos);  // would end a cell of docs/results.md
  }
  CHECK(names.size() == kCounters);
}

TEST_CASE("the row of a counter stands at the counter's own index") {
  CHECK(counter_table()[static_cast<std::size_t>(Counter::llc_hits)].name == "llc.hits");
  for (std::size_t i = 0; i < kCounters; ++i) CHECK(counter_table()[i].id == static_cast<Counter>(i));
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

TEST_CASE("a cache's contents and a queue's depth are looked at, which is no event; a read of memory is one") {
  Counters increments;
  increments[Counter::llc_remote_lines] = 70;
  increments[Counter::queue_link_in] = 8;
  CHECK_FALSE(moved(increments));
  increments[Counter::dram_reads] = 1;
  CHECK(moved(increments));
}

TEST_CASE("what a counter or metric is stands as a whole phrase, also where no other one is beside it") {
  for (const CounterInfo& c : counter_table()) CHECK_MESSAGE(!c.doc.starts_with("."), c.name);
  for (const Metric& m : derived_metrics()) CHECK_MESSAGE(!m.doc.starts_with("."), m.name);
}

TEST_CASE("a metric is called by its unit, and by what it is summed over") {
  CHECK(find_metric("energy.link")->with_unit() == "energy.link (J, all chips)");
  CHECK(find_metric("link.bytes")->with_unit() == "link.bytes (bytes, all chips)");
  CHECK(find_metric("time")->with_unit() == "time (s)");
  CHECK(find_metric("llc.hit_rate")->with_unit() == "llc.hit_rate");
  for (const CounterInfo& c : counter_table()) CHECK_MESSAGE(c.doc.find("this chip") == std::string_view::npos, c.name);
}
