#pragma once
#include "inputs/ptx/declaration.hpp"

namespace atl::ptx {

/// Reads what follows `=`: numbers, nested braces, names of variables and functions with offsets, generic(name), and
/// masked bytes of addresses, 0xFF(name). Marks functions whose address is taken.
void parse_initialiser(Cursor& in, const Names& names, Module& module, Variable& variable);

}  // namespace atl::ptx
