#include "core/control/energy_model.hpp"

#include <doctest/doctest.h>

#include "inputs/config/energy_range.hpp"
#include "inputs/config/reader.hpp"

using namespace atl;
using Part = EnergyComponent;
using doctest::Approx;

namespace {

/// Prices that no two events share, so that a price put to the wrong event shows.
SystemConfig priced() {
  SystemConfig c;
  c.core_clock_mhz = 500, c.line_bytes = 128;
  c.sm.count = 10, c.llc.size_kib = 3072, c.dram.channels = 4;
  c.energy = {.warp_instruction_pj = 1000,
              .l1_tag_pj = 2,
              .l1_sector_pj = 30,
              .llc_tag_pj = 4,
              .llc_sector_pj = 50,
              .noc_pj_per_byte = 6,
              .cluster_pj_per_byte = 1.5,
              .cluster_table_pj = 13,
              .link_pj_per_bit = 0.5,
              .dram_activate_pj = 900,
              .dram_read_pj_per_bit = 3,
              .dram_write_pj_per_bit = 7,
              .sm_static_w = 0.5,
              .llc_static_w_per_mib = 2,
              .chip_static_w = 11,
              .dram_channel_static_w = 0.25};
  return c;
}

Energy energy(const SystemConfig& c, std::initializer_list<std::pair<Counter, std::uint64_t>> counts) {
  Counters counters;
  for (const auto& [counter, n] : counts) counters[counter] = n;
  return energy_of_chip(c, counters, 0);
}

}  // namespace

TEST_CASE("a chip without SMs or without memory draws no power for them") {
  SystemConfig c = priced();
  c.chips = 2, c.partition.compute_chips = 1, c.partition.memory_chips = 1;
  const Energy both = energy_of_chip(c, {}, 1'000'000);
  const Energy compute = energy_of_chip(c, {}, 1'000'000, powered(c, 0));
  const Energy memory = energy_of_chip(c, {}, 1'000'000, powered(c, 1));
  CHECK(both[EnergyComponent::sm_static] > 0);
  CHECK(compute[EnergyComponent::sm_static] == both[EnergyComponent::sm_static]);
  CHECK(compute[EnergyComponent::dram_static] == 0);
  CHECK(compute[EnergyComponent::llc_static] == 0);
  CHECK(memory[EnergyComponent::sm_static] == 0);
  CHECK(memory[EnergyComponent::dram_static] == both[EnergyComponent::dram_static]);
  CHECK(memory[EnergyComponent::llc_static] == both[EnergyComponent::llc_static]);
}

TEST_CASE("an LLC draws power at the SMs, at the homes, or where a directory looks lines up at both") {
  SystemConfig c = priced();
  c.chips = 2, c.partition.compute_chips = 1, c.partition.memory_chips = 1;
  const auto drawn = [&](LlcOrganisation organisation, CoherenceProtocol protocol) {
    c.llc.organisation = organisation, c.coherence.protocol = protocol;
    return std::pair(energy_of_chip(c, {}, 1'000'000, powered(c, 0))[EnergyComponent::llc_static] > 0,
                     energy_of_chip(c, {}, 1'000'000, powered(c, 1))[EnergyComponent::llc_static] > 0);
  };
  using enum CoherenceProtocol;
  CHECK(drawn(LlcOrganisation::memory_side, software) == std::pair(false, true));
  CHECK(drawn(LlcOrganisation::sm_side, software) == std::pair(true, false));
  CHECK(drawn(LlcOrganisation::sm_side, full_map) == std::pair(true, false));
  CHECK(drawn(LlcOrganisation::sm_side, directory) == std::pair(true, true));
  CHECK(drawn(LlcOrganisation::sm_side, none_remote) == std::pair(false, true));
}

TEST_CASE("a chip that did nothing for no time took nothing") { CHECK(energy(priced(), {}) == Energy{}); }

TEST_CASE("what a chip did costs its events, each in its own component") {
  using enum Counter;
  const Energy e = energy(priced(), {{warp_instructions, 3},
                                     {l1_accesses, 10},
                                     {l1_stores, 5},
                                     {l1_sector_accesses, 40},
                                     {l1_sector_misses, 8},
                                     {llc_accesses, 7},
                                     {llc_sector_accesses, 20},
                                     {llc_sector_misses, 12},
                                     {llc_writebacks, 1000},
                                     {llc_writeback_sectors, 8},
                                     {noc_request_bytes, 100},
                                     {noc_response_bytes, 1000},
                                     {noc_link_bytes, 10},
                                     {link_bytes, 200},
                                     {dram_row_hits, 1000},
                                     {dram_row_misses, 2},
                                     {dram_row_conflicts, 3},
                                     {dram_read_bytes, 64},
                                     {dram_write_bytes, 32}});
  const double pj = 1e-12;
  CHECK(e[Part::core] == Approx(3000 * pj));
  CHECK(e[Part::l1] == Approx((15 * 2 + 48 * 30) * pj));
  CHECK(e[Part::llc] == Approx((7 * 4 + (20 + 12 + 8) * 50) * pj));
  CHECK(e[Part::noc] == Approx(1110 * 6 * pj));
  CHECK(e[Part::link] == Approx(200 * 8 * 0.5 * pj));
  CHECK(e[Part::dram] == Approx((5 * 900 + 64 * 8 * 3 + 32 * 8 * 7) * pj));  // row hits open nothing
  for (const auto part : {Part::sm_static, Part::llc_static, Part::chip_static, Part::dram_static}) CHECK(e[part] == 0);
  CHECK(e.total() == Approx((3000 + 1470 + 2028 + 6660 + 800 + 7828) * pj));
}

TEST_CASE("what a chip draws at rest is its parts' power times the time, whatever it did") {
  const Energy e = energy_of_chip(priced(), {}, 1'000'000);  // 2 ms at 500 MHz
  CHECK(e[Part::sm_static] == Approx(10 * 0.5 * 0.002));
  CHECK(e[Part::llc_static] == Approx(3 * 2 * 0.002));
  CHECK(e[Part::chip_static] == Approx(11 * 0.002));
  CHECK(e[Part::dram_static] == Approx(4 * 0.25 * 0.002));
  CHECK(e.total() == Approx((5 + 6 + 11 + 1) * 0.002));
}

TEST_CASE("an LLC that is scaled down draws the power of the one it stands for") {
  SystemConfig c = priced();
  c.scale = 4;
  CHECK(energy_of_chip(c, {}, 1'000'000) == energy_of_chip(priced(), {}, 1'000'000));
}

TEST_CASE("an L1 that is switched off costs nothing") {
  SystemConfig c = priced();
  c.l1.enabled = false;
  CHECK(energy(c, {{Counter::l1_accesses, 9}, {Counter::l1_sector_accesses, 9}, {Counter::l1_stores, 9}}) == Energy{});
}

TEST_CASE("sharing within a cluster costs the table, the owner's tags and a shorter way") {
  using enum Counter;
  SystemConfig c = priced();
  c.cluster.sharing = ClusterShare::colab;
  const Energy e = energy(c, {{l1_misses, 100},
                              {l1_stores, 7},
                              {cluster_lookups, 90},
                              {cluster_table_hits, 40},
                              {cluster_served, 30},
                              {cluster_false_positives, 6},
                              {cluster_bytes, 960}});
  const double pj = 1e-12;
  CHECK(e[Part::l1] == Approx((36 + 7) * 2 * pj));
  CHECK(e[Part::noc] == Approx(((90 + 70 + 7) * 13 + 960 * 1.5) * pj));  // 70 answers of the network enter the table
  CHECK(e.total() == Approx(e[Part::l1] + e[Part::noc]));
}

TEST_CASE("without sharing there is no table that misses and stores would cost") {
  using enum Counter;
  CHECK(energy(priced(), {{l1_misses, 100}, {l1_stores, 7}})[Part::noc] == 0);
}

TEST_CASE("an L2 costs look-ups, atomics that pass it included, its sectors, its bytes to the LLC, and leaks as that does") {
  using enum Counter;
  SystemConfig c = priced();
  c.energy.l2_tag_pj = 9, c.energy.l2_sector_pj = 70;
  const Energy e = energy(c, {{l2_accesses, 3},
                              {l2_atomics, 2},
                              {l2_sector_accesses, 12},
                              {l2_sector_misses, 4},
                              {l2_writeback_sectors, 1},
                              {l2_hits, 1000},
                              {noc_l2_bytes, 10}});
  CHECK(e[Part::l2] == Approx((5 * 9 + 17 * 70) * 1e-12));
  CHECK(e[Part::noc] == Approx(10 * 6 * 1e-12));
  CHECK(e.total() == Approx((5 * 9 + 17 * 70 + 60) * 1e-12));
  const auto leaks = [&](std::uint32_t slices) {
    c.l2.slices = slices, c.l2.size_kib = 1024;
    return energy_of_chip(c, Counters{}, 500'000'000)[Part::llc_static];
  };
  CHECK(leaks(0) == Approx(3 * 2));
  CHECK(leaks(16) == Approx(4 * 2));
}

TEST_CASE("every key of the table has an effect, on one component alone") {
  Counters counters;
  counters.value.fill(1000);
  counters[Counter::cluster_served] = 900;
  SystemConfig c = priced();
  c.cluster.sharing = ClusterShare::colab;
  const Energy before = energy_of_chip(c, counters, 1'000'000);
  EnergyConfig doubled = c.energy;
  EnergyConfig::fields(doubled, [&](double& price, const Field& field) {
    CAPTURE(field.key);
    price *= 2;
    SystemConfig other = c;
    other.energy = doubled;
    price /= 2;
    const Energy after = energy_of_chip(other, counters, 1'000'000);
    int changed = 0;
    for (std::size_t i = 0; i < kEnergyComponents; ++i) changed += after.joules[i] > before.joules[i];
    CHECK(changed == 1);
  });
}

TEST_CASE("a board's links cost more than a package's, and GDDR5 more than HBM") {
  const auto energy_of = [](const char* system) { return read_system(system).energy; };
  CHECK(energy_of("rec-4gpu").link_pj_per_bit > 10 * energy_of("sac-4chip").link_pj_per_bit);
  CHECK(energy_of("colab-gpu").dram_read_pj_per_bit > energy_of("sac-4chip").dram_read_pj_per_bit);
  CHECK(energy_of("sac-4chip").dram_read_pj_per_bit > energy_of("selrep-gpu").dram_read_pj_per_bit);
}

TEST_CASE("by price, the energy of all chips is what it is by component, and the range of each price goes with it") {
  SystemConfig c = priced();
  c.chips = 2;
  std::vector<ChipResult> chips(2);
  chips[0].totals[Counter::l1_accesses] = 3, chips[1].totals[Counter::cluster_served] = 4;  // two terms of one price
  chips[1].totals[Counter::link_bytes] = 5;
  const auto prices = energy_by_price(c, chips, 1'000'000);
  const auto joules_of = [&](std::string_view key) { return std::ranges::find(prices, key, &PricedEnergy::key)->joules; };
  CHECK(joules_of("l1_tag_pj") == Approx((3 + 4) * 2e-12));
  CHECK(joules_of("link_pj_per_bit") == Approx(5 * 8 * 0.5e-12));
  CHECK(joules_of("chip_static_w") == Approx(2 * 11 * 0.002));
  double sum = 0, whole = 0;
  for (const PricedEnergy& p : prices) sum += p.joules;
  for (const ChipResult& chip : chips) whole += energy_of_chip(c, chip.totals, 1'000'000).total();
  CHECK(sum == Approx(whole));
  CHECK(prices.size() == kEnergyRanges.size());
  CHECK(prices[0] == PricedEnergy{"warp_instruction_pj", 0, kEnergyRanges[0].factor});
}
