#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "inputs/config/field.hpp"

/// Visiting a configuration tree by its `fields()` lists: the one traversal behind reading, checking and printing.
namespace atl {

struct IgnoreField {
  template <class T> void operator()(T&, const Field&) const {}
};

/// A struct with a `fields()` list; everything else is a leaf (bool, whole number, double, string, enum or list).
template <class T>
concept ConfigSection = requires(T& section) {
  T::fields(section, IgnoreField{});
};

/// Calls f(value, field, dotted key) for every leaf below `section`, in the order of the lists.
template <class Section, class F> void for_each_leaf(Section& section, const std::string& prefix, F&& f) {
  std::remove_const_t<Section>::fields(section, [&]<class T>(T& value, const Field& field) {
    const std::string key = prefix + std::string(field.key);
    if constexpr (ConfigSection<std::remove_const_t<T>>) {
      for_each_leaf(value, key + ".", f);
    } else {
      f(value, field, key);
    }
  });
}

/// Whole numbers, each within the field's range.
template <class T>
concept ConfigList = std::is_same_v<std::remove_const_t<T>, std::vector<std::uint32_t>>;

template <class T>
concept ConfigNumber = std::is_arithmetic_v<T> && !std::is_same_v<std::remove_const_t<T>, bool>;

struct Range {
  double min = 0;
  double max = 0;
  bool holds(double value) const { return value >= min && value <= max; }  // false for NaN
};

/// The field's range, narrowed to what its type can hold: a list may name a larger maximum than a 32-bit field has.
template <ConfigNumber T> Range legal_range(const Field& field) {
  return {field.min, std::min(field.max, static_cast<double>(std::numeric_limits<T>::max()))};
}

/// "1 to 64" or "1 to 1000 cycles".
std::string range_text(const Range& range, std::string_view unit);

template <class E> std::string_view word_of(E value) {
  for (const auto& w : words<E>()) {
    if (w.value == value) return w.word;
  }
  return {};
}

/// All words of an enum, separated by commas.
template <class E> std::string word_list() {
  std::string list;
  for (const auto& w : words<E>()) list += (list.empty() ? "" : ", ") + std::string(w.word);
  return list;
}

}  // namespace atl
