#pragma once
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

/// What the integer instructions do to one lane. Wrap-around is computed on unsigned types, where C++ defines it.
namespace atl::ptx::lane {

template <class T> using Unsigned = std::make_unsigned_t<T>;
template <class T> inline constexpr unsigned kBits = sizeof(T) * 8;

/// At least 32 bits wide, so that promotion to int cannot overflow.
template <class T> using Wrap = std::conditional_t<(sizeof(T) < 4), std::uint32_t, Unsigned<T>>;

template <class T> T add(T a, T b) { return static_cast<T>(static_cast<Wrap<T>>(a) + static_cast<Wrap<T>>(b)); }
template <class T> T sub(T a, T b) { return static_cast<T>(static_cast<Wrap<T>>(a) - static_cast<Wrap<T>>(b)); }
template <class T> T mul_lo(T a, T b) { return static_cast<T>(static_cast<Wrap<T>>(a) * static_cast<Wrap<T>>(b)); }

template <class T> T saturated(std::int64_t v) {
  if (v > std::numeric_limits<T>::max()) return std::numeric_limits<T>::max();
  return v < std::numeric_limits<T>::min() ? std::numeric_limits<T>::min() : static_cast<T>(v);
}

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

template <class T> T mul_hi(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    using Wide = std::conditional_t<std::is_signed_v<T>, Int128, UInt128>;
    return static_cast<T>((static_cast<Wide>(a) * b) >> 64);
  } else {
    using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> kBits<T>);
  }
}

/// 24-bit operands; `hi` takes bits 16 to 47 of the 48-bit product.
template <class T> std::int64_t mul24_product(T a, T b) {
  if constexpr (std::is_signed_v<T>)
    return std::int64_t{static_cast<std::int32_t>(static_cast<std::uint32_t>(a) << 8) >> 8} *
           (static_cast<std::int32_t>(static_cast<std::uint32_t>(b) << 8) >> 8);
  else
    return static_cast<std::int64_t>(std::uint64_t{a & 0xFFFFFFu} * (b & 0xFFFFFFu));
}
template <class T> T mul24_lo(T a, T b) { return static_cast<T>(mul24_product(a, b)); }
template <class T> T mul24_hi(T a, T b) { return static_cast<T>(mul24_product(a, b) >> 16); }

/// Division by zero is unspecified in PTX and does not trap; all ones is what the hardware's routine leaves.
template <class T> T div(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return sub<T>(0, a);
  return static_cast<T>(a / b);
}
template <class T> T rem(T a, T b) {
  if (b == 0) return a;
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return 0;
  return static_cast<T>(a % b);
}

template <class T> T abs(T a) { return a < 0 ? sub<T>(0, a) : a; }
template <class T> T sad(T a, T b, T c) { return add<T>(c, a < b ? sub<T>(b, a) : sub<T>(a, b)); }

/// Shift amounts are not taken modulo the width: they clamp.
template <class T> T shl(T a, std::uint32_t n) {
  return n >= kBits<T> ? T{0} : static_cast<T>(static_cast<Wrap<T>>(a) << n);
}
template <class T> T shr(T a, std::uint32_t n) {
  if constexpr (std::is_signed_v<T>)
    return static_cast<T>(a >> (n >= kBits<T> ? kBits<T> - 1 : n));
  else
    return n >= kBits<T> ? T{0} : static_cast<T>(a >> n);
}

inline std::uint32_t shf_l(std::uint32_t a, std::uint32_t b, std::uint32_t n) {
  return static_cast<std::uint32_t>((std::uint64_t{b} << 32 | a) << n >> 32);
}
inline std::uint32_t shf_r(std::uint32_t a, std::uint32_t b, std::uint32_t n) {
  return static_cast<std::uint32_t>((std::uint64_t{b} << 32 | a) >> n);
}

template <class T> T bfe(T a, std::uint32_t position, std::uint32_t length) {
  const std::uint32_t pos = position & 0xFF, len = length & 0xFF, msb = kBits<T> - 1;
  const auto bits = static_cast<Unsigned<T>>(a);
  if (len == 0) return 0;
  const std::uint32_t last = pos + len - 1 < msb ? pos + len - 1 : msb;
  const bool sign = std::is_signed_v<T> && ((bits >> last) & 1) != 0;
  Unsigned<T> field = pos > msb ? 0 : bits >> pos;
  const std::uint32_t width = pos > msb ? 0 : (len < kBits<T> - pos ? len : kBits<T> - pos);
  if (width < kBits<T>) {
    const auto mask = static_cast<Unsigned<T>>((Unsigned<T>{1} << width) - 1);
    field = sign ? field | static_cast<Unsigned<T>>(~mask) : field & mask;
  }
  return static_cast<T>(field);
}

template <class T> T bfi(T a, T b, std::uint32_t position, std::uint32_t length) {
  const std::uint32_t pos = position & 0xFF, len = length & 0xFF;
  if (pos >= kBits<T> || len == 0) return b;
  const T ones = len >= kBits<T> ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << len) - 1);
  const auto mask = static_cast<T>(ones << pos);
  return static_cast<T>((a << pos & mask) | (b & ~mask));
}

/// `length` ones from bit `position` on; both clamp at 32, or wrap modulo 32.
inline std::uint32_t bmsk_clamp(std::uint32_t position, std::uint32_t length) {
  const std::uint32_t ones = length >= 32 ? ~0u : (1u << length) - 1;
  return position >= 32 ? 0 : ones << position;
}
inline std::uint32_t bmsk_wrap(std::uint32_t position, std::uint32_t length) {
  return bmsk_clamp(position & 31, length & 31);
}

template <class T> std::uint32_t popc(T a) { return static_cast<std::uint32_t>(std::popcount(a)); }
template <class T> std::uint32_t clz(T a) { return static_cast<std::uint32_t>(std::countl_zero(a)); }
template <class T> T brev(T a) {
  T r = 0;
  for (unsigned i = 0; i < kBits<T>; ++i) r = static_cast<T>(r << 1 | (a >> i & 1));
  return r;
}
/// The highest bit that differs from the sign; ~0 if there is none.
template <class T> std::uint32_t bfind(T a) {
  auto bits = static_cast<Unsigned<T>>(a);
  if (a < 0) bits = static_cast<Unsigned<T>>(~bits);
  return bits == 0 ? ~0u : kBits<T> - 1 - static_cast<std::uint32_t>(std::countl_zero(bits));
}
template <class T> std::uint32_t bfind_shift(T a) {
  const std::uint32_t bit = bfind(a);
  return bit == ~0u ? bit : kBits<T> - 1 - bit;
}
/// Position of the n-th set bit of the mask, counted from `base` upwards or, for negative n, downwards.
inline std::uint32_t fns(std::uint32_t mask, std::uint32_t base, std::int32_t n) {
  if (n == 0) return (mask >> (base & 31) & 1) != 0 ? base & 31 : ~0u;
  const int step = n > 0 ? 1 : -1;
  for (int bit = static_cast<int>(base & 31), left = n > 0 ? n : -n; bit >= 0 && bit < 32; bit += step)
    if ((mask >> bit & 1) != 0 && --left == 0) return static_cast<std::uint32_t>(bit);
  return ~0u;
}

inline std::uint32_t lop3(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t table) {
  std::uint32_t r = 0;
  for (unsigned i = 0; i < 8; ++i)
    if ((table >> i & 1) != 0) r |= ((i & 4) != 0 ? a : ~a) & ((i & 2) != 0 ? b : ~b) & ((i & 1) != 0 ? c : ~c);
  return r;
}

enum class Prmt : std::uint8_t { index, f4e, b4e, rc8, ecl, ecr, rc16 };

inline std::uint32_t prmt(std::uint32_t a, std::uint32_t b, std::uint32_t c, Prmt mode = Prmt::index) {
  const std::uint64_t bytes = std::uint64_t{b} << 32 | a;
  std::uint32_t r = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const std::uint32_t n = c & 3;
    std::uint32_t pick = c >> (4 * i) & 0xF;
    if (mode == Prmt::f4e) pick = n + i;
    if (mode == Prmt::b4e) pick = (n + 8 - i) & 7;
    if (mode == Prmt::rc8) pick = n;
    if (mode == Prmt::ecl) pick = i > n ? i : n;
    if (mode == Prmt::ecr) pick = i < n ? i : n;
    if (mode == Prmt::rc16) pick = (n & 1) * 2 + (i & 1);
    auto byte = static_cast<std::uint32_t>(bytes >> (8 * (pick & 7)) & 0xFF);
    if ((pick & 8) != 0) byte = (byte & 0x80) != 0 ? 0xFF : 0;
    r |= byte << (8 * i);
  }
  return r;
}

/// Dot product of four bytes (kParts 4) or of two halfwords with two bytes of b (kParts 2, from `first` on), added to c.
template <class A, class B, unsigned kParts>
std::uint32_t dot(std::uint32_t a, std::uint32_t b, std::uint32_t c, unsigned first) {
  for (unsigned i = 0; i < kParts; ++i) {
    const auto x = static_cast<A>(a >> (32 / kParts * i));
    const auto y = static_cast<B>(b >> (8 * (i + first)));
    c += static_cast<std::uint32_t>(std::int32_t{x} * std::int32_t{y});
  }
  return c;
}

}  // namespace atl::ptx::lane
