#pragma once
#include <string>

#include "core/stats/run_result.hpp"
#include "core/stats/utilisation.hpp"

namespace atl {

/// The run as Trace Event JSON, which ui.perfetto.dev and chrome://tracing open: one process per chip with its phases and
/// its counters over time, and one more, the controller's, with kernels and decisions. One microsecond there is one core
/// cycle.
std::string perfetto_trace(const RunResult& result, const Capacities& capacities);

}  // namespace atl
