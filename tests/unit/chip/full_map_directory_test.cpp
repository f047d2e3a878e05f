#include "core/chip/llc/protocol/full_map_directory.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>

using namespace atl;

TEST_CASE("readers become sharers, a writer becomes the only one and the owner, until its data are in memory") {
  FullMapDirectory d;
  CHECK(d.read({7}, 1) == FullMapDirectory::kNobody);
  CHECK(d.read({7}, 2) == FullMapDirectory::kNobody);
  CHECK(d.write({7}, 3) == 0b0110);
  CHECK(d.owner({7}) == 3);
  CHECK(d.read({7}, 1) == 3);
  CHECK(d.read({7}, 3) == FullMapDirectory::kNobody);
  d.written_back({7}, 1);  // not the owner
  CHECK(d.owner({7}) == 3);
  d.written_back({7}, 3);
  CHECK(d.read({7}, 2) == FullMapDirectory::kNobody);
  CHECK(d.write_through({7}, 0) == 0b1110);
  CHECK(d.write_through({7}, 0) == 0);
  CHECK(d.write_through({8}, 0) == 0);
}

TEST_CASE("a write through a cache ends the other copies, makes none, and leaves no owner") {
  FullMapDirectory d;
  d.read({7}, 1), d.write({7}, 2), d.read({7}, 3);
  CHECK(d.write_through({7}, 3) == 0b0100);
  CHECK(d.sharers_of({7}) == 0b1000);
  CHECK(d.owner({7}) == FullMapDirectory::kNobody);
  CHECK(d.write_through({7}, 1) == 0b1000);
  CHECK(d.sharers_of({7}) == 0);
}

TEST_CASE("thousands of lines keep their sharers while the table grows") {
  FullMapDirectory d;
  std::map<std::uint64_t, std::uint64_t> wanted;
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t line = random() % 5000 * 4096;
    const auto chip = static_cast<std::uint8_t>(random() % 64);
    d.read({line}, chip);
    wanted[line] |= std::uint64_t{1} << chip;
  }
  CHECK(d.lines() == wanted.size());
  for (const auto& [line, sharers] : wanted) CHECK(d.sharers_of({line}) == sharers);
  d.clear();
  CHECK(d.lines() == 0);
}
