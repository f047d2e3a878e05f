#pragma once
#include "inputs/config/system_config.hpp"

namespace atl {

/// Design bandwidths of a whole system, GB/s. `inter` is the raw sum of all link directions: hops are not divided out
/// (SAC section 3.3 uses it so).
struct SystemBandwidth {
  double intra, inter, llc, memory;
};
SystemBandwidth system_bandwidth(const SystemConfig& config);

/// Of one chip, GB/s: its memory, and all links into it.
double memory_bandwidth(const SystemConfig& config);
double link_bandwidth_in(const SystemConfig& config, std::uint32_t chip);

}  // namespace atl
