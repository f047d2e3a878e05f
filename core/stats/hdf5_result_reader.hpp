#pragma once
#include <string>

#include "core/stats/run_result.hpp"

namespace atl {

/// Reads a file of write_result. InputError, naming the file and what is wrong or missing, when it is anything else.
RunResult read_result(const std::string& path);

}  // namespace atl
