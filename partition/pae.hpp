#pragma once
#include <cstdint>
#include <span>
#include <vector>

/// Page Address Entropy hashing (PAE, ISCA 2018): channel, sub-slice and bank bits are parities of masked address bits.
namespace atl {

/// Address bits of a chip, from low to high: offset in a 256-byte chunk | channel | sub-slice | column | bank | row.
/// The sub-slice bits are the low bank bits, so that the slices of a channel use different banks; where there are more of
/// them than bank bits, the others address columns.
struct PaeShape {
  unsigned channel_bits = 3;
  unsigned sub_bits = 1;     ///< slices per channel
  unsigned bank_bits = 4;    ///< including the sub-slice bits
  unsigned column_bits = 3;  ///< row bytes / 256
  unsigned slice_bits = 4;   ///< channel + sub, or fewer when a slice serves several channels

  static constexpr unsigned kChunkBits = 8;
  unsigned outputs() const { return channel_bits + (sub_bits > bank_bits ? sub_bits : bank_bits); }
  unsigned row_shift() const { return kChunkBits + outputs() + column_bits; }
  unsigned position(unsigned output) const;  ///< address bit that output `output` (channel, sub, bank) stands for
  bool operator==(const PaeShape&) const = default;
};

/// One mask over byte-address bits for each output: channel bits, then bank bits (the first of them choose the sub-slice).
struct PaeMasks {
  PaeShape shape;
  std::vector<std::uint64_t> rows;

  std::vector<std::uint64_t> channel() const { return {rows.begin(), rows.begin() + shape.channel_bits}; }
  std::vector<std::uint64_t> bank() const;
  std::vector<std::uint64_t> slice() const;  ///< slice = channel * slices per channel + sub-slice, lowest bit first
};

/// The fixed masks for SAC's shape, else those that a seeded search finds. Always the same.
PaeMasks pae_masks(const PaeShape& shape);

/// The search alone, among `seeds` draws.
PaeMasks search_pae_masks(const PaeShape& shape, unsigned seeds);

/// Rank over GF(2) of the rows restricted to the columns in `mask`.
unsigned gf2_rank(std::span<const std::uint64_t> rows, std::uint64_t mask = ~0ull);

}  // namespace atl
