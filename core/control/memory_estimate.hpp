#pragma once
#include <cstdint>

#include "inputs/config/system_config.hpp"

namespace atl {

/// Bytes that the tags and directories of one chip take: nearly all of what a large system needs, before its workload.
std::uint64_t memory_of_chip(const SystemConfig& config);

/// What this machine has, or what its control group leaves this process of it.
std::uint64_t memory_of_machine();

}  // namespace atl
