#include "core/stats/energy.hpp"

#include <numeric>

namespace atl {
namespace {

constexpr auto energy_rows() {
  using enum EnergyComponent;
  return std::array<EnergyInfo, kEnergyComponents>{{
      {core, "energy.core", "cores", false, "for warp instructions, apart from the caches"},
      {l1, "energy.l1", "L1", false, "for look-ups, reads, writes and fills of the L1s"},
      {l2, "energy.l2", "L2", false, "for look-ups, reads, writes, fills and write-backs of the L2 slices"},
      {llc, "energy.llc", "LLC", false, "for look-ups, reads, writes, fills and write-backs of the LLC slices"},
      {noc, "energy.noc", "NoC", false, "for bytes through the crossbars"},
      {link, "energy.link", "links", false, "for bytes sent over inter-chip links, those passed on included"},
      {dram, "energy.dram", "DRAM", false, "for rows opened, bytes read and written in memory"},
      {sm_static, "energy.sm_static", "SMs at rest", true, "static power of the SMs x time"},
      {llc_static, "energy.llc_static", "LLC at rest", true, "static power of LLC and L2 x time"},
      {chip_static, "energy.chip_static", "chip at rest", true, "static power of the rest of the chip x time"},
      {dram_static, "energy.dram_static", "DRAM at rest", true, "background power of the DRAM channels x time"},
  }};
}

constexpr std::array<EnergyInfo, kEnergyComponents> kEnergyTable = energy_rows();

constexpr bool energy_rows_stand_at_their_ids() {
  for (std::size_t i = 0; i < kEnergyComponents; ++i) {
    if (static_cast<std::size_t>(kEnergyTable[i].id) != i || kEnergyTable[i].name.empty()) return false;
  }
  return true;
}
static_assert(energy_rows_stand_at_their_ids(),
              "the rows of the energy table must follow the order of enum EnergyComponent");

}  // namespace

std::span<const EnergyInfo, kEnergyComponents> energy_table() { return kEnergyTable; }

Energy& Energy::operator+=(const Energy& other) {
  for (std::size_t i = 0; i < kEnergyComponents; ++i) joules[i] += other.joules[i];
  return *this;
}

EnergyBounds energy_bounds(std::span<const PricedEnergy> prices) {
  EnergyBounds bounds;
  for (const PricedEnergy& p : prices) bounds.least += p.joules / p.factor, bounds.greatest += p.joules * p.factor;
  return bounds;
}

double Energy::total() const { return std::accumulate(joules.begin(), joules.end(), 0.0); }

}  // namespace atl
