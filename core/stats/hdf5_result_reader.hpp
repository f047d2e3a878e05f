#pragma once
#include <string>

#include "core/stats/run_result.hpp"

namespace atl {

/// Whether a file whose checksum is missing or wrong is read all the same. HDF5 can crash on it, run for ever or take all
/// memory: who reads it sets bounds (core/app/damaged_result.hpp).
enum class Unsealed : bool { refused, read };

/// Reads a file of write_result. InputError, naming the file and what is wrong or missing, when it is anything else.
RunResult read_result(const std::string& path, Unsealed unsealed = Unsealed::refused);

}  // namespace atl
