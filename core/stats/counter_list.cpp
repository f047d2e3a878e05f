#include "core/stats/counter_list.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/stats/counters.hpp"

namespace atl {

std::string counter_list() {
  std::size_t name = 0, unit = 0;
  for (const CounterInfo& c : counter_table()) name = std::max(name, c.name.size()), unit = std::max(unit, c.unit.size());
  std::string out;
  for (const CounterInfo& c : counter_table()) out += fmt::format("{:<{}}  {:<{}}  {}\n", c.name, name, c.unit, unit, c.doc);
  return out;
}

std::string counter_list_markdown() {
  std::string out = "| counter | unit | meaning |\n|---|---|---|\n";
  for (const CounterInfo& c : counter_table()) out += fmt::format("| `{}` | {} | {} |\n", c.name, c.unit, c.doc);
  return out;
}

}  // namespace atl
