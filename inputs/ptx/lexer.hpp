#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace atl::ptx {

/// A word holds its dots, so that `ld.global.u32`, `.reg` and `%tid.x` are one token each; numbers are left as text.
struct Token {
  enum Kind : std::uint8_t { end, word, number, string, punct };
  Kind kind = end;
  std::string_view text;
  std::uint32_t line = 0;  ///< from 1
  bool is(std::string_view s) const { return text == s && kind != string; }
};

/// Splits PTX into tokens; the last is `end`. The tokens refer to `text`. Throws InputError(name:line, what).
std::vector<Token> tokenise(std::string_view text, const std::string& name);

/// Reads tokens from left to right and reports what stands at the read position.
class Cursor {
 public:
  Cursor(const std::vector<Token>& tokens, const std::string& name) : tokens_(tokens), name_(name) {}

  const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& next() {
    const Token& t = peek();
    if (t.kind != Token::end) ++at_;
    return t;
  }
  bool at(std::string_view text) const { return peek().is(text); }
  std::uint32_t line() const { return at_ == 0 ? peek().line : tokens_[at_ - 1].line; }  ///< of the token just read
  bool done() const { return peek().kind == Token::end; }
  bool accept(std::string_view text) { return at(text) && (++at_, true); }
  void expect(std::string_view text) {
    if (!accept(text)) expected("'" + std::string(text) + "'");
  }
  std::string_view name_of(const char* what) {
    if (peek().kind != Token::word || peek().text.front() == '.') expected(what);
    return next().text;
  }
  /// A non-negative integer: counts, alignments, sizes.
  std::uint64_t count(const char* what);
  void skip_line();  ///< the rest of the line of the token just read
  void skip_past(std::string_view text);
  void skip_block();  ///< from `{` to its `}`

  [[noreturn]] void expected(const std::string& what) const;
  [[noreturn]] void fail(const std::string& what) const { fail_at(peek().line, what); }
  [[noreturn]] void fail_at(std::uint32_t line, const std::string& what) const;

 private:
  const std::vector<Token>& tokens_;
  const std::string& name_;
  std::size_t at_ = 0;
};

}  // namespace atl::ptx
