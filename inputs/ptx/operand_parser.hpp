#pragma once
#include "inputs/ptx/body_scope.hpp"
#include "inputs/ptx/declaration.hpp"

namespace atl::ptx {

/// Reads operands of one body and resolves their names.
class OperandParser {
 public:
  OperandParser(Cursor& in, BodyScopes& scopes, const Names& names, Module& module, Function& f)
      : in_(in), scopes_(scopes), names_(names), module_(module), f_(f) {}

  /// One operand; literals become the bits of `type`.
  Operand parse(Type type);
  /// `[handle, {x, y}]` of texture and surface instructions: two operands.
  std::array<Operand, 2> parse_texel(Type coordinates);
  /// `[map, {x, y}]` of copies of tensors, or an address alone: two operands, or one and none.
  std::array<Operand, 2> parse_tensor();
  std::uint32_t parse_predicate();

 private:
  Operand parse_vector(Type type);
  Operand parse_address();
  Operand parse_name(bool code_address);
  std::int64_t parse_offset();

  Cursor& in_;
  BodyScopes& scopes_;
  const Names& names_;
  Module& module_;
  Function& f_;
};

}  // namespace atl::ptx
