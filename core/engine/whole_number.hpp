#pragma once
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace atl {

/// The number that all of `text` is, digits without a sign (or with a minus, where `T` has one); nothing if it is none, or
/// does not fit `T`.
template <class T> std::optional<T> whole_number(std::string_view text, int base = 10) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace atl
