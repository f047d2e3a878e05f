#pragma once
#include <algorithm>
#include <string_view>

namespace atl {

/// Whether a name has no control characters: a line end in one would forge what is printed beside it.
inline bool printable(std::string_view name) {
  return std::ranges::none_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

}  // namespace atl
