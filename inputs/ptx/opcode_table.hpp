#pragma once
#include <cstdint>
#include <string_view>

#include "inputs/ptx/opcode.hpp"

namespace atl::ptx {

Op op_of(std::string_view name);  ///< Op::unsupported if Atoll does not know it
bool type_of(std::string_view name, Type& type);
bool space_of(std::string_view name, Space& space);  ///< also shared::cta, param::entry, ...
/// %tid.x etc.; `number` receives the n of %envregn.
bool special_of(std::string_view name, Special& special, std::int64_t& number);

}  // namespace atl::ptx
