#pragma once
#include "inputs/ptx/exec_narrow.hpp"

namespace atl::ptx::lane {

/// A float of 8 bits. kInfinite: the largest exponent is for infinities and NaN, as IEEE has it (e5m2); else only all ones
/// are a NaN, and nothing is infinite (e4m3).
template <unsigned kExponent, unsigned kMantissa, bool kInfinite> struct Tiny {
  using Like = Narrow<kExponent, kMantissa>;
  static constexpr std::uint32_t kMost = kInfinite ? Like::kInf - 1 : 0x7E;

  static double widen(std::uint32_t bits) {
    if (kInfinite) return Like::widen(bits);
    if ((bits & 0x7F) == 0x7F) return std::nan("");
    const std::uint32_t exponent = bits >> kMantissa & ((1u << kExponent) - 1), mantissa = bits & ((1u << kMantissa) - 1);
    const int scale = std::max(static_cast<int>(exponent), 1) - Like::kBias - static_cast<int>(kMantissa);
    const double v = std::ldexp(mantissa + (exponent != 0 ? 1u << kMantissa : 0u), scale);
    return (bits & 0x80) != 0 ? -v : v;
  }

  /// To nearest even; what is too large becomes the largest finite number (.rn.satfinite).
  static std::uint32_t round(double v) {
    if (std::isnan(v)) return 0x7F;
    const std::uint32_t sign = std::signbit(v) ? 0x80 : 0;
    if (std::fabs(v) >= widen(kMost)) return sign | kMost;
    if (v == 0) return sign;
    const int exponent = std::max(std::ilogb(std::fabs(v)), 1 - Like::kBias);
    const double units = std::nearbyint(std::ldexp(std::fabs(v), static_cast<int>(kMantissa) - exponent));
    const auto bits =
        (static_cast<std::uint32_t>(exponent - 1 + Like::kBias) << kMantissa) + static_cast<std::uint32_t>(units);
    return sign | std::min(bits, kMost);
  }
};

using E4m3 = Tiny<4, 3, false>;
using E5m2 = Tiny<5, 2, true>;

}  // namespace atl::ptx::lane
