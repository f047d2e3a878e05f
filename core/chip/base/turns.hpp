#pragma once
#include <array>
#include <bit>
#include <cstdint>

namespace atl {

/// Those of up to 128 who may go, found without a look at the others.
class Turns {
 public:
  using PlainState = void;
  static constexpr std::uint32_t kMost = 128, kNobody = kMost;

  void set(std::uint32_t i, bool may_go) {
    const std::uint64_t bit = std::uint64_t{1} << (i & 63);
    may_go ? word_[i >> 6] |= bit : word_[i >> 6] &= ~bit;
  }
  bool has(std::uint32_t i) const { return (word_[i >> 6] >> (i & 63) & 1) != 0; }
  /// The first one from `from` on, round the end; kNobody if there is none.
  std::uint32_t next(std::uint32_t from) const {
    const std::uint32_t at = from_on(from);
    return at != kNobody ? at : from_on(0);
  }

 private:
  std::uint32_t from_on(std::uint32_t from) const {
    std::uint32_t w = from >> 6;
    std::uint64_t rest = word_[w] & ~std::uint64_t{0} << (from & 63);
    if (rest == 0 && w == 0) rest = word_[w = 1];
    return rest == 0 ? kNobody : w * 64 + static_cast<std::uint32_t>(std::countr_zero(rest));
  }
  std::array<std::uint64_t, 2> word_{};
};

}  // namespace atl
