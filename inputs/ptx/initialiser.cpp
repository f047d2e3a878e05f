#include "inputs/ptx/initialiser.hpp"

#include "inputs/ptx/literal.hpp"

namespace atl::ptx {
namespace {

constexpr unsigned kDeepest = 64;  ///< dimensions; the reader is recursive

class Initialiser {
 public:
  Initialiser(Cursor& in, const Names& names, Module& module, Variable& variable)
      : in_(in), names_(names), module_(module), v_(variable), width_(size_of(variable.type)) {}

  void value(unsigned depth = 0) {
    if (in_.accept("{")) {
      if (depth == kDeepest) in_.fail("values in more than " + std::to_string(kDeepest) + " levels of braces");
      for (bool first = true; !in_.accept("}"); first = false) {
        if (!first) in_.expect(",");
        if (!in_.at("}")) value(depth + 1);
      }
    } else if (in_.peek().kind == Token::number && in_.peek(1).is("(")) {
      masked();
    } else if (in_.peek().kind == Token::word) {
      address(width_);
      put(0);
    } else {
      put(number());
    }
  }

 private:
  std::int64_t number() {
    const bool negative = in_.accept("-");
    std::int64_t bits = 0;
    if (in_.peek().kind != Token::number || !literal_bits(in_.peek().text, v_.type, bits)) in_.expected("a value");
    in_.next();
    return negative ? static_cast<std::int64_t>(-static_cast<std::uint64_t>(bits)) : bits;
  }

  void put(std::int64_t bits) {
    if (v_.size != 0 && v_.init.size() + width_ > v_.size) in_.fail("more values than '" + v_.name + "' has room for");
    for (unsigned i = 0; i < width_; ++i)
      v_.init.push_back(i < 8 ? static_cast<std::uint8_t>(static_cast<std::uint64_t>(bits) >> (8 * i)) : std::uint8_t{0});
  }

  /// An address stored byte by byte: 0xFF(x), 0xFF00(x), ... The first byte stands for all eight.
  void masked() {
    const std::int64_t mask = number();
    in_.expect("(");
    if (mask == 0xFF)
      address(8);
    else
      skip_address();
    in_.expect(")");
    put(0);
  }

  void address(std::uint32_t size) {
    Relocation r;
    r.offset = static_cast<std::uint32_t>(v_.init.size());
    r.size = size;
    if (in_.at("generic") && in_.peek(1).is("(")) {
      in_.next(), in_.next();
      r.generic = true;
      target(r);
      in_.expect(")");
    } else {
      target(r);
    }
    r.addend += offset();
    v_.relocations.push_back(r);
  }

  void skip_address() {
    const std::size_t kept = v_.relocations.size();
    address(8);
    v_.relocations.resize(kept);
  }

  void target(Relocation& r) {
    const Token name = in_.peek();
    in_.name_of("a name");
    if (const auto f = names_.functions.find(name.text); f != names_.functions.end()) {
      r.function = true;
      r.index = f->second;
      module_.functions[f->second].address_taken = true;
    } else if (const auto x = names_.variables.find(name.text); x != names_.variables.end()) {
      r.index = x->second;
    } else if (name.text == v_.name) {
      r.index = static_cast<std::uint32_t>(module_.variables.size());  // its own address: it is the next to be added
    } else {
      in_.fail_at(name.line, "unknown name '" + std::string(name.text) + "'");
    }
    r.addend += offset();
  }

  std::int64_t offset() {
    if (in_.accept("+")) return number();
    if (in_.accept("-")) return -number();
    return 0;
  }

  Cursor& in_;
  const Names& names_;
  Module& module_;
  Variable& v_;
  unsigned width_;
};

}  // namespace

void parse_initialiser(Cursor& in, const Names& names, Module& module, Variable& variable) {
  Initialiser(in, names, module, variable).value();
}

}  // namespace atl::ptx
