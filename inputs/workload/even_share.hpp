#pragma once
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "core/engine/split_mix.hpp"

namespace atl {

/// A share of a sequence's members: of every 16 in a row as many as integers allow, but which ones is scattered anew each
/// time. Spaced evenly they would fall on the same warps in every round whose share is a whole number: with a half, even
/// warps would take all and odd ones none. Which 16 have one member more than others is a share of these, scattered
/// likewise.
///
/// Which members are taken, and how many before any of them, follows from the position alone. Warps that stand at equal
/// distances in the 16 get equal numbers of members, as far as these divide.
class EvenShare {
 public:
  struct Place {
    std::uint64_t before;  ///< members that are taken before this one
    bool taken;
  };

  EvenShare() = default;
  explicit EvenShare(double share) {
    constexpr double kOne = std::uint64_t{1} << kBits;
    auto left = static_cast<std::uint64_t>(std::ceil(share * kOne));  // a third of 48 is 16
    for (std::uint64_t& whole : whole_) {
      whole = left * kBlock >> kBits;
      left = left * kBlock & ((std::uint64_t{1} << kBits) - 1);
      ++levels_;
      if (left == 0) break;
    }
    rest_ = left;
  }
  Place at(std::uint64_t n) const {
    Place place{static_cast<std::uint64_t>(Wide{n >> kBlockBits * levels_} * rest_ >> kBits), false};
    place.taken = (Wide{(n >> kBlockBits * levels_) + 1} * rest_ >> kBits) != place.before;
    for (unsigned level = levels_; level-- > 0;) {
      const std::uint64_t position = n >> kBlockBits * level, block = position >> kBlockBits;
      const std::uint64_t count = whole_[level] + place.taken;
      const std::uint64_t draw = split_mix(block + 1);
      const unsigned members = std::rotl(kScatter[draw & 7][count], static_cast<int>(draw >> 3 & 15));
      const unsigned here = static_cast<unsigned>(position) % kBlock;
      place.before += block * whole_[level] + static_cast<unsigned>(std::popcount(members & ((1u << here) - 1)));
      place.taken = (members >> here & 1) != 0;
    }
    return place;
  }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr unsigned kBits = 52, kBlockBits = 4, kBlock = 1 << kBlockBits;
  /// [odd step / 2][count]: the first `count` multiples of the step, modulo 16, one bit each.
  static constexpr std::array<std::array<std::uint16_t, kBlock + 1>, 8> kScatter = [] {
    std::array<std::array<std::uint16_t, kBlock + 1>, 8> bits{};
    for (unsigned step = 0; step < 8; ++step)
      for (unsigned n = 0; n < kBlock; ++n)
        bits[step][n + 1] = static_cast<std::uint16_t>(bits[step][n] | 1u << n * (2 * step + 1) % kBlock);
    return bits;
  }();
  std::array<std::uint64_t, 3> whole_{};  ///< [level] members that 16 of the level have at least
  std::uint64_t rest_ = 0;                ///< of the last level's 16, on a line; most shares end before
  unsigned levels_ = 0;
};

}  // namespace atl
