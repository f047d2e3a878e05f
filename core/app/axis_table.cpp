#include "core/app/axis_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "core/engine/error.hpp"
#include "inputs/config/suggest.hpp"

namespace atl {
namespace {

using Settings = std::vector<std::string>;  // key=value, in the order of a variant

std::string_view key_of(std::string_view set) { return set.substr(0, set.find('=')); }
/// Words stand in quotes.
bool is_word(std::string_view value) { return value.size() > 1 && value.front() == '"' && value.back() == '"'; }
std::string value_of(std::string_view set) {
  std::string_view value = set.substr(set.find('=') + 1);
  if (is_word(value)) value = value.substr(1, value.size() - 2);
  return std::string(value);
}

/// The last one counts, as on a command line.
std::optional<std::string> setting(const Variant& v, const std::string& key) {
  for (auto set = v.sets.rbegin(); set != v.sets.rend(); ++set)
    if (key_of(*set) == key) return value_of(*set);
  return std::nullopt;
}

/// What a variant sets besides the key and what all variants set alike: what tells its rows from others.
Settings rest(const Experiment& e, const Variant& v, const std::string& key) {
  Settings out;
  for (const std::string& set : v.sets) {
    const bool common = std::ranges::all_of(
        e.variants, [&](const Variant& other) { return std::ranges::find(other.sets, set) != other.sets.end(); });
    if (key_of(set) != key && !common) out.push_back(set);
  }
  return out;
}

/// Whatever the order in which two variants have them.
bool alike(const Settings& a, const Settings& b) { return std::ranges::is_permutation(a, b); }

/// Numbers and switches say nothing without their keys; `keys`: nor do words, as two keys may have the same ones.
std::string label_of(const Settings& settings, bool keys) {
  Settings words;
  for (const std::string& set : settings) {
    const bool word = is_word(std::string_view(set).substr(set.find('=') + 1));
    words.push_back(word && !keys ? value_of(set) : fmt::format("{}={}", key_of(set), value_of(set)));
  }
  return fmt::format("{}", fmt::join(words, " "));
}

/// What rows of a table are called: in words, if these tell them apart.
std::vector<std::string> labels_of(const std::vector<Settings>& lines, bool keys = false) {
  std::vector<std::string> labels;
  for (const Settings& line : lines) labels.push_back(label_of(line, keys));
  const bool unique = std::set<std::string>(labels.begin(), labels.end()).size() == labels.size();
  return unique || keys ? labels : labels_of(lines, true);
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

[[noreturn]] void refuse(const Variant& a, const Variant& b, const std::string& key) {
  throw InputError("--by",
                   fmt::format("variants `{}` and `{}` set the same, `{}` included, so that one cell would be of both; "
                               "the table without --by shows them apart",
                               a.name, b.name, key));
}

}  // namespace

TextTable by_axis(const TextTable& table, const Experiment& e, const std::string& key, bool with_baselines) {
  std::vector<std::string> values;
  std::vector<Settings> lines;
  for (const Variant& v : e.variants) {
    const auto value = setting(v, key);
    if (!value) continue;
    add_new(values, *value);
    const Settings line = rest(e, v, key);
    const bool known = std::ranges::any_of(lines, [&](const Settings& other) { return alike(other, line); });
    if (!known && (with_baselines || v.baseline != v.name)) lines.push_back(line);
  }
  if (values.empty()) refuse(e, key);

  const auto column_of = [&](const Settings& line, const std::string& value) -> std::optional<std::size_t> {
    const Variant* shown = nullptr;
    for (const Variant& v : e.variants) {
      if (setting(v, key) != value || !alike(rest(e, v, key), line)) continue;
      if (shown != nullptr) refuse(*shown, v, key);
      shown = &v;
    }
    if (shown == nullptr) return std::nullopt;
    const auto column = std::ranges::find(table.columns, shown->name, &TextTable::Column::full);
    return static_cast<std::size_t>(column - table.columns.begin());
  };
  const std::vector<std::string> labels = labels_of(lines);
  TextTable out{{table.columns[0]}, {}};
  for (const std::string& value : values) out.columns.push_back({value, key + "=" + value});
  for (std::size_t l = 0; l < lines.size(); ++l) {
    if (!out.rows.empty()) out.rows.emplace_back();
    for (const TextTable::Row& row : table.rows) {
      if (row.empty()) continue;
      TextTable::Row& cells = out.rows.emplace_back(1, row[0].text + (labels[l].empty() ? "" : " " + labels[l]));
      for (const std::string& value : values) {
        const auto column = column_of(lines[l], value);
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
      return setting(other, key) == first && alike(rest(e, other, key), rest(e, v, key));
    });
    v.baseline = base == e.variants.end() ? "" : base->name;
  }
  return first;
}

std::string baseline_of_columns(const Experiment& e, const std::string& key) {
  std::optional<Settings> common;
  for (const Variant& v : e.variants) {
    const auto value = setting(v, key);
    if (!value) continue;
    const auto base = std::ranges::find(e.variants, v.baseline, &Variant::name);
    if (base == e.variants.end() || setting(*base, key) != value) return "";
    const Settings of_base = rest(e, *base, key);
    if (common && !alike(*common, of_base)) return "";
    common = of_base;
  }
  return common ? label_of(*common, false) : "";
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
