#include "inputs/config/assign.hpp"

#include <fmt/format.h>

#include "core/engine/error.hpp"

namespace atl {

std::string range_text(const Range& range, std::string_view unit) {
  return fmt::format("{} to {}{}{}", range.min, range.max, unit.empty() ? "" : " ", unit);
}

void wrong_type(const Origin& origin, std::string_view expected, const nlohmann::json& got) {
  throw InputError(origin.where, fmt::format("`{}` must be {}, not {}", origin.key, expected, got.dump()));
}

void out_of_range(const Origin& origin, const nlohmann::json& got, const Range& range, std::string_view unit) {
  throw InputError(origin.where,
                   fmt::format("`{}` = {} is out of range: {}", origin.key, got.dump(), range_text(range, unit)));
}

void unknown_word(const Origin& origin, const std::string& got, const std::string& word_list) {
  throw InputError(origin.where, fmt::format("`{}` = \"{}\" is not one of: {}", origin.key, got, word_list));
}

}  // namespace atl
