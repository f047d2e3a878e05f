#pragma once
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "inputs/ptx/exec_narrow.hpp"

/// What the floating-point instructions do to one lane.
namespace atl::ptx::lane {

template <class T> using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// Subnormals become zero of the same sign.
inline float flush(float v) {
  const auto bits = std::bit_cast<std::uint32_t>(v);
  return (bits & 0x7F800000u) == 0 ? std::bit_cast<float>(bits & 0x80000000u) : v;
}
/// Every f32 instruction gives this NaN, whatever its operands were.
inline float canonical(float v) { return v == v ? v : std::bit_cast<float>(0x7FFFFFFFu); }
inline double canonical(double v) { return v; }
/// [0, 1], NaN becomes 0.
template <class T> T saturate(T v) { return v > T{0} ? (v < T{1} ? v : T{1}) : T{0}; }
/// .relu: what is below 0, and -0, becomes 0; NaN stays.
template <class T> T rectify(T v) { return v <= T{0} ? T{0} : v; }

/// .ftz and .sat around an operation.
template <class T, bool kFtz> T operand(T v) {
  if constexpr (kFtz && std::is_same_v<T, float>)
    return flush(v);
  else
    return v;
}
template <class T, bool kFtz, bool kSat> T result(T v) {
  if constexpr (kFtz && std::is_same_v<T, float>) v = flush(v);
  if constexpr (kSat) return saturate(v);
  return canonical(v);
}

/// Sets the host's rounding direction for one scope. Values must pass through `opaque`, or the compiler, which takes
/// rounding for constant, computes outside the scope.
class RoundingScope {
 public:
  explicit RoundingScope(Round mode) : saved_(std::fegetround()) {
    std::fesetround(mode == Round::rz   ? FE_TOWARDZERO
                    : mode == Round::rm ? FE_DOWNWARD
                    : mode == Round::rp ? FE_UPWARD
                                        : FE_TONEAREST);
  }
  ~RoundingScope() { std::fesetround(saved_); }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  int saved_;
};
template <class T> T opaque(T v) {
  volatile T through = v;
  return through;
}

struct Add {
  template <class T> static T of(T a, T b) { return a + b; }
};
struct Sub {
  template <class T> static T of(T a, T b) { return a - b; }
};
struct Mul {
  template <class T> static T of(T a, T b) { return a * b; }
};
struct Div {
  template <class T> static T of(T a, T b) { return a / b; }
};
struct Fma {
  template <class T> static T of(T a, T b, T c) { return std::fma(a, b, c); }
};
struct Rcp {
  template <class T> static T of(T a) { return T{1} / a; }
};
struct Sqrt {
  template <class T> static T of(T a) { return std::sqrt(a); }
};

/// One operation rounded in another direction than to nearest.
template <class F, class... T> auto rounded(Round mode, T... v) {
  const RoundingScope scope(mode);
  return opaque(F::of(opaque(v)...));
}

/// A NaN operand loses against a number; with kNan it wins. -0 is less than +0.
template <bool kNan, class T> T min(T a, T b) {
  if (a != a || b != b)
    return kNan || (a != a && b != b) ? canonical(std::numeric_limits<T>::quiet_NaN()) : (a != a ? b : a);
  return a < b || (a == b && std::signbit(a)) ? a : b;
}
template <bool kNan, class T> T max(T a, T b) {
  if (a != a || b != b)
    return kNan || (a != a && b != b) ? canonical(std::numeric_limits<T>::quiet_NaN()) : (a != a ? b : a);
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}

/// The approximate functions. Real ones differ in the last bits (documented maximum errors); special cases are the same.
struct Ex2 {
  static float of(float a) { return std::exp2(a); }
};
struct Lg2 {
  static float of(float a) { return std::log2(a); }
};
struct Sin {
  static float of(float a) { return std::sin(a); }
};
struct Cos {
  static float of(float a) { return std::cos(a); }
};
struct Tanh {
  static float of(float a) { return std::tanh(a); }
};
struct Rsqrt {
  template <class T> static T of(T a) { return T{1} / std::sqrt(a); }
};
/// For divisors beyond 2^126 the reciprocal is subnormal and taken as 0.
struct DivApprox {
  static float of(float a, float b) {
    const float magnitude = std::fabs(b);
    if (magnitude > 0x1p126f && magnitude < HUGE_VALF) return a * std::copysign(0.0f, b);
    return a / b;
  }
};
/// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 deliver the upper word only, and take the lower one of the operand as 0.
template <class F> double upper_word(double a) {
  constexpr std::uint64_t kUpper = 0xFFFFFFFF00000000ull, kExponent = 0x7FF0000000000000ull, kSign = 1ull << 63;
  auto in = std::bit_cast<std::uint64_t>(a) & kUpper;
  if (a != a) return a;
  if ((in & kExponent) == 0) in &= kSign;
  auto out = std::bit_cast<std::uint64_t>(F::of(std::bit_cast<double>(in))) & kUpper;
  if ((out & kExponent) == 0) out &= kSign;
  return std::bit_cast<double>(out);
}

enum class Class : std::uint8_t { finite, infinite, number, notanumber, normal, subnormal };

template <class T> bool testp(Class what, T v) {
  switch (what) {
    case Class::finite:
      return std::isfinite(v);
    case Class::infinite:
      return std::isinf(v);
    case Class::number:
      return !std::isnan(v);
    case Class::notanumber:
      return std::isnan(v);
    case Class::normal:
      return std::isnormal(v);
    case Class::subnormal:
      return std::fpclassify(v) == FP_SUBNORMAL;
  }
  return false;
}

}  // namespace atl::ptx::lane
