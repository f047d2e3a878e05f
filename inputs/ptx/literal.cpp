#include "inputs/ptx/literal.hpp"

#include <bit>
#include <charconv>

#include "core/engine/whole_number.hpp"

namespace atl::ptx {
namespace {

/// The letter behind a 0 at the beginning.
char kind_of(std::string_view text) { return text.size() > 2 && text[0] == '0' ? static_cast<char>(text[1] | 0x20) : '\0'; }

/// "0.5" or "1e3", which people write and compilers do not.
bool is_decimal(std::string_view text) {
  const char kind = kind_of(text);
  return kind != 'x' && kind != 'b' && kind != 'f' && kind != 'd' && text.find_first_of(".eE") != text.npos;
}

bool decimal(std::string_view text, Type type, std::int64_t& bits) {
  double value = 0;
  if (type != Type::f32 && type != Type::f64 && type != Type::b64) return false;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return false;
  bits = type == Type::f32 ? std::int64_t{std::bit_cast<std::uint32_t>(static_cast<float>(value))}
                           : std::bit_cast<std::int64_t>(value);
  return true;
}

}  // namespace

bool integer_literal(std::string_view text, std::int64_t& value) {
  if (!text.empty() && (text.back() == 'U' || text.back() == 'u')) text.remove_suffix(1);
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char kind = static_cast<char>(text[1] | 0x20);
    base = kind == 'x' ? 16 : kind == 'b' ? 2 : 8;
    text.remove_prefix(base == 8 ? 1 : 2);
  }
  const auto bits = whole_number<std::uint64_t>(text, base);
  if (!bits) return false;
  value = static_cast<std::int64_t>(*bits);
  return true;
}

bool is_float_literal(std::string_view text) {
  const char kind = kind_of(text);
  return kind == 'f' || kind == 'd' || is_decimal(text);
}

bool literal_bits(std::string_view text, Type type, std::int64_t& bits) {
  const char kind = kind_of(text);
  if (kind != 'f' && kind != 'd') return is_decimal(text) ? decimal(text, type, bits) : integer_literal(text, bits);
  const auto digits = whole_number<std::uint64_t>(text.substr(2), 16);
  if (!digits) return false;
  std::uint64_t raw = *digits;
  if (kind == 'f' && type == Type::f64)
    raw = std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(raw))));
  else if (kind == 'd' && type == Type::f32)
    raw = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(raw)));
  bits = static_cast<std::int64_t>(raw);
  return true;
}

}  // namespace atl::ptx
