#pragma once
#include <string>

/// Files that come from outside. Every reader goes through here first.
namespace atl {

/// InputError for what is there and is no regular file: a device or pipe may have no end, and one without a writer keeps
/// whoever opens it waiting. What is not there is left to the reader, who knows what he was looking for.
void check_input(const std::string& path);

/// All of a text. InputError: `missing` if it cannot be opened; it is no regular file, or longer than a text is. IoError.
std::string read_text(const std::string& path, const std::string& missing = "cannot read this file");

}  // namespace atl
