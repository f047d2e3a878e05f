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

  static double widen(std::uint32_t bits) {
    const double sign = (bits & kSign) != 0 ? -1.0 : 1.0;
    const std::uint32_t exponent = (bits & kInf) >> kMantissa, mantissa = bits & ((1u << kMantissa) - 1);
    if ((bits & kInf) == kInf) return mantissa != 0 ? std::nan("") : sign * HUGE_VAL;
    if (exponent == 0) return sign * std::ldexp(mantissa, 1 - kBias - static_cast<int>(kMantissa));
    return sign * std::ldexp(mantissa + (1u << kMantissa), static_cast<int>(exponent) - kBias - static_cast<int>(kMantissa));
  }

  static std::uint32_t round(double value, Round mode) {
    if (std::isnan(value)) return kNan;
    const std::uint32_t sign = std::signbit(value) ? kSign : 0;
    const double magnitude = std::fabs(value);
    if (std::isinf(value)) return sign | kInf;
    if (magnitude == 0) return sign;
    const bool up = (mode == Round::rp && sign == 0) || (mode == Round::rm && sign != 0);
    // Scaled so that one unit is the distance of two neighbours of the format around the value.
    const int exponent = std::max(std::ilogb(magnitude), 1 - kBias);
    const double scaled = std::ldexp(magnitude, static_cast<int>(kMantissa) - exponent);
    const double whole = std::floor(scaled), rest = scaled - whole;
    auto units = static_cast<std::uint32_t>(whole);
    if (mode == Round::rn    ? rest > 0.5 || (rest == 0.5 && (units & 1) != 0)
        : mode == Round::rna ? rest >= 0.5
                             : up && rest > 0)
      ++units;
    // Units of a normal number contain the hidden bit, which adds one to the exponent field; carries come out right, too.
    const std::uint64_t bits = (static_cast<std::uint64_t>(exponent - 1 + kBias) << kMantissa) + units;
    if (bits < kInf) return sign | static_cast<std::uint32_t>(bits);
    return sign | (mode == Round::rz || ((mode == Round::rm || mode == Round::rp) && !up) ? kInf - 1 : kInf);
  }
};

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
