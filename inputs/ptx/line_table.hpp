#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace atl::ptx {

class Cursor;

/// Which line of which text a line of a module is, of the PTX and of the source that it was compiled from. Lines of linked
/// modules go on where the module before ends, so that each instruction has a line of its own.
class LineTable {
 public:
  /// A text of `lines` lines, called so in messages.
  void add_text(const std::string& name, std::uint32_t lines);
  /// Behind the texts that are there. Returns how far its lines move.
  std::uint32_t append(LineTable&& other);

  // As nvcc -lineinfo writes them, in the order of the text, and all after add_text().
  /// What follows `.file`: number, name.
  void read_file(Cursor& in);
  /// What follows `.loc`: file, line, column; and, if a function was inlined, where from. Holds from here to the next one.
  void read_loc(Cursor& in);
  /// What follows is of no source that is known, until the next `.loc`.
  void end_function(std::uint32_t line);

  /// "k.ptx:52"; with a known source, "k.cu:9, k.ptx:52", or "part.cuh:2 (inlined at k.cu:9), k.ptx:52".
  std::string place(std::uint32_t line) const;
  /// "52", or "k.ptx:52" of several texts.
  std::string short_place(std::uint32_t line) const;

 private:
  struct Text {
    std::string name;
    std::uint32_t first = 0, lines = 0;  ///< its lines are first + 1 to first + lines
  };
  struct Position {
    std::uint32_t file = 0, line = 0;  ///< file 0: none
    bool operator==(const Position&) const = default;
  };
  struct Source {
    std::uint32_t from = 0;  ///< the line of the PTX from which on it holds
    Position at, kernel;     ///< kernel: where that stands which it was inlined into; none: nowhere
  };
  const Text& text_of(std::uint32_t line) const;
  std::string name_of(const Position& p) const;

  std::vector<Text> texts_;
  std::vector<Source> sources_;                               // in the order of lines
  std::vector<std::pair<std::uint32_t, std::string>> files_;  // by number
  std::uint32_t most_files_ = 0;                              // greatest number
};

}  // namespace atl::ptx
