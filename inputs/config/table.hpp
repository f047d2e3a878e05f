#pragma once
#include <array>
#include <cstddef>

#include "inputs/config/field.hpp"

/// Tables of what the values of an enum are. A row begins with `value`, `word` and `doc`, and goes on with what the machine
/// must know of it. Words, `atoll config --explain`, `atoll list`, validation and the machine read the same row.
namespace atl {

/// The words of a table, for `words<E>()`.
template <class Row, std::size_t N> constexpr auto words_of(const std::array<Row, N>& rows) {
  std::array<Word<decltype(Row::value)>, N> list{};
  for (std::size_t i = 0; i < N; ++i) list[i] = {rows[i].value, rows[i].word, rows[i].doc};
  return list;
}

/// Rows are looked up by position: a table asserts that they stand in the order of the enum.
template <class Row, std::size_t N> constexpr bool in_order(const std::array<Row, N>& rows) {
  for (std::size_t i = 0; i < N; ++i)
    if (static_cast<std::size_t>(rows[i].value) != i) return false;
  return true;
}

}  // namespace atl
