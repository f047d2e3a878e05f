#pragma once
#include <limits>
#include <span>
#include <string_view>

/// How a configuration struct tells its fields. Each struct has
///
///     template <class Self, class V> static void fields(Self& s, V&& v) { v(s.ways, {"ways", "", 1, 64, "associativity"});
///     ... }
///
/// From that one list come the JSON reader, the unknown-key suggestions, `atoll config --explain` and the effective
/// configuration that is stored in every result. Nested structs are sections; enums list their words in `words()`.
namespace atl {

struct Field {
  std::string_view key;
  std::string_view unit;  ///< also the suffix of the key, except for plain counts
  double min = 0;
  double max = std::numeric_limits<double>::infinity();
  std::string_view doc;
};

/// One legal word of an enum-valued field.
template <class E> struct Word {
  E value;
  std::string_view word;
  std::string_view doc;
};

/// Specialise for each enum used in a configuration: returns its words.
template <class E> std::span<const Word<E>> words();

}  // namespace atl
