#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Energy of a run, by component. What the components contain is priced in core/control/energy_model.
namespace atl {

enum class EnergyComponent : std::uint8_t {
  core,
  l1,
  l2,
  llc,
  noc,
  link,
  dram,
  sm_static,
  llc_static,
  chip_static,
  dram_static,
  count_  ///< number of components
};

inline constexpr std::size_t kEnergyComponents = static_cast<std::size_t>(EnergyComponent::count_);

struct EnergyInfo {
  EnergyComponent id;
  std::string_view name;   ///< as a metric: `energy.part`
  std::string_view label;  ///< for people
  bool at_rest;            ///< power x time rather than events
  std::string_view doc;
};

std::span<const EnergyInfo, kEnergyComponents> energy_table();

/// Joules of one chip, or of a sum of chips.
struct Energy {
  std::array<double, kEnergyComponents> joules{};
  double& operator[](EnergyComponent c) { return joules[static_cast<std::size_t>(c)]; }
  double operator[](EnergyComponent c) const { return joules[static_cast<std::size_t>(c)]; }
  Energy& operator+=(const Energy& other);
  double total() const;
  bool operator==(const Energy&) const = default;
};

/// What was paid at one price, and how uncertain that is: it may be from joules / factor to joules x factor.
struct PricedEnergy {
  std::string key;  ///< of the price, in `energy`
  double joules = 0;
  double factor = 1;
  bool operator==(const PricedEnergy&) const = default;
};

struct EnergyBounds {
  double least = 0, greatest = 0;
};

/// Of the whole, while each price moves over its range.
EnergyBounds energy_bounds(std::span<const PricedEnergy> prices);

}  // namespace atl
