#include "core/app/axis_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "core/engine/error.hpp"
#include "inputs/config/suggest.hpp"

namespace atl {
namespace {

std::string_view key_of(std::string_view set) { return set.substr(0, set.find('=')); }
/// Words stand in quotes.
std::string value_of(std::string_view set) {
  std::string_view value = set.substr(set.find('=') + 1);
  if (value.size() > 1 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
  return std::string(value);
}

/// The last one counts, as on a command line.
std::optional<std::string> setting(const Variant& v, const std::string& key) {
  for (auto set = v.sets.rbegin(); set != v.sets.rend(); ++set)
    if (key_of(*set) == key) return value_of(*set);
  return std::nullopt;
}

/// What a variant sets besides the key and what all variants set alike: the name of its rows.
std::string rest(const Experiment& e, const Variant& v, const std::string& key) {
  std::string text;
  for (const std::string& set : v.sets) {
    const bool common = std::ranges::all_of(
        e.variants, [&](const Variant& other) { return std::ranges::find(other.sets, set) != other.sets.end(); });
    if (key_of(set) == key || common) continue;
    text += (text.empty() ? "" : " ") + value_of(set);
  }
  return text;
}

template <class T> void add_new(std::vector<T>& list, const T& value) {
  if (std::ranges::find(list, value) == list.end()) list.push_back(value);
}

[[noreturn]] void refuse(const Experiment& e, const std::string& key) {
  std::vector<std::string> known;
  for (const Variant& v : e.variants)
    for (const std::string& set : v.sets) add_new(known, std::string(key_of(set)));
  const std::string close = closest_key(key, known);
  const std::string remedy =
      close.empty() ? fmt::format("; they set {}", fmt::join(known, ", ")) : fmt::format(", did you mean `{}`?", close);
  throw InputError("--by", fmt::format("no variant sets `{}`{}", key, remedy));
}

}  // namespace

TextTable by_axis(const TextTable& table, const Experiment& e, const std::string& key, bool with_baselines) {
  std::vector<std::string> values, lines;
  for (const Variant& v : e.variants) {
    const auto value = setting(v, key);
    if (!value) continue;
    add_new(values, *value);
    if (with_baselines || v.baseline != v.name) add_new(lines, rest(e, v, key));
  }
  if (values.empty()) refuse(e, key);

  const auto column_of = [&](const std::string& line, const std::string& value) -> std::optional<std::size_t> {
    for (const Variant& v : e.variants) {
      if (setting(v, key) != value || rest(e, v, key) != line) continue;
      const auto column = std::ranges::find(table.columns, v.name, &TextTable::Column::full);
      if (column != table.columns.end()) return static_cast<std::size_t>(column - table.columns.begin());
    }
    return std::nullopt;
  };
  TextTable out{{table.columns[0]}, {}};
  for (const std::string& value : values) out.columns.push_back({value, key + "=" + value});
  for (const std::string& line : lines) {
    if (!out.rows.empty()) out.rows.emplace_back();
    for (const TextTable::Row& row : table.rows) {
      if (row.empty()) continue;
      TextTable::Row& cells = out.rows.emplace_back(1, row[0].text + (line.empty() ? "" : " " + line));
      for (const std::string& value : values) {
        const auto column = column_of(line, value);
        cells.push_back(column && *column < row.size() ? row[*column] : TextTable::Cell("-"));
      }
    }
  }
  return out;
}

std::string compare_along(Experiment& e, const std::string& key) {
  std::string first;
  for (const Variant& v : e.variants) {
    const auto value = setting(v, key);
    if (!value) continue;
    if (v.baseline != v.name) return "";
    if (first.empty()) first = *value;
  }
  for (Variant& v : e.variants) {
    if (!setting(v, key)) continue;
    const auto base = std::ranges::find_if(e.variants, [&](const Variant& other) {
      return setting(other, key) == first && rest(e, other, key) == rest(e, v, key);
    });
    v.baseline = base == e.variants.end() ? "" : base->name;
  }
  return first;
}

std::vector<std::string> differing_keys(const Experiment& e) {
  std::vector<std::string> keys;
  for (const Variant& v : e.variants)
    for (const std::string& set : v.sets) add_new(keys, std::string(key_of(set)));
  std::erase_if(keys, [&](const std::string& key) {
    return std::ranges::all_of(e.variants,
                               [&](const Variant& v) { return setting(v, key) == setting(e.variants.front(), key); });
  });
  return keys;
}

}  // namespace atl
