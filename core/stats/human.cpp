#include "core/stats/human.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace atl {
namespace {

bool is_of_word(char c) { return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

/// The length of `operator<<` and its like at the front of `rest`, whose signs are no brackets; 0: there is none.
std::size_t length_of_operator(std::string_view rest) {
  constexpr std::string_view kWord = "operator";
  if (!rest.starts_with(kWord)) return 0;
  for (const std::string_view sign : {"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">", "()"})
    if (rest.substr(kWord.size()).starts_with(sign)) return kWord.size() + sign.size();
  return 0;
}

/// Behind the template arguments that begin at `at`. Brackets around expressions, as in `<(Mode)(a > b)>`, hide their signs.
std::size_t end_of_arguments(std::string_view name, std::size_t at) {
  int depth = 0, round = 0;
  for (; at < name.size(); ++at) {
    round += name[at] == '(';
    round -= name[at] == ')';
    if (round > 0) continue;
    depth += name[at] == '<';
    depth -= name[at] == '>' && name[at - 1] != '-';
    if (depth == 0) return at + 1;
  }
  return std::string_view::npos;
}

std::string without_template_arguments(std::string_view name) {
  std::string out;
  for (std::size_t at = 0; at < name.size();) {
    const bool word_begins = at == 0 || !is_of_word(name[at - 1]);
    if (const std::size_t length = word_begins ? length_of_operator(name.substr(at)) : 0; length > 0) {
      out += name.substr(at, length), at += length;
      if (name.substr(at).starts_with(" <")) ++at;  // `operator< <int>`
    } else if (const std::size_t end = name[at] == '<' ? end_of_arguments(name, at) : name.npos; end != name.npos) {
      at = end;
    } else {
      out += name[at++];
    }
  }
  return out;
}

/// Where what follows the first scope begins; npos: there is none. Those in brackets are of a parameter.
std::size_t behind_scope(std::string_view name) {
  int depth = 0;
  for (std::size_t at = 0; at + 2 < name.size(); ++at) {
    depth += name[at] == '(' || name[at] == '{';
    depth -= name[at] == ')' || name[at] == '}';
    if (depth == 0 && name.substr(at, 2) == "::") return at + 2;
  }
  return std::string_view::npos;
}

}  // namespace

std::string shortened(const std::string& function, std::size_t width) {
  if (function.size() <= width) return function;
  std::string name = without_template_arguments(function);
  for (std::size_t at = 0; name.size() > width && (at = behind_scope(name)) != name.npos;) name.erase(0, at);
  return fmt::format("{:.{}}", name, width);
}

std::string si(double value) {
  constexpr const char* kPrefixes[] = {"", " k", " M", " G", " T", " P", " E"};
  std::size_t prefix = 0;
  // 999.5 would be printed as 1000, so it already belongs to the next prefix.
  for (; value >= 999.5 && prefix + 1 < std::size(kPrefixes); ++prefix) value /= 1000;
  if (prefix == 0) return fmt::format("{:.0f}", value);
  return fmt::format("{:.{}f}{}", value, value < 9.995 ? 2 : (value < 99.95 ? 1 : 0), kPrefixes[prefix]);
}

std::string grouped(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  return digits;
}

std::string percent(double part, double whole) { return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "-"; }

std::string duration(double seconds) {
  const auto s = static_cast<std::uint64_t>(std::clamp(std::round(seconds), 0.0, 1e12));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {:02} s", s / 60, s % 60);
  if (s < 86400) return fmt::format("{} h {:02} min", s / 3600, s % 3600 / 60);
  return fmt::format("{} d {:02} h", s / 86400, s % 86400 / 3600);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::string first_line(const std::string& text) {
  const auto more = std::ranges::count(text, '\n');
  return text.substr(0, text.find('\n')) + (more == 0 ? "" : fmt::format("; and {} more", more));
}

std::string listed(std::span<const std::string> names) {
  constexpr std::size_t kShown = 5;
  std::string out = fmt::format("{}", fmt::join(names.first(std::min(names.size(), kShown)), ", "));
  if (names.size() > kShown) out += fmt::format(" and {} more", names.size() - kShown);
  return out;
}

std::string hex(std::uint64_t value) { return fmt::format("{:016x}", value); }

}  // namespace atl
