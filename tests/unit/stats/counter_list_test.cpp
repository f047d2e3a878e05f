#include "core/stats/counter_list.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "core/stats/counters.hpp"

using namespace atl;

TEST_CASE("the list of counters has a line each: name, unit and meaning, in columns two spaces apart") {
  std::size_t name = 0, unit = 0;
  for (const CounterInfo& c : counter_table()) name = std::max(name, c.name.size()), unit = std::max(unit, c.unit.size());
  std::istringstream list(counter_list());
  for (const CounterInfo& c : counter_table()) {
    std::string line;
    std::getline(list, line);
    CAPTURE(line);
    CHECK(line.starts_with(std::string(c.name) + "  "));
    CHECK(line.find(std::string(c.unit) + "  ", name + 2) == name + 2);
    CHECK(line.substr(name + 2 + unit + 2) == c.doc);
  }
  CHECK(list.peek() == std::istringstream::traits_type::eof());
}

TEST_CASE("as Markdown, the list of counters is a table of three columns with the names as code") {
  const std::string table = counter_list_markdown();
  CHECK(table.starts_with("| counter | unit | meaning |\n|---|---|---|\n| `"));
  CHECK(table.find("\n| `llc.writebacks` | lines | dirty lines written back, and writes of a private LLC (adaptive), which "
                   "go through |\n") != std::string::npos);
  CHECK(std::ranges::count(table, '\n') == static_cast<std::ptrdiff_t>(kCounters + 2));
}
