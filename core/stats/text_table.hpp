#pragma once
#include <string>
#include <vector>

namespace atl {

/// Cells for people or programs. The first column names the rows and is aligned left; numbers are aligned right.
struct TextTable {
  struct Cell {
    Cell(std::string for_people) : text(for_people), exact(std::move(for_people)) {}
    Cell(std::string for_people, std::string for_programs) : text(std::move(for_people)), exact(std::move(for_programs)) {}
    std::string text;   ///< rounded
    std::string exact;  ///< in CSV
  };
  using Row = std::vector<Cell>;
  struct Column {
    std::string title;       ///< on a terminal, where it may stand below another one's
    std::string full;        ///< unique, for programs
    bool continues = false;  ///< belongs to the column before: not separated from it where the table is broken
  };
  std::vector<Column> columns;
  std::vector<Row> rows;  ///< an empty row is a rule
};

/// Aligned; a table wider than `width` is broken into several below each other.
std::string aligned(const TextTable& table, std::size_t width = 120);
std::string markdown(const TextTable& table);
std::string csv(const TextTable& table);

}  // namespace atl
