#pragma once
#include "inputs/config/system_config.hpp"

namespace atl {

/// Rejects configurations that no machine can be built from: values out of range (a configuration may have been made in
/// code) and rules that span fields. Throws InputError naming the keys and the remedy; `read_system` ends with it.
void validate(const SystemConfig& config);

}  // namespace atl
