#include "core/chip/base/mshr.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>

namespace atl {
namespace {

TEST_CASE("a file is full exactly when all entries are open, and a line takes so many waiters and no more") {
  MshrFile<int> file(2, 3);
  const auto a = file.open(LineAddr{1});
  CHECK(!file.full());
  const auto b = file.open(LineAddr{2});
  CHECK(file.full());
  for (int i = 0; i < 3; ++i) {
    CHECK(file.can_merge(a));
    file.add_waiter(a, i);
  }
  CHECK(!file.can_merge(a));
  CHECK(file.can_merge(b));
  file.close(b);
  CHECK(file.in_use() == 1);
}

TEST_CASE("70,000 waiters of one line are all released, and a file that nobody bounds grows") {
  MshrFile<int, std::uint32_t> file(1, ~0u);
  const auto e = file.open(LineAddr{1});
  for (int i = 0; i < 70'000; ++i) file.add_waiter(e, i);
  for (std::uint64_t line = 2; line < 100; ++line) file.open(LineAddr{line});
  for (std::uint64_t line = 1; line < 100; ++line) CHECK(file[file.find(LineAddr{line})].line == LineAddr{line});
  int next = 0;
  file.release_waiters(file.find(LineAddr{1}), [&](int i) { return i == next++; });
  CHECK(next == 70'000);
  CHECK(file[file.find(LineAddr{1})].waiting == 0);
}

TEST_CASE("a file grows to 32,768 lines, all of which are found, and refuses to grow beyond what 16 bits can number") {
  MshrFile<int> file(1, 1);
  std::uint64_t line = 0;
  for (; line < 32'768; ++line) file.open(LineAddr{line});
  for (std::uint64_t l = 0; l < line; ++l) REQUIRE(file[file.find(LineAddr{l})].line == LineAddr{l});
  CHECK_THROWS_AS(file.open(LineAddr{line}), SimulationError);
}

TEST_CASE("waiters are released in the order of coming, and those refused stay in theirs") {
  MshrFile<int> file(1, 8);
  const auto e = file.open(LineAddr{1});
  for (int i = 0; i < 6; ++i) file.add_waiter(e, i);
  std::vector<int> seen;
  file.release_waiters(e, [&](int w) { return w % 2 == 0 ? seen.push_back(w), true : false; });
  file.add_waiter(e, 6);
  file.release_waiters(e, [&](int w) { return seen.push_back(w), true; });
  CHECK(seen == std::vector{0, 2, 4, 1, 3, 5, 6});
  CHECK(file[e].waiting == 0);
}

/// Random opening, merging, partial release and closing, against a map of vectors.
void compare(std::uint32_t entries, std::uint64_t lines, std::uint64_t stride, std::uint32_t seed) {
  MshrFile<int> file(entries, 100);
  std::map<std::uint64_t, std::vector<int>> reference;
  std::mt19937 random(seed);
  for (int n = 0; n < 30000; ++n) {
    const std::uint64_t line = random() % lines * stride;
    std::uint32_t e = file.find(LineAddr{line});
    const auto it = reference.find(line);
    REQUIRE((e != MshrFile<int>::kNone) == (it != reference.end()));
    REQUIRE(file.in_use() == reference.size());
    REQUIRE(file.full() == (reference.size() == entries));
    if (it == reference.end()) {
      if (file.full()) continue;
      e = file.open(LineAddr{line});
      file.add_waiter(e, n);
      reference[line] = {n};
      continue;
    }
    REQUIRE(file[e].line == LineAddr{line});
    REQUIRE(file[e].waiting == it->second.size());
    if (random() % 3 != 0 && it->second.size() < 100) {
      file.add_waiter(e, n), it->second.push_back(n);
      continue;
    }
    const int divisor = 1 + static_cast<int>(random() % 3);
    std::vector<int> released, expected, kept;
    file.release_waiters(e, [&](int w) { return w % divisor == 0 ? released.push_back(w), true : false; });
    for (const int w : it->second) (w % divisor == 0 ? expected : kept).push_back(w);
    REQUIRE(released == expected);
    it->second = kept;
    if (kept.empty()) file.close(e), reference.erase(it);
  }
}

TEST_CASE("random use agrees with a map: few entries, many lines") { compare(4, 64, 1, 1); }
TEST_CASE("random use agrees with a map: one entry") { compare(1, 3, 1, 2); }
TEST_CASE("random use agrees with a map: 64 entries, lines a large power of two apart") { compare(64, 200, 1 << 20, 3); }

}  // namespace
}  // namespace atl
