#pragma once
#include <span>
#include <string>

namespace atl {

/// To be asked before a simulation that may take days: InputError when `path` exists and `force` is off, or when it cannot
/// be a file; IoError when its directory does not exist or cannot be written, or the name is too long.
void check_output(const std::string& path, bool force);

/// InputError if the output is one of the files that are read.
void refuse_inputs(const std::string& path, std::span<const std::string> inputs);

/// Whether a result finds room there now: takes `bytes` of the disk for a moment. IoError.
void probe_output(const std::string& path, std::size_t bytes);

/// Writes `bytes` to `<path>.part`, brings them to disk and renames. On failure the .part is removed, IoError is thrown, and
/// whatever stood under `path` before is untouched.
void write_then_rename(const std::string& path, std::span<const char> bytes);

}  // namespace atl
