#include "core/chip/base/tag_array.hpp"

#include <doctest/doctest.h>

#include <list>
#include <random>

namespace atl {
namespace {

TEST_CASE("an invalid entry is replaced before any valid one") {
  TagArray tags(2, 4);
  for (std::uint64_t i = 0; i < 4; ++i) tags.install(tags.victim(1), LineAddr{i});
  const std::uint32_t newest = tags.find(1, LineAddr{3});
  tags.invalidate(newest);
  CHECK(tags.victim(1) == newest);
  CHECK(tags.find(1, LineAddr{3}) == TagArray::kMiss);
  CHECK(tags.find(0, LineAddr{1}) == TagArray::kMiss);
}

TEST_CASE("the entry replaced is the one least recently touched or installed") {
  TagArray tags(1, 3);
  for (std::uint64_t i = 0; i < 3; ++i) tags.install(tags.victim(0), LineAddr{i});
  tags.touch(tags.find(0, LineAddr{0}));
  CHECK(tags.line(tags.victim(0)) == LineAddr{1});
}

TEST_CASE("an installed line has no valid and no dirty sectors of its predecessor") {
  TagArray tags(1, 1);
  tags.install(0, LineAddr{5});
  tags.valid(0) = 0xF, tags.dirty(0) = 0x3;
  tags.install(0, LineAddr{6});
  CHECK(tags.valid(0) == 0);
  CHECK(tags.dirty(0) == 0);
}

TEST_CASE("100,000 random uses leave the same lines as a list kept in order of use") {
  constexpr std::uint32_t kSets = 4, kWays = 6;
  TagArray tags(kSets, kWays);
  std::vector<std::list<std::uint64_t>> reference(kSets);  // most recent first
  std::mt19937 random(7);
  for (int n = 0; n < 100000; ++n) {
    const std::uint64_t line = random() % 48;
    const std::uint32_t set = line % kSets;
    auto& list = reference[set];
    const auto at = std::find(list.begin(), list.end(), line);
    const std::uint32_t i = tags.find(set, LineAddr{line});
    REQUIRE((i != TagArray::kMiss) == (at != list.end()));
    if (random() % 50 == 0) {
      if (at != list.end()) tags.invalidate(i), list.erase(at);
    } else if (at != list.end()) {
      tags.touch(i);
      list.splice(list.begin(), list, at);
    } else {
      tags.install(tags.victim(set), LineAddr{line});
      if (list.size() == kWays) list.pop_back();
      list.push_front(line);
    }
  }
}

}  // namespace
}  // namespace atl
