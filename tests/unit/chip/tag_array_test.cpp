#include "core/chip/base/tag_array.hpp"

#include <doctest/doctest.h>

#include <list>
#include <map>
#include <random>
#include <vector>

#include "core/engine/archive_bytes.hpp"

namespace atl {

struct LineIndexTestAccess {
  /// Slots that are looked at until the line is found, if no two lines have one part of the hash.
  template <class Index> static std::size_t slots(const LineIndex<Index>& index, LineAddr line) {
    const auto hash = index.hash_of(line);
    std::size_t n = 1;
    for (std::size_t i = index.start(hash); (index.slot_[i] ^ hash) >= index.kEntries; i = (i + 1) & index.mask_) ++n;
    return n;
  }
};

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

/// As the definition has it: the first invalid entry, else the one whose use is longest ago.
std::uint32_t victim_by_looking(const TagArray& tags, std::uint32_t set) {
  const std::uint32_t first = set * tags.ways();
  std::uint32_t best = first;
  for (std::uint32_t i = first; i < first + tags.ways(); ++i) {
    if (!tags.occupied(i)) return i;
    if (tags.used(i) < tags.used(best)) best = i;
  }
  return best;
}

TagArray from_checkpoint(TagArray& tags, std::uint32_t sets) {
  const std::string bytes = bytes_of_state([&](auto& archive) { carry(archive, tags); });
  TagArray copy(sets, tags.ways());
  load_state(bytes, [&](auto& archive) { carry(archive, copy); });
  return copy;
}

TEST_CASE("100,000 random uses leave the same lines as a list kept in order of use") {
  constexpr std::uint32_t kSets = 4;
  std::uint32_t ways = 6;
  SUBCASE("few ways, which are looked through") {}
  SUBCASE("more") { ways = 24; }
  SUBCASE("as many as bits of a word") { ways = 64; }
  SUBCASE("as many as Accel-Sim gives an L1") { ways = 192; }
  CAPTURE(ways);
  TagArray tags(kSets, ways);
  std::vector<std::list<std::uint64_t>> reference(kSets);  // most recent first
  std::mt19937 random(7);
  for (int n = 0; n < 100000; ++n) {
    const std::uint64_t line = random() % (kSets * ways * 2);
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
      if (list.size() == ways) list.pop_back();
      list.push_front(line);
    }
    REQUIRE(tags.victim(set) == victim_by_looking(tags, set));
    if (n % 10000 == 0) tags = from_checkpoint(tags, kSets);
    if (n == 55555) {
      tags.invalidate_all();
      for (auto& each : reference) each.clear();
    }
  }
}

TEST_CASE("a checkpoint that has a line twice in a set of many ways is refused") {
  TagArray tags(1, 24);
  tags.install(0, LineAddr{5});
  tags.install(1, LineAddr{6});
  std::string bytes = bytes_of_state([&](auto& archive) { carry(archive, tags); });
  const std::size_t six = bytes.find('\6');
  REQUIRE(six != std::string::npos);
  bytes[six] = '\5';
  TagArray copy(1, 24);
  CHECK_THROWS_AS(load_state(bytes, [&](auto& archive) { carry(archive, copy); }), SimulationError);
}

TEST_CASE_TEMPLATE("an index of lines has short runs for the lines that an L1 can hold", Index, std::uint16_t,
                   std::uint32_t) {
  constexpr std::size_t kEntries = 1024;
  for (const std::uint64_t stride : {1, 2, 3, 7, 8, 32, 96, 1024, 4096, 12288, 1 << 20}) {
    for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{0x2000000}, std::uint64_t{1} << 40}) {
      CAPTURE(stride);
      CAPTURE(first);
      std::vector<LineAddr> line;
      LineIndex<Index> index(kEntries);
      std::size_t looks = 0;
      const auto line_of = [&](std::uint32_t i) { return ++looks, line[i]; };
      for (std::uint32_t i = 0; i < kEntries; ++i) index.insert(line.emplace_back(LineAddr{first + i * stride}), i);
      for (std::uint32_t i = 0; i < kEntries; ++i) REQUIRE(index.find(line[i], line_of) == i);
      CHECK(looks < 1.02 * kEntries);  // the part of the hash that is kept tells most other lines apart
      std::size_t slots = 0;
      for (const LineAddr l : line) slots += LineIndexTestAccess::slots(index, l);
      CHECK(slots < 2 * kEntries);  // random addresses: 1.5 for each
    }
  }
}

TEST_CASE("an index of lines finds what is there and nothing else while lines come and go") {
  std::mt19937_64 random(3);
  constexpr std::uint32_t kEntries = 256;
  LineIndex<std::uint16_t> index(kEntries);
  std::vector<LineAddr> line(kEntries);
  std::vector<std::uint32_t> free;
  for (std::uint32_t e = 0; e < kEntries; ++e) free.push_back(e);
  std::map<std::uint64_t, std::uint32_t> model;
  const auto line_of = [&](std::uint32_t e) { return line[e]; };
  for (unsigned n = 0; n < 200'000; ++n) {
    const LineAddr at{random() % 1024 * 4096};  // more lines than there is room for, and many with one part of the hash
    const auto known = model.find(at.value);
    REQUIRE(index.find(at, line_of) == (known == model.end() ? index.kNone : known->second));
    if (known != model.end()) {
      index.erase(at, known->second);
      free.push_back(known->second);
      model.erase(known);
    } else if (!free.empty()) {
      const std::uint32_t e = free.back();
      free.pop_back();
      line[e] = at;
      index.insert(at, e);
      model.emplace(at.value, e);
    }
  }
  std::size_t found = 0;
  index.for_each([&](std::uint32_t e) {
    ++found;
    CHECK(model.at(line[e].value) == e);
  });
  CHECK(found == model.size());
}

}  // namespace
}  // namespace atl
