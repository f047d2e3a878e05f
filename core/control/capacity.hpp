#pragma once
#include "core/stats/utilisation.hpp"
#include "inputs/config/system_config.hpp"

namespace atl {

/// What one chip of the system can do per cycle.
Capacity capacity_of(const SystemConfig& config);

}  // namespace atl
