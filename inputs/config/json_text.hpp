#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace atl {

/// Levels of objects and lists that a text may have; no file of Atoll has ten. The library prints and copies recursively.
inline constexpr int kDeepestJson = 64;

/// Parses a JSON text strictly. Malformed text, keys given twice and too deep nesting are InputErrors at `where`; the
/// first name line and column.
nlohmann::json parse_json(std::string_view text, const std::string& where);

enum class JsonKind : std::uint8_t { system, workload, experiment };
/// The file's text, parsed. One of another kind is an InputError that names the command it is for.
nlohmann::json read_json(const std::string& path, JsonKind wanted);

}  // namespace atl
