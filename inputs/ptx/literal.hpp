#pragma once
#include <cstdint>
#include <string_view>

#include "inputs/ptx/opcode.hpp"

namespace atl::ptx {

/// Decimal, 0x, 0b or octal integer, with or without the suffix U; 64-bit two's complement. False if it is none.
bool integer_literal(std::string_view text, std::int64_t& value);

/// Of a floating-point number: 0f, 0d, or with a decimal point.
bool is_float_literal(std::string_view text);

/// Any literal as the bits that an operand of `type` holds: 0f and 0d are converted to the other width if need be.
bool literal_bits(std::string_view text, Type type, std::int64_t& bits);

}  // namespace atl::ptx
