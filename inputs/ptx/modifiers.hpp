#pragma once
#include <string_view>

#include "inputs/ptx/ir.hpp"

namespace atl::ptx {

/// Sets opcode, types and modifiers of `i` from `ld.global.nc.v4.f32` and the like. Returns the part that Atoll does not
/// know: the opcode, or a modifier that the opcode does not have; empty if all is well.
std::string_view decode_opcode(std::string_view spelled, Instruction& i);

}  // namespace atl::ptx
