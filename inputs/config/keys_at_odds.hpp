#pragma once
#include <string>
#include <vector>

#include "inputs/config/system_config.hpp"

namespace atl {

/// What is legal and hardly meant: links that something narrower than they are keeps from being used, virtual channels that
/// hold no packet, ranges beyond a page. A line each, with the keys and what would do; none if nothing does.
std::vector<std::string> keys_at_odds(const SystemConfig& config);

/// Of `base` with some keys changed: that its memory became another one and its prices of energy stayed; else empty.
std::string other_memory(const SystemConfig& base, const SystemConfig& changed);

/// Of `base` with some keys, `given`, changed: what then has another meaning than it had there, or none. A line each.
std::vector<std::string> unlike_base(const SystemConfig& base, const SystemConfig& changed,
                                     const std::vector<std::string>& given);

}  // namespace atl
