#include "inputs/ptx/exec_convert.hpp"

#include "inputs/ptx/exec_decoder.hpp"
#include "inputs/ptx/exec_tiny.hpp"

/// cvt: templates for what kernels do all the time, one general routine for the other combinations.
namespace atl::ptx::exec {
namespace {

enum Option : std::uint8_t { kFlush = 1, kSaturate = 2, kIntegral = 4, kRectify = 8, kRoundShift = 4, kFinite = 128 };

lane::Round mode_of(const Inst& i) { return static_cast<lane::Round>((i.option & ~kFinite) >> kRoundShift); }

/// One value of any type, widened.
struct Wide {
  enum { integer, unsigned_integer, real } kind = integer;
  std::int64_t i = 0;
  double d = 0;
  bool from_double = false;  ///< a double itself
};

template <class T> T read(const std::byte* at) {
  T v;
  std::memcpy(&v, at, sizeof v);
  return v;
}

Wide widen(Type type, const std::byte* at) {
  switch (type) {
    case Type::s8:
      return {Wide::integer, read<std::int8_t>(at), 0};
    case Type::s16:
      return {Wide::integer, read<std::int16_t>(at), 0};
    case Type::s32:
      return {Wide::integer, read<std::int32_t>(at), 0};
    case Type::s64:
      return {Wide::integer, read<std::int64_t>(at), 0};
    case Type::u8:
    case Type::b8:
      return {Wide::integer, read<std::uint8_t>(at), 0};
    case Type::u16:
    case Type::b16:
      return {Wide::integer, read<std::uint16_t>(at), 0};
    case Type::u32:
    case Type::b32:
      return {Wide::integer, read<std::uint32_t>(at), 0};
    case Type::f16:
      return {Wide::real, 0, lane::F16::widen(read<std::uint16_t>(at))};
    case Type::bf16:
      return {Wide::real, 0, lane::Bf16::widen(read<std::uint16_t>(at))};
    case Type::f32:
      return {Wide::real, 0, read<float>(at)};
    case Type::f64:
      return {Wide::real, 0, read<double>(at), true};
    default:
      return {Wide::unsigned_integer, read<std::int64_t>(at), 0};
  }
}

template <class I> I integer_of(const Wide& v, lane::Round mode, bool saturating) {
  if (v.kind == Wide::real) return lane::to_integer<I>(v.d, mode, v.from_double);
  if (v.kind == Wide::unsigned_integer) return lane::to_integer_from<I>(static_cast<std::uint64_t>(v.i), saturating);
  return lane::to_integer_from<I>(v.i, saturating);
}
/// Sign- or zero-extended to the register.
template <class I> std::uint64_t extended(I v) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(v)); }

template <class F> F real_of(const Wide& v, lane::Round mode) {
  if (v.kind == Wide::unsigned_integer) return lane::from_integer<F>(static_cast<std::uint64_t>(v.i), mode);
  if (v.kind == Wide::integer) return lane::from_integer<F>(v.i, mode);
  if constexpr (sizeof(F) == 4)
    return lane::to_float(v.d, mode);
  else
    return v.d;
}

/// Any value as a double that rounds to a half as the value itself would. Integers of 64 bits may have more digits than a
/// double: of those that are lost the last one that is left says that there are some (rounding to odd).
double wide_real(const Wide& v) {
  if (v.kind == Wide::real) return v.d;
  const bool is_unsigned = v.kind == Wide::unsigned_integer;
  const auto bits = static_cast<std::uint64_t>(v.i);
  const double cut =
      is_unsigned ? lane::from_integer<double>(bits, lane::Round::rz) : lane::from_integer<double>(v.i, lane::Round::rz);
  const bool exact = is_unsigned ? static_cast<std::uint64_t>(cut) == bits : static_cast<std::int64_t>(cut) == v.i;
  return exact ? cut : std::bit_cast<double>(std::bit_cast<std::uint64_t>(cut) | 1);
}

/// Infinities become the largest finite number of their sign if the option says so.
template <class N> std::uint32_t rounded(double v, lane::Round mode, unsigned option) {
  const std::uint32_t bits = N::round(v, mode);
  return (option & kFinite) != 0 && (bits & ~N::kSign) == N::kInf ? bits - 1 : bits;
}

std::uint64_t narrow(Type type, Wide v, lane::Round mode, unsigned option) {
  const bool saturating = (option & kSaturate) != 0;
  if (v.kind == Wide::real && is_float(type)) {
    if (option & kIntegral) v.d = lane::integral(v.d, mode), mode = lane::Round::rn;
    if (saturating) v.d = lane::saturate(v.d);
    if ((option & kRectify) != 0) v.d = lane::rectify(v.d);
  } else if (saturating && is_float(type)) {
    const bool positive = v.kind == Wide::unsigned_integer ? v.i != 0 : v.i > 0;
    v.i = positive ? 1 : 0;
  }
  switch (type) {
    case Type::s8:
      return extended(integer_of<std::int8_t>(v, mode, saturating));
    case Type::s16:
      return extended(integer_of<std::int16_t>(v, mode, saturating));
    case Type::s32:
      return extended(integer_of<std::int32_t>(v, mode, saturating));
    case Type::s64:
      return extended(integer_of<std::int64_t>(v, mode, saturating));
    case Type::u8:
    case Type::b8:
      return integer_of<std::uint8_t>(v, mode, saturating);
    case Type::u16:
    case Type::b16:
      return integer_of<std::uint16_t>(v, mode, saturating);
    case Type::u32:
    case Type::b32:
      return integer_of<std::uint32_t>(v, mode, saturating);
    case Type::f16:
      return rounded<lane::F16>(wide_real(v), mode, option);
    case Type::bf16:
      return rounded<lane::Bf16>(wide_real(v), mode, option);
    case Type::f32: {
      float f = real_of<float>(v, mode);
      if (option & kFlush) f = lane::flush(f);
      return std::bit_cast<std::uint32_t>(f);
    }
    case Type::f64:
      return std::bit_cast<std::uint64_t>(real_of<double>(v, mode));
    default:
      return integer_of<std::uint64_t>(v, mode, saturating);
  }
}

/// Inst: count and bytes are those of the registers, extra has the types, value the second source of a packing form.
void general(Warp& w, const Inst& i) {
  const auto from = static_cast<Type>(i.extra & 0xFF), to = static_cast<Type>(i.extra >> 8 & 0xFF);
  const auto mode = mode_of(i);
  const std::byte* source = w.at<std::byte>(i.src[0]);
  std::byte* result = w.at<std::byte>(i.dst[0]);
  for_active(w.active, [&](unsigned l) {
    Wide v = widen(from, source + l * i.count);
    if ((i.option & kFlush) != 0 && from == Type::f32) v.d = lane::flush(static_cast<float>(v.d));
    const std::uint64_t bits = narrow(to, v, mode, i.option);
    std::memcpy(result + l * i.bytes, &bits, i.bytes);
  });
}

/// cvt.f16x2.f32 d, a, b: a becomes the upper half.
template <class N> void pack_halves(Warp& w, const Inst& i) {
  const auto mode = mode_of(i);
  const float *a = w.at<float>(i.src[0]), *b = w.at<float>(i.src[1]);
  each_active<std::uint32_t>(w, i.dst[0], [&](unsigned l) {
    const auto half = [&](float v) { return rounded<N>((i.option & kRectify) != 0 ? lane::rectify(v) : v, mode, i.option); };
    return half(a[l]) << 16 | half(b[l]);
  });
}

/// cvt.e4m3x2.f32 d, a, b: a becomes the upper byte.
template <class N> void pack_tiny(Warp& w, const Inst& i) {
  const float *a = w.at<float>(i.src[0]), *b = w.at<float>(i.src[1]);
  each_active<std::uint16_t>(w, i.dst[0], [&](unsigned l) {
    const auto tiny = [&](float v) { return N::round((i.option & kRectify) != 0 ? lane::rectify(v) : v); };
    return static_cast<std::uint16_t>(tiny(a[l]) << 8 | tiny(b[l]));
  });
}
/// cvt.e4m3x2.f16x2 and back.
template <class N> void tiny_of_halves(Warp& w, const Inst& i) {
  const auto* a = w.at<std::uint32_t>(i.src[0]);
  each_active<std::uint16_t>(w, i.dst[0], [&](unsigned l) {
    const auto tiny = [&](std::uint32_t half) {
      const double v = lane::F16::widen(half & 0xFFFF);
      return N::round((i.option & kRectify) != 0 ? lane::rectify(v) : v);
    };
    return static_cast<std::uint16_t>(tiny(a[l] >> 16) << 8 | tiny(a[l]));
  });
}
template <class N> void halves_of_tiny(Warp& w, const Inst& i) {
  const auto* a = w.at<std::uint16_t>(i.src[0]);
  each_active<std::uint32_t>(w, i.dst[0], [&](unsigned l) {
    const auto half = [&](std::uint32_t tiny) {
      const double v = N::widen(tiny & 0xFF);
      return lane::F16::round((i.option & kRectify) != 0 ? lane::rectify(v) : v, lane::Round::rn);
    };
    return half(a[l] >> 8) << 16 | half(a[l]);
  });
}

/// cvt.rna.tf32.f32 and cvt.rn.tf32.f32: 13 bits less.
template <bool kAway> void to_tf32(Warp& w, const Inst& i) {
  const auto* a = w.at<std::uint32_t>(i.src[0]);
  each_lane<std::uint32_t>(w, i.dst[0], [=](unsigned l) {
    if ((a[l] & 0x7FFFFFFF) > 0x7F800000) return 0x7FFFFFFFu;
    const std::uint32_t half = kAway ? 0x1000u : 0xFFFu + (a[l] >> 13 & 1);
    return (a[l] + half) & ~0x1FFFu;
  });
}

bool decode_tiny(Decoder& d) {
  const Instruction& in = *d.in;
  Inst& out = *d.out;
  const bool e4m3 = in.type == Type::e4m3x2 || in.source_type == Type::e4m3x2;
  const bool to_tiny = in.type == Type::e4m3x2 || in.type == Type::e5m2x2;
  if (in.round != Round::rn || to_tiny != in.has(kSatFinite)) return false;
  if (to_tiny && in.source_type == Type::f32 && in.sources == 2) {
    out.run = e4m3 ? &pack_tiny<lane::E4m3> : &pack_tiny<lane::E5m2>;
    d.take(0, Type::f32), d.take(1, Type::f32), d.give(0, Type::b16);
    return true;
  }
  if (to_tiny && in.source_type == Type::f16x2 && in.sources == 1) {
    out.run = e4m3 ? &tiny_of_halves<lane::E4m3> : &tiny_of_halves<lane::E5m2>;
    d.take(0, Type::b32), d.give(0, Type::b16);
    return true;
  }
  if (!to_tiny && in.type == Type::f16x2 && in.sources == 1) {
    out.run = e4m3 ? &halves_of_tiny<lane::E4m3> : &halves_of_tiny<lane::E5m2>;
    d.take(0, Type::b16), d.give(0, Type::b32);
    return true;
  }
  return false;
}

template <class D, class S> void plain(Warp& w, const Inst& i) {
  const S* a = w.at<S>(i.src[0]);
  each_lane<D>(w, i.dst[0], [=](unsigned l) { return static_cast<D>(a[l]); });
}
/// Between registers R and S of integers, of which N is the narrower one.
template <class R, class S, class N> void resized(Warp& w, const Inst& i) {
  const S* a = w.at<S>(i.src[0]);
  each_lane<R>(w, i.dst[0], [=](unsigned l) { return static_cast<R>(static_cast<N>(a[l])); });
}
template <class N> void widened(Warp& w, const Inst& i) {
  const auto* a = w.at<std::uint16_t>(i.src[0]);
  each_lane<float>(w, i.dst[0], [=](unsigned l) { return lane::canonical(static_cast<float>(N::widen(a[l]))); });
}
template <class N> void narrowed(Warp& w, const Inst& i) {
  const float* a = w.at<float>(i.src[0]);
  each_lane<std::uint16_t>(w, i.dst[0],
                           [=](unsigned l) { return static_cast<std::uint16_t>(N::round(a[l], lane::Round::rn)); });
}
void float_of_double(Warp& w, const Inst& i) {
  const double* a = w.at<double>(i.src[0]);
  each_lane<float>(w, i.dst[0], [=](unsigned l) { return lane::canonical(static_cast<float>(a[l])); });
}
/// To integers; what comes from f32 may be flushed or not, as that changes nothing of these.
template <class I, class F, lane::Round kMode> void whole(Warp& w, const Inst& i) {
  const F* a = w.at<F>(i.src[0]);
  each_active<I>(w, i.dst[0], [=](unsigned l) { return lane::to_integer<I>(a[l], kMode, sizeof(F) == 8); });
}

template <class R, class S> Handler resized_by(unsigned bytes, bool is_signed) {
  if (bytes == 1) return is_signed ? &resized<R, S, std::int8_t> : &resized<R, S, std::uint8_t>;
  if (bytes == 2) return is_signed ? &resized<R, S, std::int16_t> : &resized<R, S, std::uint16_t>;
  if (bytes == 4) return is_signed ? &resized<R, S, std::int32_t> : &resized<R, S, std::uint32_t>;
  return &resized<R, S, std::uint64_t>;
}
template <class R> Handler resized_from(unsigned source, unsigned bytes, bool is_signed) {
  if (source == 2) return resized_by<R, std::uint16_t>(bytes, is_signed);
  if (source == 4) return resized_by<R, std::uint32_t>(bytes, is_signed);
  return source == 8 ? resized_by<R, std::uint64_t>(bytes, is_signed) : nullptr;
}
/// Between integers in registers of `source` and `result` bytes: the narrower type is cut out and extended by its sign. A
/// negative number in a wider unsigned type, in a register wider still, would be extended twice.
Handler integer_form(Type to, Type from, unsigned source, unsigned result) {
  const bool grows = size_of(to) > size_of(from);
  const unsigned bytes = std::min(size_of(to), size_of(from));
  const bool is_signed = ptx::is_signed(grows ? from : to);
  if (grows && is_signed && !ptx::is_signed(to) && result > size_of(to)) return nullptr;
  if (result == 2) return resized_from<std::uint16_t>(source, bytes, is_signed);
  if (result == 4) return resized_from<std::uint32_t>(source, bytes, is_signed);
  return result == 8 ? resized_from<std::uint64_t>(source, bytes, is_signed) : nullptr;
}

template <class F> Handler whole_form(Type to, Round round) {
  const bool cut = round == Round::rzi;
  if (!cut && round != Round::rni) return nullptr;
  using enum lane::Round;
  if (to == Type::s32) return cut ? &whole<std::int32_t, F, rz> : &whole<std::int32_t, F, rn>;
  if (to == Type::u32) return cut ? &whole<std::uint32_t, F, rz> : &whole<std::uint32_t, F, rn>;
  if (to == Type::s64) return cut ? &whole<std::int64_t, F, rz> : &whole<std::int64_t, F, rn>;
  if (to == Type::u64) return cut ? &whole<std::uint64_t, F, rz> : &whole<std::uint64_t, F, rn>;
  return nullptr;
}

template <class F> Handler real_form(Type from) {
  if (from == Type::s16) return &plain<F, std::int16_t>;
  if (from == Type::u16) return &plain<F, std::uint16_t>;
  if (from == Type::s32) return &plain<F, std::int32_t>;
  if (from == Type::u32) return &plain<F, std::uint32_t>;
  if (from == Type::s64) return &plain<F, std::int64_t>;
  if (from == Type::u64) return &plain<F, std::uint64_t>;
  return nullptr;
}

/// With registers of the types' own sizes.
Handler common_form(Type to, Type from, const Instruction& in) {
  if (in.has(kSat) || in.has(kSatFinite) || in.has(kRelu)) return nullptr;
  if (from == Type::f32 && !is_float(to)) return whole_form<float>(to, in.round);
  if (from == Type::f64 && !is_float(to)) return whole_form<double>(to, in.round);
  const bool nearest = in.round == Round::rn || in.round == Round::none;
  if (!nearest) return nullptr;
  if (to == Type::f32 && !is_float(from)) return real_form<float>(from);
  if (to == Type::f64 && !is_float(from)) return real_form<double>(from);
  if (in.has(kFtz)) return nullptr;
  if (from == Type::f32 && to == Type::f64) return &plain<double, float>;
  if (from == Type::f64 && to == Type::f32) return &float_of_double;
  if (from == Type::f16 && to == Type::f32) return &widened<lane::F16>;
  if (from == Type::bf16 && to == Type::f32) return &widened<lane::Bf16>;
  if (from == Type::f32 && to == Type::f16) return &narrowed<lane::F16>;
  if (from == Type::f32 && to == Type::bf16) return &narrowed<lane::Bf16>;
  return nullptr;
}

}  // namespace

bool decode_convert(Decoder& d) {
  const Instruction& in = *d.in;
  Inst& out = *d.out;
  if (in.op != Op::cvt) return false;
  constexpr std::uint64_t kKnown = kFtz | kSat | kSatFinite | kRelu;  // what else is spelled is not to be lost
  if ((in.flags & ~kKnown) != 0) return false;
  const bool integral = in.round >= Round::rni && in.round <= Round::rpi;
  out.option =
      static_cast<std::uint8_t>((in.has(kFtz) ? kFlush : 0) | (in.has(kSat) ? kSaturate : 0) | (integral ? kIntegral : 0) |
                                (in.has(kRelu) ? kRectify : 0) | (in.has(kSatFinite) ? kFinite : 0) |
                                static_cast<unsigned>(rounding(in.round)) << kRoundShift);
  const auto tiny = [](Type t) { return t == Type::e4m3x2 || t == Type::e5m2x2; };
  if (tiny(in.type) || tiny(in.source_type)) return decode_tiny(d);
  if (in.type == Type::tf32) {
    const bool plain = in.source_type == Type::f32 && in.sources == 1 && in.flags == 0;
    if (!plain || (in.round != Round::rna && in.round != Round::rn)) return false;
    out.run = in.round == Round::rna ? &to_tf32<true> : &to_tf32<false>;
    d.take(0, Type::b32), d.give(0, Type::b32);
    return true;
  }
  if (in.type > Type::f64 || in.source_type > Type::f64) return false;
  if (in.type == Type::f16x2 || in.type == Type::bf16x2) {
    if (in.source_type != Type::f32 || in.sources != 2 || in.has(kSat)) return false;
    out.run = in.type == Type::f16x2 ? &pack_halves<lane::F16> : &pack_halves<lane::Bf16>;
    d.take(0, Type::f32), d.take(1, Type::f32), d.give(0, Type::b32);
    return true;
  }
  if (in.sources != 1 || (in.has(kSatFinite) && in.type != Type::f16 && in.type != Type::bf16)) return false;
  // Operands may be wider than the types: low bits are read, results are extended.
  const unsigned source = d.width(in.src[0], size_of(in.source_type)), result = d.width(in.dst[0], size_of(in.type));
  if (source < size_of(in.source_type) || result < size_of(in.type)) return false;
  if (!is_float(in.type) && !is_float(in.source_type) && !in.has(kSat))
    out.run = integer_form(in.type, in.source_type, source, result);
  else if (source == size_of(in.source_type) && result == size_of(in.type))
    out.run = common_form(in.type, in.source_type, in);
  if (out.run == nullptr) out.run = &general;
  out.count = static_cast<std::uint8_t>(source), out.bytes = static_cast<std::uint8_t>(result);
  out.extra = static_cast<std::uint32_t>(in.source_type) | static_cast<std::uint32_t>(in.type) << 8;
  out.src[0] = d.source(in.src[0], bit_type(source));
  out.dst[0] = d.result(in.dst[0], bit_type(result));
  return true;
}

}  // namespace atl::ptx::exec
