#pragma once
#include <memory>

#include "inputs/workload/workload.hpp"

namespace atl {

/// Launches of different devices that the program left unordered (LaunchPlace::step) become one kernel, with a part for
/// each device: the simulator runs one kernel at a time. Of a workload that knows one device, `workload` itself. Errors name
/// `file`.
std::unique_ptr<Workload> join_steps(std::unique_ptr<Workload> workload, const std::string& file);

}  // namespace atl
