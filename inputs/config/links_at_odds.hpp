#pragma once
#include <string>
#include <vector>

#include "inputs/config/system_config.hpp"

namespace atl {

/// GB/s at which what has come over a link of `link_gbps` enters the crossbar: `noc.link_port_gbps`. Where that is 0 the
/// port is never narrower than the link, so that a sweep over links measures links.
double link_port_gbps(const SystemConfig& config, double link_gbps);

/// What is legal and hardly meant: links that something narrower than they are keeps from being used. A line each, with
/// the keys and what would do; none if nothing does.
std::vector<std::string> links_at_odds(const SystemConfig& config);

}  // namespace atl
