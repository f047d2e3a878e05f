#pragma once
#include <cstddef>

#include "inputs/ptx/opcode.hpp"

namespace atl::ptx::exec {

/// Makes of one element in memory what an atomic of it with another would: min, add...
using Combine = void (*)(std::byte* to, const std::byte* from);
/// Null: there is no such operation on this type.
Combine combine_of(Type type, Mode mode);

}  // namespace atl::ptx::exec
