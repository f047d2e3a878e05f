#pragma once
#include <string>

#include "core/stats/run_result.hpp"

namespace atl {

/// Writes the result as one HDF5 file (docs/results.md). The file appears under its name only when it is complete and on
/// disk: it is written as `<path>.part` and renamed. On IoError neither of the two names is left behind.
void write_result(const RunResult& result, const std::string& path, bool force);

}  // namespace atl
