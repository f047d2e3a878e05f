#pragma once
#include <vector>

#include "core/chip/base/machine.hpp"
#include "core/stats/bottleneck_stack.hpp"
#include "core/stats/run_result.hpp"

namespace atl {

/// Unloaded latencies and neighbours, for sharing out the time of packets that are on their way.
StackMachine stack_machine(const Machine& machine);

/// The stacks of a run. `census`: [chip][kernel], of kernels that the chip has begun. `counts`: [kernel][chip], of kernels
/// that all chips have ended.
StackResult stack_of_run(const Machine& machine, const RunResult& result, const std::vector<std::vector<WaitCensus>>& census,
                         const std::vector<std::vector<Counters>>& counts);

}  // namespace atl
