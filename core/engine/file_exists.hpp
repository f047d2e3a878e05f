#pragma once
#include <filesystem>

#include "core/engine/error.hpp"

namespace atl {

/// Whether there is anything of that name. A name too long for any file is nothing's; IoError where it cannot be told, as in
/// a folder that may not be searched.
inline bool file_exists(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status)) return true;
  if (status.type() == std::filesystem::file_type::not_found || error == std::errc::filename_too_long) return false;
  throw IoError(path.string(), "cannot be looked for: " + error.message());
}

}  // namespace atl
