#pragma once
#include "core/engine/types.hpp"
#include "core/stats/counters.hpp"
#include "core/stats/energy.hpp"
#include "core/stats/run_result.hpp"
#include "inputs/config/system_config.hpp"

namespace atl {

/// Parts of a chip's SMs, of its memory, and of its LLC, that are there.
struct Powered {
  double sms = 1, memory = 1, llc = 1;
};
Powered powered(const SystemConfig& config, std::uint32_t chip);
/// The mean of the chips: what is counted of all of them together draws this for so many times as long.
Powered mean_powered(const SystemConfig& config);

/// Energy of one chip with its memory over a run of `cycles`, in joules: what was counted, at the prices of `config.energy`,
/// and static power x time. `config` is the system as it was asked for: with `scale`, the LLC draws what it does unscaled,
/// so that its share of a shorter run stays what it is.
Energy energy_of_chip(const SystemConfig& config, const Counters& counters, Cycle cycles, Powered powered = {});

/// The energy of all chips by price rather than by component, with the range of each: an entry per row of kEnergyRanges.
std::vector<PricedEnergy> energy_by_price(const SystemConfig& config, std::span<const ChipResult> chips, Cycle cycles);

}  // namespace atl
