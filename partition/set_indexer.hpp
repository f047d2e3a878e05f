#pragma once
#include <bit>
#include <cstdint>
#include <string>

#include "core/engine/archive.hpp"
#include "core/engine/error.hpp"
#include "inputs/config/chip_config.hpp"

namespace atl {

/// Line number to cache set. An L1 passes the line address itself, an LLC slice `AddressMap::line_in_slice(line)`.
/// xor_fold XORs all higher groups of log2(sets) bits into the lowest, so that power-of-two rows do not thrash.
class SetIndexer {
 public:
  /// `where` names the cache in the error when its sets are not a power of two.
  SetIndexer(SetIndex kind, std::uint32_t sets, const std::string& where) : mask_(sets - 1) {
    if (!std::has_single_bit(sets))
      throw InputError(where,
                       std::to_string(sets) + " sets, but their number must be a power of two; change size_kib or ways");
    bits_ = static_cast<std::uint8_t>(std::countr_zero(sets));
    if (kind == SetIndex::xor_fold && bits_) folds_ = static_cast<std::uint8_t>((kLineBits - 1) / bits_);
  }

  std::uint32_t operator()(std::uint64_t number) const {
    std::uint64_t set = number;
    for (unsigned i = 0; i < folds_; ++i) set ^= number >>= bits_;
    return static_cast<std::uint32_t>(set) & mask_;
  }
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, mask_, bits_, folds_); }

 private:
  static constexpr unsigned kLineBits = 43;  ///< 48-bit addresses, lines of 32 B
  std::uint32_t mask_;
  std::uint8_t bits_ = 0, folds_ = 0;
};

}  // namespace atl
