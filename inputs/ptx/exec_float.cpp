#include "inputs/ptx/exec_float.hpp"

#include "inputs/ptx/exec_decoder.hpp"

/// f32 and f64 arithmetic. Results to nearest even vectorise; other roundings switch the host's direction per lane.
namespace atl::ptx::exec {
namespace {

template <class T, class F, bool kFtz, bool kSat> void unary(Warp& w, const Inst& i) {
  const T* a = w.at<T>(i.src[0]);
  each_lane<T>(w, i.dst[0], [=](unsigned l) { return lane::result<T, kFtz, kSat>(F::of(lane::operand<T, kFtz>(a[l]))); });
}
template <class T, class F, bool kFtz, bool kSat> void binary(Warp& w, const Inst& i) {
  const T *a = w.at<T>(i.src[0]), *b = w.at<T>(i.src[1]);
  each_lane<T>(w, i.dst[0], [=](unsigned l) {
    return lane::result<T, kFtz, kSat>(F::of(lane::operand<T, kFtz>(a[l]), lane::operand<T, kFtz>(b[l])));
  });
}
template <class T, class F, bool kFtz, bool kSat> void ternary(Warp& w, const Inst& i) {
  const T *a = w.at<T>(i.src[0]), *b = w.at<T>(i.src[1]), *c = w.at<T>(i.src[2]);
  each_lane<T>(w, i.dst[0], [=](unsigned l) {
    return lane::result<T, kFtz, kSat>(
        F::of(lane::operand<T, kFtz>(a[l]), lane::operand<T, kFtz>(b[l]), lane::operand<T, kFtz>(c[l])));
  });
}

/// Any rounding and modifiers, one lane at a time. option: ftz 1, sat 2, rounding from bit 4 on.
template <class T, class F, unsigned kOperands> void slow(Warp& w, const Inst& i) {
  const auto mode = static_cast<lane::Round>(i.option >> 4);
  const bool ftz = (i.option & 1) != 0, sat = (i.option & 2) != 0;
  const T *a = w.at<T>(i.src[0]), *b = w.at<T>(i.src[1]), *c = w.at<T>(i.src[2]);
  each_active<T>(w, i.dst[0], [&](unsigned l) {
    const auto take = [&](const T* from) { return ftz ? lane::operand<T, true>(from[l]) : from[l]; };
    T v;
    if constexpr (kOperands == 1) v = lane::rounded<F>(mode, take(a));
    if constexpr (kOperands == 2) v = lane::rounded<F>(mode, take(a), take(b));
    if constexpr (kOperands == 3) v = lane::rounded<F>(mode, take(a), take(b), take(c));
    if (ftz) v = lane::operand<T, true>(v);
    return sat ? lane::saturate(v) : lane::canonical(v);
  });
}

template <class T, class F, unsigned kOperands, bool kFtz, bool kSat> constexpr Handler fast() {
  if constexpr (kOperands == 1) return &unary<T, F, kFtz, kSat>;
  if constexpr (kOperands == 2) return &binary<T, F, kFtz, kSat>;
  if constexpr (kOperands == 3) return &ternary<T, F, kFtz, kSat>;
}

template <class T, class F, unsigned kOperands> Handler select(const Instruction& in, Inst& out) {
  const bool ftz = in.has(kFtz) && sizeof(T) == 4, sat = in.has(kSat);
  const lane::Round mode = rounding(in.round);
  if (mode != lane::Round::rn) {
    out.option = static_cast<std::uint8_t>((ftz ? 1 : 0) | (sat ? 2 : 0) | static_cast<unsigned>(mode) << 4);
    return &slow<T, F, kOperands>;
  }
  if constexpr (sizeof(T) == 4) {
    if (ftz) return sat ? fast<T, F, kOperands, true, true>() : fast<T, F, kOperands, true, false>();
    return sat ? fast<T, F, kOperands, false, true>() : fast<T, F, kOperands, false, false>();
  }
  return fast<T, F, kOperands, false, false>();
}

/// Sign changes keep NaN payloads; .ftz applies.
struct Abs {
  template <class T> static T of(T a) { return std::fabs(a); }
};
struct Neg {
  template <class T> static T of(T a) { return -a; }
};
template <class T, class F, bool kFtz> void sign(Warp& w, const Inst& i) {
  const T* a = w.at<T>(i.src[0]);
  each_lane<T>(w, i.dst[0], [=](unsigned l) { return F::of(lane::operand<T, kFtz>(a[l])); });
}
struct CopySign {  // copysign d, a, b: the sign of a with the magnitude of b
  template <class T> static T of(T a, T b) { return std::copysign(b, a); }
};
template <class T> void copysign(Warp& w, const Inst& i) {
  const T *a = w.at<T>(i.src[0]), *b = w.at<T>(i.src[1]);
  each_lane<T>(w, i.dst[0], [=](unsigned l) { return CopySign::of(a[l], b[l]); });
}

template <bool kNan> struct Min {
  template <class T> static T of(T a, T b) { return lane::min<kNan>(a, b); }
};
template <bool kNan> struct Max {
  template <class T> static T of(T a, T b) { return lane::max<kNan>(a, b); }
};
/// min/max.xorsign.abs: of the magnitudes, with the product of the signs.
template <class M> struct XorSign {
  template <class T> static T of(T a, T b) {
    const T magnitude = M::of(std::fabs(a), std::fabs(b));
    return std::signbit(a) != std::signbit(b) ? -magnitude : magnitude;
  }
};
/// A third operand (sm_100) is not met.
template <class T, template <bool> class M> Handler extremum(const Instruction& in, Inst& out) {
  if (in.sources > 2) return nullptr;
  if (in.has(kXorSign))
    return in.has(kNan) ? select<T, XorSign<M<true>>, 2>(in, out) : select<T, XorSign<M<false>>, 2>(in, out);
  return in.has(kNan) ? select<T, M<true>, 2>(in, out) : select<T, M<false>, 2>(in, out);
}

struct UpperRcp {
  static double of(double a) { return lane::upper_word<lane::Rcp>(a); }
};
struct UpperRsqrt {
  static double of(double a) { return lane::upper_word<lane::Rsqrt>(a); }
};

template <class T> Handler approximate(const Instruction& in, Inst& out) {
  if constexpr (sizeof(T) == 4) {
    switch (in.op) {
      case Op::ex2:
        return select<T, lane::Ex2, 1>(in, out);
      case Op::lg2:
        return select<T, lane::Lg2, 1>(in, out);
      case Op::sin:
        return select<T, lane::Sin, 1>(in, out);
      case Op::cos:
        return select<T, lane::Cos, 1>(in, out);
      case Op::tanh:
        return select<T, lane::Tanh, 1>(in, out);
      case Op::rsqrt:
        return select<T, lane::Rsqrt, 1>(in, out);
      case Op::div:
        return in.has(kApprox) ? select<T, lane::DivApprox, 2>(in, out) : select<T, lane::Div, 2>(in, out);
      case Op::rcp:
        return select<T, lane::Rcp, 1>(in, out);
      default:
        return nullptr;
    }
  } else {
    switch (in.op) {
      case Op::div:
        return select<T, lane::Div, 2>(in, out);
      case Op::rcp:
        return in.has(kApprox) ? select<T, UpperRcp, 1>(in, out) : select<T, lane::Rcp, 1>(in, out);
      case Op::rsqrt:
        return in.has(kFtz) ? select<T, UpperRsqrt, 1>(in, out) : select<T, lane::Rsqrt, 1>(in, out);
      default:
        return nullptr;
    }
  }
}

template <class T> Handler float_handler(const Instruction& in, Inst& out) {
  const bool ftz = in.has(kFtz) && sizeof(T) == 4;
  switch (in.op) {
    case Op::add:
      return select<T, lane::Add, 2>(in, out);
    case Op::sub:
      return select<T, lane::Sub, 2>(in, out);
    case Op::mul:
      return select<T, lane::Mul, 2>(in, out);
    case Op::fma:
    case Op::mad:
      return select<T, lane::Fma, 3>(in, out);
    case Op::sqrt:
      return select<T, lane::Sqrt, 1>(in, out);
    case Op::min:
      return extremum<T, Min>(in, out);
    case Op::max:
      return extremum<T, Max>(in, out);
    case Op::abs:
      return ftz ? &sign<T, Abs, true> : &sign<T, Abs, false>;
    case Op::neg:
      return ftz ? &sign<T, Neg, true> : &sign<T, Neg, false>;
    case Op::copysign:
      return &copysign<T>;
    default:
      return approximate<T>(in, out);
  }
}

lane::Class tested(Mode mode) {
  switch (mode) {
    case Mode::finite:
      return lane::Class::finite;
    case Mode::infinite:
      return lane::Class::infinite;
    case Mode::number:
      return lane::Class::number;
    case Mode::notanumber:
      return lane::Class::notanumber;
    case Mode::normal:
      return lane::Class::normal;
    default:
      return lane::Class::subnormal;
  }
}
template <class T> void testp(Warp& w, const Inst& i) {
  const T* a = w.at<T>(i.src[0]);
  const auto what = static_cast<lane::Class>(i.option);
  set_predicate(w, i.dst[0], lanes_where([=](unsigned l) { return lane::testp(what, a[l]); }));
}

}  // namespace

bool decode_float(Decoder& d) {
  const Instruction& in = *d.in;
  Inst& out = *d.out;
  if (in.type != Type::f32 && in.type != Type::f64) return false;
  if (in.op == Op::testp) {
    out.run = in.type == Type::f32 ? &testp<float> : &testp<double>;
    out.option = static_cast<std::uint8_t>(tested(in.mode));
    d.take(0, in.type), d.give(0, Type::pred);
    return true;
  }
  const bool selects = in.op == Op::min || in.op == Op::max;
  const std::uint64_t known = kFtz | kSat | kApprox | kFull | (selects ? kNan | kXorSign : std::uint64_t{0});
  if ((in.flags & ~known) != 0 || (selects && in.sources != 2)) return false;
  out.run = in.type == Type::f32 ? float_handler<float>(in, out) : float_handler<double>(in, out);
  if (out.run == nullptr) return false;
  for (unsigned n = 0; n < in.sources && n < 3; ++n) d.take(n, in.type);
  d.give(0, in.type);
  return true;
}

}  // namespace atl::ptx::exec
