#include "policies/llc/split.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "inputs/config/reader.hpp"
#include "partition/bandwidth.hpp"

using namespace atl;

TEST_CASE("Static gives half the ways to remote lines in every kernel, and never changes") {
  const auto policy = make_static(read_system("sac-4chip", {"llc.organisation=static"}));
  for (std::size_t kernel = 0; kernel < 3; ++kernel)
    CHECK(policy->at_kernel_start(kernel, 0).modes[0] == Modes{.llc = LlcRole::split, .local_ways = 8});
}

TEST_CASE("Dynamic's local ways at every step of a sequence of utilisations") {
  struct Step {
    double link, memory;
    std::uint32_t local_ways;
  };
  constexpr std::array<Step, 9> sequence{{
      {0.50, 0.50, 8},  // neither saturated
      {1.00, 0.50, 7},  // links: one way for remote lines
      {0.90, 0.89, 6},  // saturated from 0.9 on
      {0.89, 0.89, 6},
      {1.00, 1.00, 7},  // both: towards the equal split
      {1.00, 1.00, 8},
      {1.00, 1.00, 8},  // there, it stays
      {0.10, 1.00, 9},  // memory: one way for local lines
      {1.00, 1.00, 8},
  }};
  std::uint32_t ways = 8;
  for (const Step& s : sequence) {
    ways = next_local_ways(ways, s.link, s.memory, 16, DynamicConfig{});
    CHECK(ways == s.local_ways);
  }
}

TEST_CASE("a memory whose buses move data for half of the time and wait, wanted, for another 0.42 is 0.92 in use") {
  SystemConfig c = read_system("sac-4chip", {"llc.organisation=dynamic"});
  Counters n;
  n[Counter::dram_wanted] = 36800;  // cycles of 8 channels, of 40,000
  n[Counter::dram_read_bytes] = 1000000, n[Counter::dram_write_bytes] = 94000;
  CHECK(memory_use(n, 5000, c) == doctest::Approx(0.92));
  CHECK(next_local_ways(8, 0.5, memory_use(n, 5000, c), 16, c.dynamic) == 9);
  // Of the design bandwidth, 437.6 GB/s per chip, it is half: 1,094,000 of 2,188,000 bytes. That is never 0.9.
  c.dynamic.memory = MemoryFull::peak;
  CHECK(memory_use(n, 5000, c) == doctest::Approx(0.5));
  CHECK(next_local_ways(8, 0.5, memory_use(n, 5000, c), 16, c.dynamic) == 8);
}

TEST_CASE("a step of 3 ways stops at dynamic.min_ways, and at the equal split when it moves towards it") {
  DynamicConfig rules;
  rules.step_ways = 3;
  CHECK(next_local_ways(8, 1.0, 0.0, 16, rules) == 5);
  CHECK(next_local_ways(3, 1.0, 0.0, 16, rules) == 1);
  CHECK(next_local_ways(14, 0.0, 1.0, 16, rules) == 15);
  CHECK(next_local_ways(10, 1.0, 1.0, 16, rules) == 8);
  CHECK(next_local_ways(6, 1.0, 1.0, 16, rules) == 8);
}

TEST_CASE("Dynamic leaves either kind of line at least dynamic.min_ways") {
  const DynamicConfig rules;
  CHECK(next_local_ways(1, 1.0, 0.0, 16, rules) == 1);
  CHECK(next_local_ways(15, 0.0, 1.0, 16, rules) == 15);
}

TEST_CASE("Dynamic decides for each chip from the bytes of its own links and memory, and forgets it at the next kernel") {
  const SystemConfig c = read_system("sac-4chip", {"llc.organisation=dynamic"});
  const auto policy = make_dynamic(c);
  CHECK(policy->at_kernel_start(0, 0).modes[0] == Modes{.llc = LlcRole::split, .local_ways = 8, .epoch_cycles = 5000});
  std::vector<ChipEpoch> chips(4);
  chips[1].count[Counter::link_received_bytes] = 2 * 96 * 5000;  // two links of 96 bytes per cycle
  chips[2].count[Counter::dram_wanted] = 8 * 5000;               // all of its eight channels, all the time
  const auto v = policy->at_epoch_end({0, 5000, 5000, chips});
  REQUIRE(v.has_value());
  CHECK(v->modes[0].local_ways == 8);
  CHECK(v->modes[1].local_ways == 7);
  CHECK(v->modes[2].local_ways == 9);
  CHECK(v->modes[3].local_ways == 8);
  CHECK(v->decisions[0].choice == "local ways 8 7 9 8");
  std::vector<ChipEpoch> quiet(4);
  CHECK_FALSE(policy->at_epoch_end({0, 10000, 5000, quiet}).has_value());
  CHECK(policy->at_kernel_start(1, 0).modes[0].local_ways == 8);
}

TEST_CASE("Dynamic says of the links of a chip that is alone that they have nothing to do") {
  const auto policy = make_dynamic(read_system("sac-4chip", {"llc.organisation=dynamic", "chips=1"}));
  policy->at_kernel_start(0, 0);
  std::vector<ChipEpoch> chips(1);
  chips[0].count[Counter::dram_wanted] = 8 * 5000;
  const auto v = policy->at_epoch_end({0, 5000, 5000, chips});
  REQUIRE(v);
  CHECK(v->modes[0].local_ways == 9);
  CHECK(v->decisions[0].values[0] == std::pair<std::string, double>{"chip0.link", 0});
}

TEST_CASE(
    "Dynamic says what its links and memory did: bytes received over what ports can take, cycles wanted of all there were") {
  // 4 chips on a ring: two ports of 96 GB/s at 1 GHz are 192 bytes per cycle.
  const auto policy = make_dynamic(read_system("sac-4chip", {"llc.organisation=dynamic", "dram.channels=8"}));
  policy->at_kernel_start(0, 0);
  std::vector<ChipEpoch> chips(4);
  for (ChipEpoch& c : chips) c.count[Counter::link_received_bytes] = 96 * 1000, c.count[Counter::dram_wanted] = 4000;
  CHECK_FALSE(policy->at_epoch_end({0, 1000, 1000, chips}));  // half of each: nothing changes
  chips[2].count[Counter::link_received_bytes] = 180 * 1000;
  const auto v = policy->at_epoch_end({0, 2000, 1000, chips});
  REQUIRE(v);
  const auto& values = v->decisions[0].values;
  REQUIRE(values.size() == 12);
  CHECK(values[0] == std::pair<std::string, double>{"chip0.link", 0.5});
  CHECK(values[1] == std::pair<std::string, double>{"chip0.memory", 0.5});
  CHECK(values[6].second == doctest::Approx(180.0 / 192));
  CHECK(v->modes[2].local_ways == 7);
  CHECK(v->modes[0].local_ways == 8);
}
