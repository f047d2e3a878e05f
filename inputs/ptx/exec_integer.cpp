#include "inputs/ptx/exec_integer.hpp"

#include <cstring>

#include "inputs/ptx/exec_decoder.hpp"

/// Integer arithmetic.
namespace atl::ptx::exec {
namespace {

template <class T> T min(T a, T b) { return a < b ? a : b; }
template <class T> T max(T a, T b) { return a > b ? a : b; }
std::int32_t min_relu(std::int32_t a, std::int32_t b) { return max(min(a, b), 0); }
std::int32_t max_relu(std::int32_t a, std::int32_t b) { return max(max(a, b), 0); }
template <class T> T neg(T a) { return lane::sub<T>(0, a); }
template <class T> T mad_lo(T a, T b, T c) { return lane::add<T>(lane::mul_lo<T>(a, b), c); }
template <class T> T mad_hi(T a, T b, T c) { return lane::add<T>(lane::mul_hi<T>(a, b), c); }
template <class T> T mad24_lo(T a, T b, T c) { return lane::add<T>(lane::mul24_lo<T>(a, b), c); }
template <class T> T mad24_hi(T a, T b, T c) { return lane::add<T>(lane::mul24_hi<T>(a, b), c); }
std::int32_t add_sat(std::int32_t a, std::int32_t b) { return lane::saturated<std::int32_t>(std::int64_t{a} + b); }
std::int32_t sub_sat(std::int32_t a, std::int32_t b) { return lane::saturated<std::int32_t>(std::int64_t{a} - b); }
std::int32_t mad_hi_sat(std::int32_t a, std::int32_t b, std::int32_t c) { return add_sat(lane::mul_hi(a, b), c); }

template <class T> struct Double;
template <> struct Double<std::int16_t> { using type = std::int32_t; };
template <> struct Double<std::uint16_t> { using type = std::uint32_t; };
template <> struct Double<std::int32_t> { using type = std::int64_t; };
template <> struct Double<std::uint32_t> { using type = std::uint64_t; };

template <class T> void mul_wide(Warp& w, const Inst& i) {
  using D = typename Double<T>::type;
  const T *a = w.at<T>(i.src[0]), *b = w.at<T>(i.src[1]);
  each_lane<D>(w, i.dst[0], [=](unsigned l) { return lane::mul_lo<D>(a[l], b[l]); });
}
template <class T> void mad_wide(Warp& w, const Inst& i) {
  using D = typename Double<T>::type;
  const T *a = w.at<T>(i.src[0]), *b = w.at<T>(i.src[1]);
  const D* c = w.at<D>(i.src[2]);
  each_lane<D>(w, i.dst[0], [=](unsigned l) { return mad_lo<D>(a[l], b[l], c[l]); });
}

/// add, sub and mad that read or write the carry flag. a + b (+ carry), a - b (- borrow); a mad is an add of its product.
/// There is one flag: GPUs subtract by adding the complement, so that it is 1 where nothing was borrowed. PTX says that
/// sub.cc writes the borrow, which differs where addc follows sub.cc: what nvcc makes of a 128-bit division depends on that.
enum Chain : std::uint8_t { kReads = 1, kWrites = 2, kSubtracts = 4, kProductLow = 8, kProductHigh = 16 };

/// One bit of each byte that is 0 or 1.
std::uint32_t packed(const std::uint8_t (&bits)[kLanes]) {
  std::uint32_t all = 0;
  for (unsigned group = 0; group < kLanes / 8; ++group) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, bits + 8 * group, sizeof eight);
    all |= static_cast<std::uint32_t>(eight * 0x0102040810204080 >> 56) << 8 * group;
  }
  return all;
}

/// All lanes are computed, which vectorises; what others than the active ones come to is dropped.
template <class T, unsigned kOption> void chain(Warp& w, const Inst& i) {
  using U = lane::Unsigned<T>;
  const T *a = w.at<T>(i.src[0]), *b = w.at<T>(i.src[1]);
  [[maybe_unused]] const T* c = w.at<T>(i.src[2]);
  [[maybe_unused]] const std::uint32_t carry = w.carry;
  U result[kLanes];
  [[maybe_unused]] std::uint8_t carries[kLanes];
#pragma GCC ivdep
  for (unsigned l = 0; l < kLanes; ++l) {
    U x = static_cast<U>(a[l]), y = static_cast<U>(b[l]);
    if constexpr ((kOption & kProductLow) != 0) x = static_cast<U>(lane::mul_lo<T>(a[l], b[l])), y = static_cast<U>(c[l]);
    if constexpr ((kOption & kProductHigh) != 0) x = static_cast<U>(lane::mul_hi<T>(a[l], b[l])), y = static_cast<U>(c[l]);
    if constexpr ((kOption & kSubtracts) != 0) y = static_cast<U>(~y);
    U in = (kOption & kSubtracts) != 0 ? 1 : 0;
    if constexpr ((kOption & kReads) != 0) in = static_cast<U>(carry >> l & 1);
    const auto part = static_cast<U>(x + y);
    const auto sum = static_cast<U>(part + in);
    result[l] = sum;
    if constexpr ((kOption & kWrites) != 0)  // at most one of the two sums wraps around
      carries[l] = static_cast<std::uint8_t>(static_cast<std::uint8_t>(part < x) | static_cast<std::uint8_t>(sum < part));
  }
  if constexpr ((kOption & kWrites) != 0) w.carry = (w.carry & ~w.active) | (packed(carries) & w.active);
  each_lane<U>(w, i.dst[0], [&](unsigned l) { return result[l]; });
}

template <class T, unsigned kForm> Handler chain_handler(unsigned flags) {
  switch (flags) {
    case kReads:
      return &chain<T, kForm | kReads>;
    case kWrites:
      return &chain<T, kForm | kWrites>;
    default:
      return &chain<T, kForm | kReads | kWrites>;
  }
}

template <class T> Handler chain_handler(const Instruction& in) {
  const bool reads = in.op == Op::addc || in.op == Op::subc || in.op == Op::madc;
  const unsigned flags = (in.has(kCarryOut) ? unsigned{kWrites} : 0) | (reads ? unsigned{kReads} : 0);
  if (in.op == Op::sub || in.op == Op::subc) return chain_handler<T, kSubtracts>(flags);
  if (in.op == Op::add || in.op == Op::addc) return chain_handler<T, 0>(flags);
  return in.part == Part::hi ? chain_handler<T, kProductHigh>(flags) : chain_handler<T, kProductLow>(flags);
}

template <class T> Handler product(Part part) {
  if (part == Part::hi) return &binary_lanes<T, lane::mul_hi<T>>;
  if constexpr (sizeof(T) < 8)
    if (part == Part::wide) return &mul_wide<T>;
  return part == Part::wide ? nullptr : &binary_lanes<T, lane::mul_lo<T>>;
}
template <class T> Handler product_sum(Part part) {
  if (part == Part::hi) return &ternary_lanes<T, mad_hi<T>>;
  if constexpr (sizeof(T) < 8)
    if (part == Part::wide) return &mad_wide<T>;
  return part == Part::wide ? nullptr : &ternary_lanes<T, mad_lo<T>>;
}

template <class T> void dot_product(Warp& w, const Inst& i) {
  const auto *a = w.at<std::uint32_t>(i.src[0]), *b = w.at<std::uint32_t>(i.src[1]), *c = w.at<std::uint32_t>(i.src[2]);
  each_active<std::uint32_t>(w, i.dst[0], [&](unsigned l) { return T::of(a[l], b[l], c[l], i.count); });
}
template <class A, class B, unsigned kParts> struct Dot {
  static std::uint32_t of(std::uint32_t a, std::uint32_t b, std::uint32_t c, unsigned first) {
    return lane::dot<A, B, kParts>(a, b, c, first);
  }
};
template <class S, class U, unsigned kParts> Handler dot_handler(bool a_signed, bool b_signed) {
  if (a_signed) return b_signed ? &dot_product<Dot<S, std::int8_t, kParts>> : &dot_product<Dot<S, std::uint8_t, kParts>>;
  return b_signed ? &dot_product<Dot<U, std::int8_t, kParts>> : &dot_product<Dot<U, std::uint8_t, kParts>>;
}

Type widened(Type t) {
  switch (t) {
    case Type::s16:
      return Type::s32;
    case Type::u16:
      return Type::u32;
    case Type::s32:
      return Type::s64;
    default:
      return Type::u64;
  }
}

template <class T> Handler integer_handler(const Instruction& in) {
  const bool chained = in.has(kCarryOut) || in.op == Op::addc || in.op == Op::subc || in.op == Op::madc;
  if (chained) {
    if constexpr (sizeof(T) >= 4) return chain_handler<T>(in);
    return nullptr;
  }
  if (in.has(kSat)) {
    if constexpr (std::is_same_v<T, std::int32_t>) {
      if (in.op == Op::add) return &binary_lanes<T, add_sat>;
      if (in.op == Op::sub) return &binary_lanes<T, sub_sat>;
      if (in.op == Op::mad && in.part == Part::hi) return &ternary_lanes<T, mad_hi_sat>;
    }
    return nullptr;
  }
  if (in.has(kRelu)) {
    if constexpr (std::is_same_v<T, std::int32_t>) {
      if (in.op == Op::min) return &binary_lanes<T, min_relu>;
      if (in.op == Op::max) return &binary_lanes<T, max_relu>;
    }
    return nullptr;
  }
  switch (in.op) {
    case Op::add:
      return &binary_lanes<T, lane::add<T>>;
    case Op::sub:
      return &binary_lanes<T, lane::sub<T>>;
    case Op::mul:
      return product<T>(in.part);
    case Op::mad:
      return product_sum<T>(in.part);
    case Op::mul24:
      if constexpr (sizeof(T) == 4)
        return in.part == Part::hi ? &binary_lanes<T, lane::mul24_hi<T>> : &binary_lanes<T, lane::mul24_lo<T>>;
      return nullptr;
    case Op::mad24:
      if constexpr (sizeof(T) == 4)
        return in.part == Part::hi ? &ternary_lanes<T, mad24_hi<T>> : &ternary_lanes<T, mad24_lo<T>>;
      return nullptr;
    case Op::div:
      return &binary_lanes<T, lane::div<T>>;
    case Op::rem:
      return &binary_lanes<T, lane::rem<T>>;
    case Op::min:
      return &binary_lanes<T, min<T>>;
    case Op::max:
      return &binary_lanes<T, max<T>>;
    case Op::sad:
      return &ternary_lanes<T, lane::sad<T>>;
    case Op::neg:
      return &unary_lanes<T, neg<T>>;
    case Op::abs:
      if constexpr (std::is_signed_v<T>) return &unary_lanes<T, lane::abs<T>>;
      return nullptr;
    default:
      return nullptr;
  }
}

}  // namespace

bool decode_integer(Decoder& d) {
  const Instruction& in = *d.in;
  Inst& out = *d.out;
  if (in.op == Op::dp4a || in.op == Op::dp2a) {
    const bool a = is_signed(in.type), b = is_signed(in.source_type);
    out.run = in.op == Op::dp4a ? dot_handler<std::int8_t, std::uint8_t, 4>(a, b)
                                : dot_handler<std::int16_t, std::uint16_t, 2>(a, b);
    out.count = in.op == Op::dp2a && in.part == Part::hi ? 2 : 0;
    for (unsigned n = 0; n < 3; ++n) d.take(n, Type::u32);
    d.give(0, Type::u32);
    return true;
  }
  constexpr std::uint64_t kKnown = kCarryOut | kSat | kRelu;  // what else is spelled is not to be lost
  if ((in.flags & ~kKnown) != 0) return false;
  if (!with_integer(in.type, [&]<class T>() { out.run = integer_handler<T>(in); }) || out.run == nullptr) return false;
  const bool wide = in.part == Part::wide;
  for (unsigned n = 0; n < in.sources && n < 3; ++n) d.take(n, wide && n == 2 ? widened(in.type) : in.type);
  d.give(0, wide ? widened(in.type) : in.type);
  return true;
}

}  // namespace atl::ptx::exec
