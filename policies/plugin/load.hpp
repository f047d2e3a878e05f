#pragma once
#include "policies/registry.hpp"

namespace atl {

/// The policy in the file `llc.policy`: a shared library (`.so`), or a Python module (`.py`), which a plug-in of Atoll's own
/// runs in an interpreter (docs/plugins.md). Called by the controller's process only. Errors: InputError that names the file
/// and the remedy.
LoadedPolicy load_plugin(const SystemConfig& config);

}  // namespace atl
