#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace atl {

/// Parses a JSON text strictly. Malformed text and keys given twice are InputErrors at `where`; the former name line and
/// column.
nlohmann::json parse_json(std::string_view text, const std::string& where);

}  // namespace atl
