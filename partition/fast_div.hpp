#pragma once
#include <bit>
#include <cstdint>

namespace atl {

/// Quotient and remainder by a divisor that is fixed when the machine is built: one multiplication, no branch. Exact for all
/// numbers below 2^63, which byte addresses are (Granlund and Montgomery, PLDI 1994, theorem 4.2).
class FastDiv {
 public:
  FastDiv() = default;
  explicit FastDiv(std::uint32_t divisor)
      : divisor_(divisor),
        shift_(static_cast<std::uint32_t>(std::bit_width(divisor - 1))),
        reciprocal_(static_cast<std::uint64_t>(((Wide{1} << (63 + shift_)) + divisor - 1) / divisor)) {}

  std::uint64_t quotient(std::uint64_t x) const {
    return static_cast<std::uint64_t>(Wide{2 * x} * reciprocal_ >> 64) >> shift_;
  }
  std::uint32_t remainder(std::uint64_t x) const { return static_cast<std::uint32_t>(x - quotient(x) * divisor_); }
  std::uint32_t divisor() const { return divisor_; }

 private:
  __extension__ using Wide = unsigned __int128;
  std::uint32_t divisor_ = 1;
  std::uint32_t shift_ = 0;                            ///< log2 of the divisor, rounded up
  std::uint64_t reciprocal_ = std::uint64_t{1} << 63;  ///< 2^(63 + shift) / divisor, rounded up
};

}  // namespace atl
