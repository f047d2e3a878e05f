#include "inputs/ptx/line_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/engine/whole_number.hpp"
#include "inputs/ptx/lexer.hpp"

namespace atl::ptx {
namespace {

/// 0 for what is no number of that size: line tables are for people, and no reason to refuse a program.
std::uint32_t number_of(const Token& t) {
  return t.kind == Token::number ? whole_number<std::uint32_t>(t.text).value_or(0) : 0;
}

/// The file itself, without its folders, which may be those of another machine.
std::string_view file_name(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

}  // namespace

void LineTable::add_text(const std::string& name, std::uint32_t lines) {
  const std::uint32_t first = texts_.empty() ? 0 : texts_.back().first + texts_.back().lines;
  texts_.push_back({name, first, lines});
}

std::uint32_t LineTable::append(LineTable&& other) {
  const std::uint32_t lines = texts_.empty() ? 0 : texts_.back().first + texts_.back().lines, files = most_files_;
  const auto moved = [&](Position p) { return p.file == 0 ? p : Position{p.file + files, p.line}; };
  for (Text& t : other.texts_) texts_.push_back({std::move(t.name), t.first + lines, t.lines});
  for (const Source& s : other.sources_) sources_.push_back({s.from + lines, moved(s.at), moved(s.kernel)});
  for (auto& [number, name] : other.files_) files_.emplace_back(number + files, std::move(name));
  most_files_ += other.most_files_;
  return lines;
}

void LineTable::read_file(Cursor& in) {
  const std::uint32_t line = in.line();
  const std::uint32_t number = number_of(in.peek());
  constexpr std::uint32_t kMost = 1u << 24;  // far beyond what a compiler writes: sums over modules fit
  if (in.peek().line == line && in.peek(1).kind == Token::string && number != 0 && number < kMost) {
    std::string_view name = in.peek(1).text;
    if (name.size() >= 2 && name.front() == '"') name = name.substr(1, name.size() - 2);
    files_.emplace_back(number, file_name(name));
    most_files_ = std::max(most_files_, number);
  }
  in.skip_line();
}

void LineTable::read_loc(Cursor& in) {
  const std::uint32_t line = in.line();
  const auto numbers = [&] {
    Position p;
    if (in.peek().line == line && !in.done()) p.file = number_of(in.next());
    if (in.peek().line == line && !in.done()) p.line = number_of(in.next());
    return p;
  };
  Source s{line, numbers(), {}};
  while (!in.done() && in.peek().line == line)
    if (in.next().is("inlined_at")) s.kernel = numbers();
  // A call within an inlined function: the directive before says where that was inlined.
  if (s.kernel.file != 0 && !sources_.empty() && sources_.back().at == s.kernel && sources_.back().kernel.file != 0)
    s.kernel = sources_.back().kernel;
  sources_.push_back(s);
}

void LineTable::end_function(std::uint32_t line) {
  if (!sources_.empty() && sources_.back().at.file != 0) sources_.push_back({line, {}, {}});
}

const LineTable::Text& LineTable::text_of(std::uint32_t line) const {
  const auto behind = std::partition_point(texts_.begin(), texts_.end(), [&](const Text& t) { return t.first < line; });
  return behind == texts_.begin() ? texts_.front() : *(behind - 1);
}

std::string LineTable::name_of(const Position& p) const {
  const auto file = std::find_if(files_.begin(), files_.end(), [&](const auto& f) { return f.first == p.file; });
  return p.file == 0 || p.line == 0 || file == files_.end() ? "" : fmt::format("{}:{}", file->second, p.line);
}

std::string LineTable::place(std::uint32_t line) const {
  const Text& text = text_of(line);
  std::string ptx = fmt::format("{}:{}", text.name, line - text.first);
  // Of several directives at one line, none holds but the last.
  const auto behind =
      std::partition_point(sources_.begin(), sources_.end(), [&](const Source& s) { return s.from <= line; });
  if (behind == sources_.begin()) return ptx;
  const std::string at = name_of((behind - 1)->at), kernel = name_of((behind - 1)->kernel);
  return at.empty() ? ptx : kernel.empty() ? at + ", " + ptx : fmt::format("{} (inlined at {}), {}", at, kernel, ptx);
}

std::string LineTable::short_place(std::uint32_t line) const {
  const Text& text = text_of(line);
  return texts_.size() == 1 ? std::to_string(line) : fmt::format("{}:{}", text.name, line - text.first);
}

}  // namespace atl::ptx
