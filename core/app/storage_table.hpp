#pragma once
#include <string>

#include "inputs/config/system_config.hpp"

namespace atl {

/// What the mechanisms of a configuration keep in hardware, per chip: bytes, their share of the LLC's data, and what they
/// are made of, a line for each part. The machine as configured, whatever `scale` runs of it.
std::string storage_table(const SystemConfig& config);

}  // namespace atl
