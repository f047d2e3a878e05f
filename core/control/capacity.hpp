#pragma once
#include "core/stats/utilisation.hpp"
#include "inputs/config/system_config.hpp"

namespace atl {

/// What the chips can do per cycle.
Capacities capacities_of(const SystemConfig& config);

}  // namespace atl
