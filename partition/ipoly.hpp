#pragma once
#include <array>
#include <cstdint>

/// Polynomial interleaving (Rau, ISCA 1991): an address is a polynomial over GF(2), and its remainder after division by one
/// of degree n numbers the 2^n slices. All strides that are powers of two reach all of them.
namespace atl {

/// Address bits, from low to high: offset | sub-slice | channel | column | bank | row; the sub-slice bits are the low bank
/// bits. As Accel-Sim divides an address (`dramid@8`, memory_partition_indexing 2): channels change every 256 bytes, and as
/// many bits above the channel's as the sub-slice has are left out of the remainder.
struct IpolyShape {
  unsigned channel_bits = 4, slice_bits = 5, bank_bits = 4, column_bits = 4, line_bits = 7;
  static constexpr unsigned kChannelFrom = 8;

  constexpr unsigned sub_bits() const { return slice_bits > channel_bits ? slice_bits - channel_bits : 0; }
  constexpr unsigned outputs() const { return channel_bits + sub_bits(); }
  constexpr unsigned first() const { return kChannelFrom - sub_bits(); }
  constexpr unsigned column_from() const { return first() + outputs(); }
  constexpr unsigned row_from() const { return column_from() + column_bits + bank_bits - sub_bits(); }
};

/// x^power modulo the primitive polynomial of degree n, 1 to 8, that has the fewest terms; bit i is the coefficient of x^i.
constexpr std::uint32_t ipoly_remainder(unsigned power, unsigned n) {
  constexpr std::array<std::uint32_t, 9> kPolynomial{0,        0b11,      0b111,      0b1011,     0b10011,
                                                     0b100101, 0b1000011, 0b10000011, 0b100011101};
  std::uint32_t rest = 1;
  for (unsigned i = 0; i < power; ++i) {
    rest <<= 1;
    if ((rest >> n & 1) != 0) rest ^= kPolynomial[n];
  }
  return rest;
}

/// Mask over the bits of a byte address whose parity is output `output` of the slice's number; the lowest are the sub-slice.
constexpr std::uint64_t ipoly_mask(const IpolyShape& s, unsigned output) {
  std::uint64_t mask = std::uint64_t{1} << (s.first() + output);
  const unsigned n = s.outputs();
  for (unsigned bit = s.column_from() + s.sub_bits(), power = n; bit < 64; ++bit, ++power)
    mask |= std::uint64_t{ipoly_remainder(power, n) >> output & 1} << bit;
  return mask;
}

}  // namespace atl
