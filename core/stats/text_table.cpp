#include "core/stats/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace atl {
namespace {

constexpr std::size_t kGap = 2;

std::size_t cell_width(const TextTable& t, std::size_t column) {
  std::size_t width = t.columns[column].title.size();
  for (const auto& row : t.rows)
    if (!row.empty()) width = std::max(width, row[column].text.size());
  return width;
}

/// Columns [first, last) that fit beside the names; at least one column with all that continue it.
std::size_t end_of_block(const TextTable& t, const std::vector<std::size_t>& widths, std::size_t first, std::size_t room) {
  std::size_t last = first, used = widths[0];
  while (last < t.columns.size()) {
    std::size_t next = last, more = 0;
    do more += widths[next++] + kGap;
    while (next < t.columns.size() && t.columns[next].continues);
    if (last > first && used + more > room) break;
    last = next, used += more;
  }
  return last;
}

std::string quoted(const std::string& cell) {
  if (cell.find_first_of(",\"\n") == std::string::npos) return cell;
  std::string out = "\"";
  for (const char c : cell) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

/// In Markdown, a bar ends a cell.
std::string escaped(const std::string& cell) {
  std::string out;
  for (const char c : cell) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

}  // namespace

std::string aligned(const TextTable& t, std::size_t width) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < t.columns.size(); ++c) widths.push_back(cell_width(t, c));
  std::string out;
  for (std::size_t first = 1; first < t.columns.size();) {
    const std::size_t last = end_of_block(t, widths, first, width);
    std::size_t total = widths[0];
    for (std::size_t c = first; c < last; ++c) total += widths[c] + kGap;
    const auto line = [&](auto&& cell) {
      std::string text = fmt::format("{:<{}}", cell(0), widths[0]);
      for (std::size_t c = first; c < last; ++c) text += fmt::format("{:>{}}", cell(c), widths[c] + kGap);
      out += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
    };
    if (first > 1) out += "\n";
    line([&](std::size_t c) { return t.columns[c].title; });
    out += std::string(total, '-') + "\n";
    for (const auto& row : t.rows) {
      if (row.empty()) {
        out += std::string(total, '-') + "\n";
      } else {
        line([&](std::size_t c) { return row[c].text; });
      }
    }
    first = last;
  }
  return out;
}

std::string markdown(const TextTable& t) {
  std::string head = "|", rule = "|", body;
  for (std::size_t c = 0; c < t.columns.size(); ++c) {
    head += fmt::format(" {} |", escaped(t.columns[c].full));
    rule += c == 0 ? "---|" : "---:|";
  }
  for (const auto& row : t.rows) {
    if (row.empty()) continue;
    body += "|";
    for (const TextTable::Cell& cell : row) body += fmt::format(" {} |", escaped(cell.text));
    body += "\n";
  }
  return head + "\n" + rule + "\n" + body;
}

std::string csv(const TextTable& t) {
  std::string out;
  for (std::size_t c = 0; c < t.columns.size(); ++c) out += (c ? "," : "") + quoted(t.columns[c].full);
  out += "\n";
  for (const auto& row : t.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) out += (c ? "," : "") + quoted(row[c].exact);
    if (!row.empty()) out += "\n";
  }
  return out;
}

}  // namespace atl
