#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/engine/error.hpp"
#include "inputs/config/assign.hpp"
#include "inputs/config/suggest.hpp"

/// Reading files other than a system's by the `fields()` lists of their structs.
namespace atl {

/// Fills `section` from its own fields; `others` are legal keys that the caller reads. `what` names the whole file.
template <class Section>
void read_fields(Section& section, const nlohmann::json& object, const Origin& origin,
                 std::initializer_list<std::string_view> others, const char* what) {
  if (!object.is_object()) wrong_type({origin.where, origin.key.empty() ? what : origin.key}, "an object", object);
  const std::string prefix = origin.key.empty() ? "" : origin.key + ".";
  std::vector<std::string> known;
  for (const auto key : others) known.push_back(prefix + std::string(key));
  Section::fields(section, [&](auto&, const Field& field) { known.push_back(prefix + std::string(field.key)); });
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), prefix + key) != known.end()) continue;
    const std::string close = closest_key(prefix + key, known);
    throw InputError(origin.where, fmt::format("unknown key `{}`{}", prefix + key,
                                               close.empty() ? "" : fmt::format(", did you mean `{}`?", close)));
  }
  Section::fields(section, [&](auto& value, const Field& field) {
    if (const auto it = object.find(field.key); it != object.end())
      assign(value, field, *it, {origin.where, prefix + std::string(field.key)});
  });
}

inline const nlohmann::json& list_of(const nlohmann::json& object, const char* name, const Origin& origin) {
  const auto it = object.find(name);
  if (it == object.end()) throw InputError(origin.where, fmt::format("`{}` is missing", origin.key));
  if (!it->is_array() || it->empty()) wrong_type(origin, "a list with at least one entry", *it);
  return *it;
}

}  // namespace atl
