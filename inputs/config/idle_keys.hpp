#pragma once
#include <span>
#include <string>
#include <vector>

#include "inputs/config/system_config.hpp"

namespace atl {

/// Those of `keys` (`llc.local_ways`) that change nothing in this system, and what they would need:
/// "`sac.threshold` has no effect: it needs `llc.organisation` = sac". A study of such a key is a flat line.
std::vector<std::string> idle_keys(const SystemConfig& config, std::span<const std::string> keys);

}  // namespace atl
