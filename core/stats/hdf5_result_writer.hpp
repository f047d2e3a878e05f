#pragma once
#include <string>

#include "core/stats/run_result.hpp"

namespace atl {

/// To be asked before a simulation that may take days: InputError when `path` exists and `force` is off, or when it cannot
/// be a file; IoError when its directory does not exist or cannot be written.
void check_output(const std::string& path, bool force);

/// Writes the result as one HDF5 file (docs/results.md). The file appears under its name only when it is complete and on
/// disk: it is written as `<path>.part` and renamed. On IoError neither of the two names is left behind.
void write_result(const RunResult& result, const std::string& path, bool force);

}  // namespace atl
