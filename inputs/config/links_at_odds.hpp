#pragma once
#include <string>
#include <vector>

#include "inputs/config/system_config.hpp"

namespace atl {

/// What is legal and hardly meant: links that something narrower than they are keeps from being used. A line each, with
/// the keys and what would do; none if nothing does.
std::vector<std::string> links_at_odds(const SystemConfig& config);

}  // namespace atl
