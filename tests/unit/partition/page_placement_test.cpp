#include "partition/page_placement.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "core/engine/error.hpp"
#include "partition/home_lines.hpp"

namespace atl {
namespace {

using Answers = std::vector<FirstTouch::Answer>;

TEST_CASE("interleaved placement deals chunks to the chips in turn") {
  SystemConfig config;
  config.partition.placement = Placement::interleaved;
  config.partition.interleave_kib = 16;
  const StaticPlacement placement(config);
  for (std::uint64_t page = 0; page < 1000; ++page) CHECK(placement.home({page}) == page / 4 % 4);
  config.chips = 3;
  CHECK(StaticPlacement(config).home({25}) == 0);
  CHECK(StaticPlacement(config).home({28}) == 1);
}

TEST_CASE("a chunk must be a multiple of the page, and the fixed chip must exist") {
  SystemConfig config;
  config.partition.placement = Placement::interleaved;
  config.partition.page_kib = 64;
  config.partition.interleave_kib = 96;
  CHECK_THROWS_AS(StaticPlacement{config}, InputError);
  config.partition.placement = Placement::fixed;
  config.partition.fixed_chip = 3;
  CHECK(StaticPlacement(config).home({12345}) == 3);
  config.partition.fixed_chip = 4;
  CHECK_THROWS_AS(StaticPlacement{config}, InputError);
}

SystemConfig base_dies() {
  SystemConfig c;
  c.chips = 12, c.partition.compute_chips = 8, c.partition.memory_chips = 4;
  return c;
}

TEST_CASE("chunks are dealt to the chips with memory, whose lines are numbered without gaps") {
  SystemConfig c = base_dies();
  c.partition.placement = Placement::interleaved;
  const StaticPlacement placement(c);
  const HomeLines lines(c);
  const std::uint64_t in_page = c.partition.page_bytes() / c.line_bytes;
  for (std::uint64_t page = 0; page < 64; ++page) {
    CHECK(placement.home({page}) == 8 + page % 4);
    const LineAddr line{page * in_page + 5};
    CHECK(lines.local(line) == page / 4 * in_page + 5);
    CHECK(lines.global(lines.local(line), placement.home({page})).value == line.value);
  }
}

TEST_CASE("what a chip without memory touches first lies at the one that is its share of them") {
  FirstTouch homes(base_dies());
  for (LpId chip = 0; chip < 12; ++chip) homes.add({10, {chip}, chip});
  std::vector<FirstTouch::Answer> answers;
  homes.settle(11, answers);
  const std::uint8_t want[] = {8, 8, 9, 9, 10, 10, 11, 11, 8, 9, 10, 11};
  for (LpId chip = 0; chip < 12; ++chip) CHECK(homes.homes().find({chip}) == want[chip]);
}

TEST_CASE("first touch is not known from the address") { CHECK(StaticPlacement(SystemConfig{}).home({7}) == kUnknownHome); }

TEST_CASE("the lowest (cycle, chip) wins whatever the order of arrival") {
  std::vector<FirstTouch::Touch> touches{{12, {5}, 0}, {10, {5}, 3}, {10, {5}, 2}, {11, {6}, 1}, {11, {6}, 0}, {30, {7}, 1}};
  const Answers expected{{{5}, 2, 2}, {{5}, 3, 2}, {{6}, 0, 0}, {{6}, 1, 0}, {{5}, 0, 2}};
  std::sort(touches.begin(), touches.end());
  do {
    FirstTouch table;
    for (const auto& t : touches) table.add(t);
    CHECK(table.pending().size() == touches.size());
    Answers answers;
    table.settle(20, answers);
    REQUIRE(answers == expected);
    REQUIRE(table.pending() == std::vector<FirstTouch::Touch>{{30, {7}, 1}});
    REQUIRE(table.homes().find({7}) == kUnknownHome);
  } while (std::next_permutation(touches.begin(), touches.end()));
}

TEST_CASE("a binding is permanent") {
  FirstTouch table;
  Answers answers;
  table.add({5, {1}, 2});
  table.settle(10, answers);
  table.add({10, {1}, 0});
  table.settle(20, answers);
  CHECK(answers == Answers{{{1}, 2, 2}, {{1}, 0, 2}});
  CHECK(table.pending().empty());
}

TEST_CASE("a touch from a settled cycle breaks the order and is refused") {
  FirstTouch table;
  Answers answers;
  table.settle(10, answers);
  CHECK_THROWS_AS(table.add({9, {1}, 0}), SimulationError);
  table.add({10, {1}, 0});
}

TEST_CASE("the cache of homes agrees with a map over 200,000 pages, page 0 and the largest page included") {
  PageHomeCache cache;
  std::map<std::uint64_t, std::uint8_t> truth;
  for (std::uint64_t i = 0; i < 200000; ++i) {
    const std::uint64_t page = i % 16 != 0 ? i : (i * 0x9E3779B97F4A7C15ull) >> 28;
    const std::uint8_t home = static_cast<std::uint8_t>(page % 64);
    truth[page] = home;
    cache.insert({page}, home);
  }
  cache.insert({(1ull << 36) - 1}, 63), truth[(1ull << 36) - 1] = 63;
  CHECK(cache.size() == truth.size());
  for (const auto& [page, home] : truth) REQUIRE(cache.find({page}) == home);
  CHECK(cache.find({123456789012}) == kUnknownHome);
  std::size_t visited = 0;
  cache.for_each([&](PageAddr page, std::uint8_t home) { visited += truth.at(page.value) == home; });
  CHECK(visited == truth.size());
}

TEST_CASE("a page cannot be bound twice to different chips") {
  PageHomeCache cache;
  cache.insert({4}, 1);
  cache.insert({4}, 1);
  CHECK(cache.size() == 1);
  CHECK_THROWS_AS(cache.insert({4}, 2), SimulationError);
}

}  // namespace
}  // namespace atl
