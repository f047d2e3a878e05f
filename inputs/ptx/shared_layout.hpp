#pragma once
#include "inputs/ptx/ir.hpp"

namespace atl::ptx {

/// Functions that `caller` may call: by name, and through a pointer every one whose address is taken (or those listed).
std::vector<std::uint32_t> callees(const Module& m, const Function& caller);

/// Sets Function::shared and shared_bytes of every entry: static variables first, in the order of the text, then the
/// `.extern` arrays, which all begin where these end.
void lay_out_shared(Module& m);

}  // namespace atl::ptx
