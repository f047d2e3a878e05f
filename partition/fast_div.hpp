#pragma once
#include <cstdint>

namespace atl {

/// Quotient and remainder by a divisor that is fixed when the machine is built: one multiplication, no branch.
/// Exact while x * divisor < 2^64 (chunk and page numbers have at most 40 bits, divisors at most 20).
class FastDiv {
 public:
  FastDiv() = default;
  explicit FastDiv(std::uint32_t divisor)
      : reciprocal_(divisor == 1 ? 0 : UINT64_MAX / divisor + 1), pass_(divisor == 1 ? UINT64_MAX : 0), divisor_(divisor) {}

  std::uint64_t quotient(std::uint64_t x) const {
    return static_cast<std::uint64_t>(Wide{x} * reciprocal_ >> 64) + (x & pass_);  // 2^64 / 1 does not fit, hence pass_
  }
  std::uint32_t remainder(std::uint64_t x) const { return static_cast<std::uint32_t>(x - quotient(x) * divisor_); }
  std::uint32_t divisor() const { return divisor_; }

 private:
  __extension__ using Wide = unsigned __int128;
  std::uint64_t reciprocal_ = 0;
  std::uint64_t pass_ = UINT64_MAX;
  std::uint32_t divisor_ = 1;
};

}  // namespace atl
