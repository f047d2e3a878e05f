#pragma once
#include <string>

#include "core/stats/run_result.hpp"
#include "core/stats/utilisation.hpp"

namespace atl {

/// Where the cycles of a run went, and what limits it, for people. The result has a stack.
std::string explanation_text(const RunResult& result, const Capacities& capacities);

/// The same for programs.
std::string explanation_json(const RunResult& result, const Capacities& capacities);

/// What a chip waits for most, with links in both directions as one, which is named after the larger. For stacks of any
/// number of chips.
StackPart limit_of(const Stack& stack);

}  // namespace atl
