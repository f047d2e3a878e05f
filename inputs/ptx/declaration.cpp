#include "inputs/ptx/declaration.hpp"

#include "inputs/ptx/opcode_table.hpp"

namespace atl::ptx {
namespace {

constexpr std::uint64_t kMostElements = 1ull << 40;

void parse_dimensions(Cursor& in, Declaration& d) {
  while (in.accept("[")) {
    d.array = true;
    const std::uint64_t count = in.at("]") ? 0 : in.count("the number of elements");
    if (d.elements != 0 && count > kMostElements / d.elements)
      in.fail("'" + std::string(d.name) + "' is larger than any memory");
    d.elements *= count;
    in.expect("]");
  }
}

std::uint32_t parse_alignment(Cursor& in) {
  const std::uint64_t align = in.count("an alignment");
  if (align == 0 || align > (1u << 24) || (align & (align - 1)) != 0) in.fail("an alignment must be a power of two");
  return static_cast<std::uint32_t>(align);
}

void parse_qualifiers(Cursor& in, Declaration& d) {
  bool pointee = false;  // after .ptr, space and alignment are those of what the parameter points to
  Space ignored{};
  while (in.peek().kind == Token::word && in.peek().text.front() == '.') {
    const std::string_view word = in.peek().text.substr(1);
    if (word == "align") {
      in.next();
      const std::uint32_t align = parse_alignment(in);
      if (!pointee) d.align = align;
    } else if (word == "ptr") {
      in.next(), pointee = true;
    } else if (word == "attribute") {
      in.next(), in.expect("(");
      d.managed = in.accept(".managed");
      in.skip_past(")");
    } else if (word == "v2" || word == "v4") {
      in.next(), d.vector = static_cast<std::uint32_t>(word[1] - '0');
    } else if (type_of(word, d.type) || (pointee && space_of(word, ignored))) {
      in.next();
    } else {
      in.expected("a type");
    }
  }
  if (d.type == Type::none) in.expected("a type");
}

}  // namespace

Declaration parse_declaration(Cursor& in) {
  Declaration d;
  parse_qualifiers(in, d);
  d.name = in.name_of("a name");
  parse_dimensions(in, d);
  return d;
}

Declaration parse_next_name(Cursor& in, const Declaration& first) {
  Declaration d = first;
  d.elements = 1;
  d.array = false;
  d.name = in.name_of("a name");
  parse_dimensions(in, d);
  return d;
}

std::vector<Param> parse_params(Cursor& in, std::uint32_t& frame) {
  std::vector<Param> params;
  std::uint32_t in_registers = 0;
  if (!in.accept("(")) return params;
  while (!in.accept(")")) {
    if (!params.empty()) in.expect(",");
    const bool reg = in.accept(".reg");
    if (!reg) in.expect(".param");
    const Declaration d = parse_declaration(in);
    Param p;
    p.name = d.name;
    p.type = d.type;
    p.align = d.alignment();
    p.array = d.array;
    if (d.size() > (1u << 20)) in.fail("parameter '" + p.name + "' is larger than a mebibyte");
    p.size = static_cast<std::uint32_t>(d.size());
    if (reg) {
      p.reg = in_registers++;
    } else {
      p.offset = align_up(frame, p.align);
      frame = p.offset + p.size;
    }
    params.push_back(std::move(p));
  }
  return params;
}

void place_results(std::vector<Param>& results, std::uint32_t& frame) {
  for (Param& r : results) {
    if (r.reg != kNone) continue;
    r.offset = align_up(frame, r.align);
    frame = r.offset + r.size;
  }
}

}  // namespace atl::ptx
