#pragma once
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "inputs/config/walk.hpp"

/// One JSON value into one configuration field, with every way in which it can be wrong.
namespace atl {

/// Where a value comes from, for error messages.
struct Origin {
  std::string where;  ///< file, preset or "--set"
  std::string key;    ///< full dotted key
};

[[noreturn]] void wrong_type(const Origin& origin, std::string_view expected, const nlohmann::json& got);
[[noreturn]] void out_of_range(const Origin& origin, const nlohmann::json& got, const Range& range, std::string_view unit);
[[noreturn]] void unknown_word(const Origin& origin, const std::string& got, const std::string& word_list);

template <class T> void assign(T& value, const Field& field, const nlohmann::json& json, const Origin& origin) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!json.is_boolean()) wrong_type(origin, "true or false", json);
    value = json.get<bool>();
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!json.is_string()) wrong_type(origin, "a text", json);
    value = json.get<std::string>();
  } else if constexpr (std::is_enum_v<T>) {
    if (!json.is_string()) wrong_type(origin, "one of the words " + word_list<T>(), json);
    for (const auto& w : words<T>()) {
      if (w.word == json.get_ref<const std::string&>()) {
        value = w.value;
        return;
      }
    }
    unknown_word(origin, json.get<std::string>(), word_list<T>());
  } else if constexpr (ConfigList<T>) {
    if (!json.is_array()) wrong_type(origin, "a list of whole numbers, such as [1, 0]", json);
    value.assign(json.size(), 0);
    for (std::size_t i = 0; i < json.size(); ++i) assign(value[i], field, json[i], origin);
  } else {
    if (!json.is_number()) wrong_type(origin, std::is_integral_v<T> ? "a whole number" : "a number", json);
    const double number = json.get<double>();
    // 1e6 is a floating-point literal in JSON and a good way to write a million cycles; 1.5 ways are not.
    if (std::is_integral_v<T> && number != std::floor(number)) wrong_type(origin, "a whole number", json);
    const Range range = legal_range<T>(field);
    if (!range.holds(number)) out_of_range(origin, json, range, field.unit);
    value = static_cast<T>(number);
  }
}

}  // namespace atl
