#pragma once
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "inputs/trace/accelsim_source.hpp"

namespace atl::accelsim {

/// Reads one line of a trace from left to right, item by item. Each item is announced by what it is, so that a
/// failure can say what was expected and what stood there.
class Scanner {
 public:
  Scanner(const LineReader& lines, std::string_view line) : lines_(lines), p_(line.data()), end_(p_ + line.size()) {}

  /// The next item up to a blank; empty at the end of the line.
  std::string_view token() {
    while (p_ != end_ && blank(*p_)) ++p_;
    const char* begin = p_;
    while (p_ != end_ && !blank(*p_)) ++p_;
    return {begin, static_cast<std::size_t>(p_ - begin)};
  }
  std::uint64_t hex(const char* what) { return number<std::uint64_t>(what, 16); }
  std::uint64_t decimal(const char* what) { return number<std::uint64_t>(what, 10); }
  std::int64_t difference(const char* what) { return number<std::int64_t>(what, 10); }
  /// A decimal that must not exceed `limit`.
  unsigned count(const char* what, unsigned limit) { return bounded(what, limit, true); }
  /// The same where `what` says itself which values there are.
  unsigned one_of(const char* what, unsigned limit) { return bounded(what, limit, false); }

  /// Reports what stands at the read position.
  [[noreturn]] void fail(const std::string& expected) { fail(expected, token()); }
  [[noreturn]] void fail(const std::string& expected, std::string_view found) const {
    std::string message = "expected ";
    message.append(expected).append(", found ");
    if (found.empty())
      message.append("the end of the line");
    else
      message.append(1, '\'').append(found).append(1, '\'');
    lines_.fail(message);
  }
  [[noreturn]] void refuse(std::string_view item, const char* why) const {
    lines_.fail(std::string(1, '\'').append(item).append("' ").append(why));
  }
  const LineReader& lines() const { return lines_; }

 private:
  unsigned bounded(const char* what, unsigned limit, bool say_limit) {
    const char* at = p_;
    const std::uint64_t value = decimal(what);
    if (value > limit) p_ = at, fail(what + (say_limit ? " (at most " + std::to_string(limit) + ")" : std::string()));
    return static_cast<unsigned>(value);
  }
  static bool blank(char c) { return c == ' ' || c == '\t'; }
  template <typename T> T number(const char* what, int base) {
    while (p_ != end_ && blank(*p_)) ++p_;
    const char* at = p_;
    if (base == 16 && end_ - p_ > 2 && p_[0] == '0' && (p_[1] | 0x20) == 'x') p_ += 2;
    T value{};
    const auto [stop, error] = std::from_chars(p_, end_, value, base);
    if (error != std::errc() || (stop != end_ && !blank(*stop))) p_ = at, fail(what);
    p_ = stop;
    return value;
  }
  const LineReader& lines_;
  const char *p_, *end_;
};

}  // namespace atl::accelsim
