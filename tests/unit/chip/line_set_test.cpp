#include "core/chip/observe/line_set.hpp"

#include <doctest/doctest.h>

#include <random>
#include <set>

#include "core/chip/observe/line_log.hpp"

namespace atl {
namespace {

TEST_CASE("a line set has what a std::set has, in the same order, through growth and clearing") {
  std::mt19937_64 random(1);
  LineSet set;
  for (const std::uint64_t range : {300ull, 100'000ull, 1ull << 41}) {
    std::set<std::uint64_t> reference;
    for (int i = 0; i < 20'000; ++i) {
      const std::uint64_t line = random() % range;
      REQUIRE(set.insert({line}) == reference.insert(line).second);
    }
    std::vector<std::uint64_t> members;
    set.for_each([&](LineAddr line) { members.push_back(line.value); });
    CHECK((members == std::vector<std::uint64_t>(reference.begin(), reference.end())));
    set.clear();
    set.for_each([](LineAddr) { FAIL("a cleared set has no members"); });
  }
}

TEST_CASE("a line log gives back its lines and windows; neighbours take one byte") {
  const std::vector<std::pair<std::uint64_t, std::uint32_t>> lines{
      {0, 4}, {1, 0}, {2, 3}, {17, 1}, {100, 0}, {1ull << 35, 2}, {(1ull << 35) + 1, 4}, {(1ull << 41) - 1, 1}};
  LineLogWriter writer;
  for (const auto& [line, window] : lines) writer.add({line}, window);
  const std::string log = writer.take();
  LineLogReader reader(log);
  for (const auto& [line, window] : lines) {
    REQUIRE_FALSE(reader.done());
    CHECK(reader.line() == line);
    CHECK(reader.window() == window);
    reader.next();
  }
  CHECK(reader.done());

  LineLogWriter dense;
  for (std::uint64_t line = 0; line < 1000; ++line) dense.add({line}, 4);
  CHECK(dense.take().size() == 1000);
  const std::string empty;
  CHECK(LineLogReader(empty).done());
}

}  // namespace
}  // namespace atl
