#include "inputs/config/dump.hpp"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "inputs/config/walk.hpp"

namespace atl {
namespace {

using nlohmann::ordered_json;

template <class T> ordered_json to_json(const T& value) {
  if constexpr (ConfigSection<T>) {
    ordered_json object = ordered_json::object();
    T::fields(value, [&](const auto& member, const Field& field) { object[std::string(field.key)] = to_json(member); });
    return object;
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(word_of(value));
  } else {
    return value;
  }
}

template <class T> std::string legal_values(const Field& field) {
  if constexpr (ConfigNumber<T>) {
    return range_text(legal_range<T>(field), field.unit);
  } else if constexpr (ConfigList<T>) {
    return "a list of whole numbers, each " + range_text(legal_range<std::uint32_t>(field), field.unit);
  } else if constexpr (std::is_same_v<T, bool>) {
    return "true or false";
  } else if constexpr (std::is_enum_v<T>) {
    return "one of the words below";
  } else {
    return "text";
  }
}

template <class Section> void explain_section(std::string& out, const Section& section, const std::string& prefix) {
  const auto line = std::back_inserter(out);
  Section::fields(section, [&]<class T>(const T& value, const Field& field) {
    const std::string key = prefix + std::string(field.key);
    if constexpr (ConfigSection<T>) {
      fmt::format_to(line, "\n[{}] {}\n", key, field.doc);
      explain_section(out, value, key + ".");
    } else {
      const ordered_json json = to_json(value);
      const std::string shown = json.is_string() ? json.get<std::string>() : json.dump();
      fmt::format_to(line, "{} = {}{}{}\n    {} ({})\n", key, shown, field.unit.empty() ? "" : " ", field.unit, field.doc,
                     legal_values<T>(field));
      if constexpr (std::is_enum_v<T>) {
        for (const auto& w : words<T>()) fmt::format_to(line, "      {}: {}\n", w.word, w.doc);
      }
    }
  });
}

}  // namespace

std::string effective_json(const SystemConfig& config) { return to_json(config).dump(2) + "\n"; }

std::string explain(const SystemConfig& config) {
  std::string out;
  explain_section(out, config, "");
  return out;
}

}  // namespace atl
