#pragma once
#include "core/stats/utilisation.hpp"
#include "inputs/config/system_config.hpp"

namespace atl {

/// Whether the chip's LLC holds lines: at the SMs under SM-side caching and at the homes otherwise; at both where homes
/// look lines up for a directory of their own.
bool uses_llc(const SystemConfig& config, std::uint32_t chip);

/// What the chips can do per cycle.
Capacities capacities_of(const SystemConfig& config);

}  // namespace atl
