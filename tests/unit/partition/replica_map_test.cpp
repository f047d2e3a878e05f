#include "partition/replica_map.hpp"

#include <doctest/doctest.h>

#include <set>

#include "inputs/config/reader.hpp"

using namespace atl;

namespace {
SystemConfig machine(std::uint32_t clusters, std::uint32_t slices, std::uint32_t routers) {
  SystemConfig c;
  c.sm.count = clusters, c.noc.sms_per_cluster = 1, c.llc.slices = slices, c.noc.memory_routers = routers;
  return c;
}
}  // namespace

TEST_CASE("SelRep's machine: the slice of every cluster, address and degree") {
  const ReplicaMap map(read_system("selrep-gpu", {}));
  REQUIRE(map.slices() == 16);
  REQUIRE(map.clusters() == 16);
  REQUIRE(map.levels() == 5);
  for (std::uint32_t level = 0; level < 5; ++level) {
    const std::uint32_t degree = 1u << level, block = 16 / degree;
    for (std::uint32_t cluster = 0; cluster < 16; ++cluster) {
      for (std::uint32_t shared = 0; shared < 64; ++shared) {
        // The router stays; the clusters' group picks the block of slices; within it the low bits of the address stay.
        const std::uint32_t expected = shared / 16 * 16 + cluster / block * block + shared % block;
        REQUIRE(map.slice(shared, cluster, level) == expected);
      }
    }
  }
}

TEST_CASE("degree 1 goes by the address alone, the highest by the cluster alone") {
  const ReplicaMap map(read_system("selrep-gpu", {}));
  for (std::uint32_t cluster = 0; cluster < 16; ++cluster) {
    for (std::uint32_t shared = 0; shared < 64; ++shared) {
      CHECK(map.slice(shared, cluster, 0) == shared);
      CHECK(map.slice(shared, cluster, 4) == shared / 16 * 16 + cluster);
    }
  }
}

TEST_CASE("a line has as many replicas as the degree says, each for equally many clusters") {
  for (const std::uint32_t clusters : {4u, 16u, 32u}) {
    const ReplicaMap map(machine(clusters, 8, 2));
    for (std::uint32_t level = 0; level < map.levels(); ++level) {
      std::set<std::uint32_t> replicas;
      for (std::uint32_t cluster = 0; cluster < clusters; ++cluster) replicas.insert(map.slice(5, cluster, level));
      CHECK(replicas.size() == std::min(1u << level, clusters));
      for (const std::uint32_t slice : replicas) CHECK(slice / 4 == 1);  // 5 belongs to the second router
    }
  }
}

TEST_CASE("four clusters and slices at degree 2: the first two clusters have the first two slices (SelRep figure 9)") {
  const ReplicaMap map(machine(4, 4, 1));
  for (std::uint32_t shared = 0; shared < 4; ++shared) {
    CHECK(map.slice(shared, 0, 1) == shared % 2);
    CHECK(map.slice(shared, 1, 1) == shared % 2);
    CHECK(map.slice(shared, 2, 1) == 2 + shared % 2);
    CHECK(map.slice(shared, 3, 1) == 2 + shared % 2);
  }
}

TEST_CASE("without a power of two of slices per router there is no other degree than 1") {
  const ReplicaMap map(machine(8, 12, 1));
  CHECK(map.levels() == 1);
  CHECK(map.slice(11, 7, 0) == 11);
}
