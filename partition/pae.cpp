#include "partition/pae.hpp"

#include <algorithm>
#include <array>

#include "core/engine/split_mix.hpp"

namespace atl {
namespace {

constexpr unsigned kTopInput = 31;  // the published masks reach bit 31
constexpr unsigned kLineBit = 7;
constexpr unsigned kNeighbours = 6;  // address bits of a window

std::uint64_t bits(unsigned low, unsigned count) { return ((1ull << count) - 1) << low; }

std::uint64_t next_random(std::uint64_t& state) { return split_mix(state += kSplitMixStep); }

/// First the strides: 1024 accesses at stride 2^t vary ten bits, which must reach every slice; then windows of neighbouring
/// address bits.
unsigned score(std::span<const std::uint64_t> slice, unsigned top) {
  unsigned strides = 0, windows = 0;
  for (unsigned low = kLineBit; low + kNeighbours <= top + 1; ++low) {
    strides += gf2_rank(slice, bits(low, std::min(10u, top + 1 - low))) == slice.size();
    windows += gf2_rank(slice, bits(low, kNeighbours));
  }
  return strides * 1024 + windows;
}

/// Of masks with which every stride and every window reaches all the slices that it can.
unsigned perfect_score(unsigned slice_bits, unsigned top) {
  const unsigned places = top + 2 - kNeighbours - kLineBit;  // of `low` above
  return places * (1024 + std::min(slice_bits, kNeighbours));
}

}  // namespace

unsigned PaeShape::position(unsigned output) const {
  return kChunkBits + output + (output < channel_bits + sub_bits ? 0 : column_bits);
}

std::vector<std::uint64_t> PaeMasks::bank() const {
  const auto first = rows.begin() + shape.channel_bits;
  return {first, first + shape.bank_bits};
}

std::vector<std::uint64_t> PaeMasks::slice() const {
  const auto sub = rows.begin() + shape.channel_bits;
  std::vector<std::uint64_t> all(sub, sub + shape.sub_bits);
  all.insert(all.end(), rows.begin(), sub);
  return {all.end() - shape.slice_bits, all.end()};
}

unsigned gf2_rank(std::span<const std::uint64_t> rows, std::uint64_t mask) {
  std::array<std::uint64_t, 64> basis;
  unsigned rank = 0;
  for (std::uint64_t row : rows) {
    row &= mask;
    for (unsigned i = 0; i < rank; ++i) row = std::min(row, row ^ basis[i]);
    if (row) basis[rank++] = row;
  }
  return rank;
}

PaeMasks search_pae_masks(const PaeShape& shape, unsigned seeds) {
  const unsigned n = shape.outputs(), top = std::max(kTopInput, shape.row_shift() + 9);
  std::uint64_t outputs = 0;
  for (unsigned i = 0; i < n; ++i) outputs |= 1ull << shape.position(i);
  const std::uint64_t inputs = outputs | bits(shape.row_shift(), top + 1 - shape.row_shift());
  const std::uint64_t low = bits(PaeShape::kChunkBits, shape.slice_bits);

  PaeMasks best, draw{shape, std::vector<std::uint64_t>(n)};
  const unsigned perfect = perfect_score(shape.slice_bits, top);
  unsigned best_score = 0;
  bool found = false;
  for (unsigned seed = 0; (seed < seeds && best_score < perfect) || !found; ++seed) {
    std::uint64_t state = seed * 0xD1342543DE82EF95ull;
    for (unsigned i = 0; i < n; ++i) draw.rows[i] = (next_random(state) & inputs) | 1ull << shape.position(i);
    if (gf2_rank(draw.rows, outputs) < n) continue;  // not a bijection
    const auto slice = draw.slice();
    if (gf2_rank(slice, low) < slice.size()) continue;  // the low bits could not be dropped inside a slice
    const unsigned s = score(slice, top);
    if (!found || s > best_score) best = draw, best_score = s, found = true;
  }
  return best;
}

PaeMasks pae_masks(const PaeShape& shape) {
  if (shape == PaeShape{})
    return {shape, {0x1fdd0300, 0xa0f90a00, 0xe52d8f00, 0xb59e8800, 0x0efc8d00, 0xb2018000, 0x2caa8500}};
  return search_pae_masks(shape, 10000);  // a few milliseconds
}

}  // namespace atl
