#pragma once
#include <cstdint>
#include <limits>
#include <utility>

#include "inputs/ptx/exec_float.hpp"

/// cvt for one lane. Every source is widened to double, or to a 64-bit integer, which is exact for all formats.
namespace atl::ptx::lane {

/// Rounds to an integral value: .rni .rzi .rmi .rpi.
template <class T> T integral(T v, Round mode) {
  switch (mode) {
    case Round::rz:
      return std::trunc(v);
    case Round::rm:
      return std::floor(v);
    case Round::rp:
      return std::ceil(v);
    default:
      return std::nearbyint(v);  // the host rounds to nearest even
  }
}

/// Floating point to integer: clamps to the range of I. NaN becomes 0 where neither side has 64 bits, and only the highest
/// bit where one has (PTX ISA 9.0, cvt).
template <class I> I to_integer(double v, Round mode, bool from_double) {
  if (v != v) return from_double || sizeof(I) == 8 ? static_cast<I>(I{1} << (8 * sizeof(I) - 1)) : I{0};
  const double whole = integral(v, mode);
  // 2^63 and 2^64 are exact in double, the largest integers are not.
  constexpr double kBeyond =
      sizeof(I) == 8 ? (std::is_signed_v<I> ? 0x1p63 : 0x1p64) : double(std::numeric_limits<I>::max()) + 1;
  if (whole >= kBeyond) return std::numeric_limits<I>::max();
  if (whole < static_cast<double>(std::numeric_limits<I>::min())) return std::numeric_limits<I>::min();
  return static_cast<I>(whole);
}

/// Integer to floating point with one rounding.
template <class F, class I> F from_integer(I v, Round mode) {
  if (mode == Round::rn) return static_cast<F>(v);
  const RoundingScope scope(mode);
  return opaque(static_cast<F>(opaque(v)));
}

inline float to_float(double v, Round mode) {
  if (v != v) return canonical(std::numeric_limits<float>::quiet_NaN());
  if (mode == Round::rn) return static_cast<float>(v);
  const RoundingScope scope(mode);
  return opaque(static_cast<float>(opaque(v)));
}

/// Integer to integer; with .sat the value is clamped instead of cut.
template <class To, class From> To to_integer_from(From v, bool saturating) {
  if (!saturating) return static_cast<To>(v);
  using Limits = std::numeric_limits<To>;
  if (std::cmp_greater(v, Limits::max())) return Limits::max();
  return std::cmp_less(v, Limits::min()) ? Limits::min() : static_cast<To>(v);
}

}  // namespace atl::ptx::lane
