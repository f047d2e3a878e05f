#pragma once
#include <cstdint>

namespace atl {

/// Lengths of an optimal prefix code of at most `longest` bits for `count` symbols (up to 512) that occur as often as
/// `frequency` says (each below 2^23); 0 for those that never do. At least two symbols get a code.
void prefix_code_lengths(const std::uint32_t* frequency, unsigned count, unsigned longest, std::uint8_t* length);

/// The canonical code of these lengths, as RFC 1951 has it, with the first bit of each lowest.
void prefix_codes(const std::uint8_t* length, unsigned count, std::uint16_t* code);

}  // namespace atl
