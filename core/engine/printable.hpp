#pragma once
#include <algorithm>
#include <string>
#include <string_view>

namespace atl {

inline bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

/// Whether a name has no control characters: a line end in one would forge what is printed beside it.
inline bool printable(std::string_view name) { return std::ranges::none_of(name, is_control); }

/// What a message cites of a file, with `?` for control characters: they could change the terminal, or cut the message.
inline std::string cited(std::string text) {
  std::ranges::replace_if(text, is_control, '?');
  return text;
}

}  // namespace atl
