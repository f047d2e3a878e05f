#include "inputs/ptx/lexer.hpp"

#include "core/engine/error.hpp"
#include "inputs/ptx/literal.hpp"

namespace atl::ptx {
namespace {

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%'; }
bool digit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  Lexer(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  std::vector<Token> run() {
    std::vector<Token> out;
    out.reserve(text_.size() / 4);
    while (skip_blanks()) out.push_back(token());
    out.push_back({Token::end, {}, line_});
    return out;
  }

 private:
  char look(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  /// Blanks, comments and the NUL that ends an embedded text. False at the end.
  bool skip_blanks() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_;
      } else if (c == '/' && look(1) == '/') {
        at_ = std::min(text_.find('\n', at_), text_.size()) - 1;
      } else if (c == '/' && look(1) == '*') {
        const std::size_t stop = text_.find("*/", at_ + 2);
        if (stop == text_.npos) throw InputError(where(), "the comment that begins here has no end");
        line_ += static_cast<std::uint32_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                       text_.begin() + static_cast<std::ptrdiff_t>(stop), '\n'));
        at_ = stop + 1;
      } else if (c != ' ' && c != '\t' && c != '\r' && c != '\0') {
        return true;
      }
    }
    return false;
  }

  Token token() {
    const std::size_t begin = at_;
    const char c = look();
    if (c == '"') return quoted();
    if (digit(c) || (c == '.' && digit(look(1)))) return number();
    if (letter(c) || (c == '.' && letter(look(1)))) {
      // `::` belongs to modifiers such as .shared::cta and .L2::128B. Directives end at a dot: `.reg.b32` is `.reg .b32`.
      const bool dots = c != '.';
      do ++at_;
      while (letter(look()) || digit(look()) || (dots && look() == '.' && (letter(look(1)) || digit(look(1)))) ||
             (look() == ':' && look(1) == ':' && (++at_, true)));
      return {Token::word, text_.substr(begin, at_ - begin), line_};
    }
    ++at_;
    return {Token::punct, text_.substr(begin, 1), line_};
  }

  /// 7, 0x7F, 0f3F800000; and 0.5, 2., .5, 1e-3, which people write.
  Token number() {
    const std::size_t begin = at_;
    const auto digits = [this] {
      while (digit(look())) ++at_;
    };
    const auto exponent_at = [this](std::size_t ahead) {
      const std::size_t sign = look(ahead + 1) == '+' || look(ahead + 1) == '-' ? 1 : 0;
      return (look(ahead) | 0x20) == 'e' && digit(look(ahead + 1 + sign));
    };
    digits();
    if (look() == '.' && (!letter(look(1)) || exponent_at(1))) ++at_, digits();
    if (exponent_at(0)) at_ += 2, digits();
    while (letter(look()) || digit(look())) ++at_;
    return {Token::number, text_.substr(begin, at_ - begin), line_};
  }

  Token quoted() {
    const std::size_t begin = ++at_;
    for (; look() != '"'; ++at_)
      if (at_ >= text_.size() || look() == '\n') throw InputError(where(), "a string without its closing quote");
    ++at_;
    return {Token::string, text_.substr(begin, at_ - begin - 1), line_};
  }

  std::string where() const { return name_ + ":" + std::to_string(line_); }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace

std::vector<Token> tokenise(std::string_view text, const std::string& name) { return Lexer(text, name).run(); }

std::uint64_t Cursor::count(const char* what) {
  std::int64_t value = 0;
  if (peek().kind != Token::number || !integer_literal(peek().text, value) || value < 0) expected(what);
  next();
  return static_cast<std::uint64_t>(value);
}

void Cursor::skip_line() {
  for (const std::uint32_t here = line(); !done() && peek().line == here;) ++at_;
}

void Cursor::skip_past(std::string_view text) {
  while (!done() && !at(text)) ++at_;
  expect(text);
}

void Cursor::skip_block() {
  expect("{");
  for (unsigned depth = 1; depth != 0; ++at_) {
    if (done()) expected("'}'");
    if (at("{")) ++depth;
    if (at("}")) --depth;
  }
}

void Cursor::expected(const std::string& what) const {
  const Token& t = peek();
  fail(std::string("expected ").append(what) + ", found " +
       (t.kind == Token::end ? "the end of the text" : "'" + std::string(t.text) + "'"));
}

void Cursor::fail_at(std::uint32_t line, const std::string& what) const {
  throw InputError(name_ + ":" + std::to_string(line), what);
}

}  // namespace atl::ptx
