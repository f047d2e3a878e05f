#include "core/chip/sm/ownership_table.hpp"

#include <doctest/doctest.h>

#include <list>
#include <map>
#include <random>

#include "inputs/config/reader.hpp"

using namespace atl;

namespace {

constexpr std::uint8_t kNobody = OwnershipTable::kNobody;

OwnershipTable table(std::uint32_t sets, std::uint32_t ways) { return {SetIndex::linear, {sets, ways, 8}}; }

}  // namespace

TEST_CASE("COLAB's table has 3,072 entries of 31 bits, 11.625 KB, and its queues of 8 B entries 0.75 KB") {
  const SystemConfig c = read_system("colab-gpu", {"cluster.sharing=colab"});
  const OwnershipTableShape shape = OwnershipTableShape::of(c);
  CHECK(shape.sets == 64);
  CHECK(shape.ways == 48);
  CHECK(shape.entries() == 3072);
  CHECK(shape.entry_bits(c.line_bytes) == 27 + 3 + 1);
  CHECK(shape.entries() * shape.entry_bits(c.line_bytes) / 8.0 / 1024 == 11.625);
  const std::uint32_t queued = c.cluster.input_queue + c.cluster.access_queue * c.noc.sms_per_cluster;
  CHECK(queued == 96);
  CHECK(queued * 8 / 1024.0 == 0.75);
}

TEST_CASE("the table follows the L1s and the size of the cluster, unless it is given a shape") {
  CHECK(OwnershipTableShape::of(read_system("colab-gpu", {"noc.sms_per_cluster=16"})).entries() == 6144);
  CHECK(OwnershipTableShape::of(read_system("colab-gpu", {"noc.sms_per_cluster=2", "l1.size_kib=24"})).entries() == 384);
  const auto given = OwnershipTableShape::of(read_system("colab-gpu", {"cluster.table_sets=16", "cluster.table_ways=3"}));
  CHECK(given.sets == 16);
  CHECK(given.ways == 3);
}

TEST_CASE("the last SM that fetched a line is its owner") {
  OwnershipTable t = table(4, 2);
  CHECK(t.find({5}) == kNobody);
  t.put({5}, 3);
  CHECK(t.find({5}) == 3);
  t.put({5}, 0);
  CHECK(t.find({5}) == 0);
  CHECK(t.find({9}) == kNobody);  // same set
}

TEST_CASE("a full set loses its least recently used line; a look-up is a use") {
  OwnershipTable t = table(4, 2);
  t.put({1}, 1), t.put({5}, 2);
  CHECK(t.find({1}) == 1);
  t.put({9}, 3);
  CHECK(t.find({5}) == kNobody);
  CHECK(t.find({1}) == 1);
  CHECK(t.find({9}) == 3);
}

TEST_CASE("an erased line makes room before a used one does; one that names the exception stays") {
  OwnershipTable t = table(1, 2);
  t.put({1}, 1), t.put({2}, 2);
  t.erase({2}, 2);
  CHECK(t.find({2}) == 2);
  t.erase({2}, 1);
  CHECK(t.find({2}) == kNobody);
  t.put({3}, 3);
  CHECK(t.find({1}) == 1);
  t.clear();
  CHECK(t.find({1}) == kNobody);
  CHECK(t.find({3}) == kNobody);
}

TEST_CASE("the table is a plain LRU map of each set") {
  constexpr std::uint32_t kSets = 8, kWays = 5;
  OwnershipTable t = table(kSets, kWays);
  std::map<std::uint64_t, std::list<std::pair<std::uint64_t, std::uint8_t>>> reference;  // by set, the last used first
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    const LineAddr line{random() % 100};
    auto& set = reference[line.value % kSets];
    const auto known = std::find_if(set.begin(), set.end(), [&](const auto& e) { return e.first == line.value; });
    const auto owner = static_cast<std::uint8_t>(random() % 8);
    switch (random() % 8) {
      case 0:
        if (known != set.end() && known->second != owner) set.erase(known);
        t.erase(line, owner);
        break;
      case 1:
      case 2:
      case 3:
        if (known != set.end()) set.erase(known);
        if (set.size() == kWays) set.pop_back();
        set.emplace_front(line.value, owner);
        t.put(line, owner);
        break;
      default:
        REQUIRE(t.find(line) == (known == set.end() ? kNobody : known->second));
        if (known != set.end()) set.splice(set.begin(), set, known);
    }
  }
}
