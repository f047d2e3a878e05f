#include "policies/coherence/rec_adaptive.hpp"

#include <doctest/doctest.h>

#include <array>

#include "policies/coherence/directory_layout.hpp"
#include "policies/registry.hpp"

using namespace atl;

namespace {

SystemConfig machine(std::uint32_t range = 1024) {
  SystemConfig c;
  c.line_bytes = 64, c.llc.organisation = LlcOrganisation::sm_side;
  c.coherence.protocol = CoherenceProtocol::rec_adaptive, c.coherence.range_bytes = range;
  return c;
}

/// The next range after a kernel whose evicted entries tracked so many lines each.
std::uint32_t after(const SystemConfig& c, std::uint64_t lines, std::uint64_t evictions = 100,
                    std::uint64_t lookups = 1000) {
  return next_range(c, c.coherence.range_bytes, {lookups, evictions, lines * evictions});
}

Counters counted(std::uint64_t lookups, std::uint64_t evictions, std::uint64_t lines) {
  Counters c;
  c[Counter::directory_lookups] = lookups, c[Counter::directory_evictions] = evictions;
  c[Counter::directory_evicted_lines] = lines;
  return c;
}

}  // namespace

TEST_CASE("entries that were nearly full get twice the range, nearly empty ones half of it, others keep it") {
  CHECK(after(machine(), 16) == 2048);
  CHECK(after(machine(), 13) == 2048);
  CHECK(after(machine(), 12) == 1024);
  CHECK(after(machine(), 4) == 1024);
  CHECK(after(machine(), 3) == 512);
  CHECK(after(machine(), 1) == 512);
}

TEST_CASE("without evictions, or with few for the look-ups, the range stays") {
  CHECK(after(machine(), 16, 0) == 1024);
  CHECK(after(machine(), 1, 0, 0) == 1024);
  CHECK(after(machine(), 16, 9) == 1024);
  CHECK(after(machine(), 1, 9) == 1024);
  CHECK(after(machine(), 16, 10) == 2048);
}

TEST_CASE("ranges stay within their bounds, and the directory keeps a whole set") {
  CHECK(after(machine(4096), 64) == 4096);
  CHECK(after(machine(2048), 32) == 4096);
  CHECK(after(machine(256), 1, 100) == 256);  // a quarter, and not less, of four lines
  SystemConfig c = machine();
  c.rec_adaptive.min_range_bytes = 1024;
  CHECK(after(c, 1) == 1024);
  c.rec_adaptive.max_range_bytes = 1024;
  CHECK(after(c, 16) == 1024);
  c = machine();
  c.coherence.directory_entries = c.coherence.directory_ways = 8;  // 824 bits
  CHECK(after(c, 16) == 1024);                                     // 4 entries of 166 bits
  c.coherence.directory_entries = 16;
  CHECK(after(c, 16) == 2048);
}

TEST_CASE("thresholds come from the configuration") {
  SystemConfig c = machine();
  c.rec_adaptive.widen_above = 0.5, c.rec_adaptive.narrow_below = 0.1, c.rec_adaptive.min_evictions = 0.5;
  CHECK(after(c, 9, 500) == 2048);
  CHECK(after(c, 3, 500) == 1024);
  CHECK(after(c, 9, 499) == 1024);
}

TEST_CASE("the policy sums over the chips, decides at each kernel's end, and gives all chips the same range") {
  const auto policy = load_policy(machine());
  const auto ranges = [&](std::size_t kernel) {
    const auto modes = policy->at_kernel_start(kernel, 0).modes;
    REQUIRE(modes.size() == 4);
    for (const Modes& m : modes) CHECK(m.range_bytes == modes[0].range_bytes);
    CHECK(modes[0].llc == LlcRole::sm_side);
    return modes[0].range_bytes;
  };
  CHECK(ranges(0) == 1024);
  const std::array full{counted(1000, 100, 1600), counted(1000, 20, 320), counted(0, 0, 0), counted(0, 0, 0)};
  auto decisions = policy->at_kernel_end({0, 777, full});
  REQUIRE(decisions.size() == 1);
  CHECK(decisions[0].kernel == 0);
  CHECK(decisions[0].cycle == 777);
  CHECK(decisions[0].choice == "2048 B");
  CHECK(decisions[0].values ==
        std::vector<std::pair<std::string, double>>{{"lines_per_entry", 16}, {"evictions", 120}, {"lookups", 2000}});
  CHECK(ranges(1) == 2048);
  const std::array one{counted(10, 5, 160), counted(1000, 100, 100), Counters{}, Counters{}};
  CHECK(policy->at_kernel_end({1, 888, one})[0].choice == "1024 B");  // chip 1 outweighs chip 0
  CHECK(ranges(2) == 1024);
  CHECK(policy->at_kernel_end({2, 999, std::array<Counters, 4>{}})[0].choice == "1024 B");
}

TEST_CASE("epochs of SAC and SelRep go on beside it, and all their modes have the range") {
  SystemConfig c = machine();
  c.llc.organisation = LlcOrganisation::sac, c.llc.replication = Replication::selrep;
  c.selrep.epoch_cycles = c.sac.window_cycles;
  const auto policy = load_policy(c);
  const std::array full{counted(1000, 100, 1600), Counters{}, Counters{}, Counters{}};
  CHECK(policy->at_kernel_end({0, 500, full}).size() == 1);
  const auto modes = policy->at_kernel_start(1, 0).modes;
  CHECK(modes[0].profile);
  CHECK(modes[0].replication.profile);
  CHECK(modes[0].range_bytes == 2048);
  std::vector<ChipEpoch> chips(4);
  for (ChipEpoch& e : chips) e.profile.at_home.assign(4, 1), e.profile.at_requester.assign(4, 1);
  const auto verdict = policy->at_epoch_end({1, c.sac.window_cycles, c.sac.window_cycles, chips});
  REQUIRE(verdict);
  CHECK(!verdict->decisions.empty());
  for (const Modes& m : verdict->modes) CHECK(m.range_bytes == 2048);
}

TEST_CASE("other protocols leave the range as it is") {
  SystemConfig c = machine();
  c.coherence.protocol = CoherenceProtocol::rec;
  const auto policy = load_policy(c);
  CHECK(policy->at_kernel_start(0, 0).modes[0].range_bytes == 0);
  CHECK(policy->at_kernel_end({0, 1, std::vector<Counters>(4)}).empty());
}
