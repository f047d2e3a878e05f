#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace atl::ptx::lane {

/// Rounding of a result: to nearest even, towards zero, down, up; `rna`: to nearest, ties away from zero.
enum class Round : std::uint8_t { rn, rz, rm, rp, rna };

/// A binary floating-point format narrower than double: f16 is <5, 10>, bf16 is <8, 7>.
template <unsigned kExponent, unsigned kMantissa> struct Narrow {
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static constexpr std::uint32_t kInf = ((1u << kExponent) - 1) << kMantissa;
  static constexpr std::uint32_t kNan = (1u << (kExponent + kMantissa)) - 1;  // canonical: all ones but the sign
  static constexpr std::uint32_t kSign = 1u << (kExponent + kMantissa);

  // Both work on the bits of a double: half-precision kernels do little else.

  static double widen(std::uint32_t bits) {
    constexpr double kUnit = std::bit_cast<double>(std::uint64_t{kDoubleBias + 1 - kBias - kMantissa} << 52);
    const std::uint64_t magnitude = bits & (kSign - 1), exponent = magnitude >> kMantissa;
    const std::uint64_t sign = std::uint64_t{(bits & kSign) != 0} << 63;
    if (magnitude > kInf) return std::bit_cast<double>(sign | 0x7FF8000000000000);
    if (magnitude == kInf) return std::bit_cast<double>(sign | kDoubleInf);
    if (exponent == 0) return std::bit_cast<double>(sign | std::bit_cast<std::uint64_t>(double(magnitude) * kUnit));
    return std::bit_cast<double>(sign | ((magnitude << kDropped) + (std::uint64_t{kDoubleBias - kBias} << 52)));
  }

  static std::uint32_t round(double value, Round mode) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const std::uint64_t magnitude = bits & ~(std::uint64_t{1} << 63);
    const std::uint32_t sign = magnitude != bits ? kSign : 0;
    if (magnitude > kDoubleInf) return kNan;
    if (magnitude == kDoubleInf) return sign | kInf;
    if (magnitude == 0) return sign;
    const bool up = (mode == Round::rp && sign == 0) || (mode == Round::rm && sign != 0);
    // The significand with its hidden bit, cut to units of the format at this exponent, of which the smallest is 1 - kBias.
    const int exponent = static_cast<int>(magnitude >> 52) - kDoubleBias, least = 1 - kBias;
    const std::uint64_t significand = (magnitude & ((std::uint64_t{1} << 52) - 1)) | std::uint64_t{1} << 52;
    const int cut = std::min(static_cast<int>(kDropped) + std::max(least - exponent, 0), 63);
    const std::uint64_t rest = significand & ((std::uint64_t{1} << cut) - 1), half = std::uint64_t{1} << (cut - 1);
    std::uint64_t units = significand >> cut;
    if (mode == Round::rn    ? rest > half || (rest == half && (units & 1) != 0)
        : mode == Round::rna ? rest >= half
                             : up && rest > 0)
      ++units;
    // Units of a normal number contain the hidden bit, which adds one to the exponent field; carries come out right, too.
    const std::uint64_t rounded = (static_cast<std::uint64_t>(std::max(exponent, least) - least) << kMantissa) + units;
    if (rounded < kInf) return sign | static_cast<std::uint32_t>(rounded);
    return sign | (mode == Round::rz || ((mode == Round::rm || mode == Round::rp) && !up) ? kInf - 1 : kInf);
  }

 private:
  static constexpr int kDoubleBias = 1023;
  static constexpr std::uint64_t kDoubleInf = std::uint64_t{0x7FF} << 52;
  static constexpr unsigned kDropped = 52 - kMantissa;  ///< digits that a double has on top
};

/// .ftz: subnormal numbers of the format are zeroes of their sign.
template <class N> double flushed(double v) {
  return std::fabs(v) < std::ldexp(1.0, 1 - N::kBias) ? std::copysign(0.0, v) : v;
}

using F16 = Narrow<5, 10>;
using Bf16 = Narrow<8, 7>;

/// a * b + c with the lost bits of the sum or-ed into the last one ("round to odd"), so that rounding the result once more
/// to a narrow format is exact. The product of two narrow numbers is exact in double.
inline double fma_odd(double a, double b, double c) {
  const double product = a * b, sum = product + c;
  if (!std::isfinite(sum)) return sum;
  const double back = sum - product;
  const double error = (product - (sum - back)) + (c - back);
  auto bits = std::bit_cast<std::uint64_t>(sum);
  if (error != 0 && (bits & 1) == 0) {
    const bool away = (error > 0) == (sum > 0);  // the exact value lies beyond `sum`
    bits += away ? 1 : std::uint64_t(-1);
  }
  return std::bit_cast<double>(bits);
}

}  // namespace atl::ptx::lane
