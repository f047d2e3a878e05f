#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// "did you mean": the known name that is closest to a mistyped one.
namespace atl {

/// Insertions, deletions and replacements that turn one word into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The closest of `known` to a dotted key, or "" when nothing is close. The last part of the key weighs most, so that a
/// key given in the wrong section finds its place.
std::string closest_key(const std::string& key, std::span<const std::string> known);

/// Every dotted key of a system configuration, sections included.
std::vector<std::string> all_keys();

}  // namespace atl
