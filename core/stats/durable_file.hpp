#pragma once
#include <span>
#include <string>

namespace atl {

/// IoError unless a file can be created in the directory that `path` names.
void check_directory_writable(const std::string& path);

/// Writes `bytes` to `<path>.part`, brings them to disk and renames. On failure the .part is removed, IoError is thrown, and
/// whatever stood under `path` before is untouched.
void write_then_rename(const std::string& path, std::span<const char> bytes);

}  // namespace atl
