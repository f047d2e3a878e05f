#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/stats/run_result.hpp"

namespace atl {

/// What says that two runs did not do the same work, so that their times do not compare machines; empty if nothing does.
/// Not the workload's name: one file has several.
std::vector<std::string> unlike_work(const RunResult& a, const RunResult& b);

/// What LLC and footprints were divided by.
std::uint64_t scale_of(const RunResult& result);

}  // namespace atl
