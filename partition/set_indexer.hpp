#pragma once
#include <bit>
#include <cstdint>

#include "inputs/config/chip_config.hpp"
#include "partition/fast_div.hpp"
#include "partition/scatter.hpp"

namespace atl {

/// Line number to cache set. An L1 passes the line address itself, an LLC slice `AddressMap::line_in_slice(line)`, a home
/// directory the number of a range at its home. xor_fold XORs all higher groups of log2(sets) bits into the lowest, so that
/// power-of-two rows do not thrash. Where sets are no power of two, linear is the remainder, and xor_fold the remainder
/// moved on by a hash of the quotient.
class SetIndexer {
 public:
  /// `rotated`: what is folded is rotated by its place, one bit more each (AddressMap::folds_to_slice).
  SetIndexer(SetIndex kind, std::uint32_t sets, bool rotated = false) : mask_(sets - 1), sets_(sets) {
    remainder_ = !std::has_single_bit(sets);
    turned_ = kind == SetIndex::xor_fold;
    if (remainder_) return;
    bits_ = static_cast<std::uint8_t>(std::countr_zero(sets));
    if (kind == SetIndex::xor_fold && bits_) folds_ = static_cast<std::uint8_t>((kLineBits - 1) / bits_);
    rotated_ = rotated && folds_ != 0;
  }

  std::uint32_t operator()(std::uint64_t number) const {
    if (remainder_ || rotated_) [[unlikely]]
      return remainder_ ? any_number(number) : rotating(number);
    std::uint64_t set = number;
    for (unsigned i = 0; i < folds_; ++i) set ^= number >>= bits_;
    return static_cast<std::uint32_t>(set) & mask_;
  }

 private:
  std::uint32_t any_number(std::uint64_t number) const {
    const std::uint64_t round = sets_.quotient(number);
    const std::uint64_t set = number - round * sets_.divisor() + (turned_ ? scatter(round, sets_.divisor()) : 0);
    return static_cast<std::uint32_t>(set < sets_.divisor() ? set : set - sets_.divisor());
  }

  /// Rotation leaves the parity as it is, which two slices are told apart by: the lowest bit of what is folded changes it.
  std::uint32_t rotating(std::uint64_t number) const {
    std::uint64_t set = number & mask_;
    for (unsigned i = 1, by = 1 % bits_; i <= folds_; ++i, by = by + 1 == bits_ ? 0 : by + 1) {
      const std::uint64_t more = (number >>= bits_) & mask_;
      set ^= more >> by ^ more << (bits_ - by) ^ (more & 1);
    }
    return static_cast<std::uint32_t>(set) & mask_;
  }

  static constexpr unsigned kLineBits = 43;  ///< addresses below 2^49, lines of 64 B; what is above chooses no set
  std::uint32_t mask_;
  FastDiv sets_;
  bool remainder_ = false, turned_ = false, rotated_ = false;
  std::uint8_t bits_ = 0, folds_ = 0;
};

}  // namespace atl
