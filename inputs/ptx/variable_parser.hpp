#pragma once
#include "inputs/ptx/declaration.hpp"

namespace atl::ptx {

struct Linkage {
  bool external = false, visible = false, weak = false, common = false;
};

/// Reads the variables of `.global .align 4 .u32 a = 7, b[2];` after the state space, up to the semicolon, and adds them to
/// the module. Returns the index of the first. A name declared before (.extern) keeps its index.
std::uint32_t parse_variables(Cursor& in, Space space, const Linkage& linkage, std::uint32_t owner, Names& names,
                              Module& module);

}  // namespace atl::ptx
