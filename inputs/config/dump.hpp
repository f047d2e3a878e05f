#pragma once
#include <string>

#include "inputs/config/system_config.hpp"

namespace atl {

/// Every key with its value, in the order of the structs. Read back it gives the identical configuration.
std::string effective_json(const SystemConfig& config);

/// For `atoll config --explain`: every key with value, unit, range or words, and meaning, section by section.
std::string explain(const SystemConfig& config);

}  // namespace atl
