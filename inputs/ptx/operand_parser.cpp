#include "inputs/ptx/operand_parser.hpp"

#include "inputs/ptx/literal.hpp"
#include "inputs/ptx/opcode_table.hpp"

namespace atl::ptx {
namespace {

std::int64_t negated(std::int64_t v) { return static_cast<std::int64_t>(-static_cast<std::uint64_t>(v)); }

std::int64_t sign_bit(Type type) { return static_cast<std::int64_t>(std::uint64_t{1} << (type == Type::f32 ? 31 : 63)); }

}  // namespace

Operand OperandParser::parse(Type type) {
  if (in_.accept("[")) return parse_address();
  if (in_.accept("{")) return parse_vector(type);
  if (in_.accept("!")) {
    Operand o = parse_name(false);
    o.negated = true;
    return o;
  }
  const bool minus = in_.accept("-");
  if (in_.peek().kind == Token::number) {
    Operand o;
    o.kind = Operand::imm;
    const std::string_view text = in_.peek().text;
    if (!literal_bits(text, type, o.value)) in_.expected("a number");
    in_.next();
    if (minus) o.value = is_float_literal(text) ? o.value ^ sign_bit(type) : negated(o.value);
    return o;
  }
  if (in_.accept("_")) return {};
  Operand o = parse_name(true);
  if (in_.at("+") || in_.at("-")) o.value += parse_offset();
  return o;
}

Operand OperandParser::parse_vector(Type type) {
  std::vector<Operand> elements;
  do elements.push_back(parse(type));
  while (in_.accept(","));
  in_.expect("}");
  if (elements.size() > 64) in_.fail("a vector operand of more than 64 elements");
  Operand o;
  o.kind = Operand::vector;
  o.count = static_cast<std::uint8_t>(elements.size());
  o.index = static_cast<std::uint32_t>(f_.elements.size());
  f_.elements.insert(f_.elements.end(), elements.begin(), elements.end());
  return o;
}

Operand OperandParser::parse_address() {
  Operand o;
  if (in_.peek().kind == Token::number) {
    o.kind = Operand::imm;
    if (!integer_literal(in_.next().text, o.value)) in_.fail("expected an address");
  } else {
    o = parse_name(false);
  }
  while (in_.at("+") || in_.at("-")) o.value += parse_offset();
  o.memory = true;
  in_.expect("]");
  return o;
}

std::array<Operand, 2> OperandParser::parse_texel(Type coordinates) {
  in_.expect("[");
  std::array<Operand, 2> texel;
  texel[0] = parse_name(false);
  if (in_.accept(",")) texel[1] = parse(coordinates);
  if (in_.at(",")) in_.fail("textures with a separate sampler are not supported");
  in_.expect("]");
  return texel;
}

std::array<Operand, 2> OperandParser::parse_tensor() {
  in_.expect("[");
  std::array<Operand, 2> parts;
  parts[0] = parse_name(false);
  while (in_.at("+") || in_.at("-")) parts[0].value += parse_offset();
  parts[0].memory = true;
  if (in_.accept(",")) parts[1] = parse(Type::s32);
  in_.expect("]");
  return parts;
}

std::uint32_t OperandParser::parse_predicate() {
  const std::string_view name = in_.name_of("a predicate register");
  const std::uint32_t reg = scopes_.find_register(name);
  if (reg == kNone || f_.registers[reg].type != Type::pred) in_.fail("'" + std::string(name) + "' is no predicate register");
  return reg;
}

Operand OperandParser::parse_name(bool code_address) {
  const Token token = in_.peek();
  const std::string_view name = in_.name_of("an operand");
  Operand o;
  if (o.index = scopes_.find_register(name); o.index != kNone) {
    o.kind = Operand::reg;
    return o;
  }
  if (const Operand* variable = scopes_.find_variable(name)) return *variable;
  if (Special special{}; special_of(name, special, o.value)) {
    o.kind = Operand::special;
    o.index = static_cast<std::uint32_t>(special);
    return o;
  }
  if (const auto v = names_.variables.find(name); v != names_.variables.end()) {
    o.kind = Operand::variable;
    o.index = v->second;
    return o;
  }
  if (const auto f = names_.functions.find(name); f != names_.functions.end() && code_address) {
    module_.functions[f->second].address_taken = true;
    o.kind = Operand::function;
    o.index = f->second;
    return o;
  }
  in_.fail_at(token.line, "unknown name '" + std::string(name) + "'");
}

std::int64_t OperandParser::parse_offset() {
  bool minus = in_.accept("-");
  if (!minus) in_.expect("+");
  if (in_.accept("-")) minus = !minus;
  std::int64_t value = 0;
  if (in_.peek().kind != Token::number || !integer_literal(in_.peek().text, value)) in_.expected("an offset");
  in_.next();
  return minus ? negated(value) : value;
}

}  // namespace atl::ptx
