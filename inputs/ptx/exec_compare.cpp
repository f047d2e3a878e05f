#include "inputs/ptx/exec_decoder.hpp"
#include "inputs/ptx/exec_float.hpp"

/// setp, set, selp and slct.
namespace atl::ptx::exec {
namespace {

constexpr std::uint8_t kNegated = 0x80, kTwo = 0x40;  // Inst::option beside the BoolOp

template <Compare kC, class T> bool holds(T a, T b) {
  const bool unordered = a != a || b != b;
  switch (kC) {
    case Compare::eq:
      return a == b;
    case Compare::ne:
      return !unordered && a != b;
    case Compare::lt:
      return a < b;
    case Compare::le:
      return a <= b;
    case Compare::gt:
      return a > b;
    case Compare::ge:
      return a >= b;
    case Compare::equ:
      return unordered || a == b;
    case Compare::neu:
      return a != b;
    case Compare::ltu:
      return !(a >= b);
    case Compare::leu:
      return !(a > b);
    case Compare::gtu:
      return !(a <= b);
    case Compare::geu:
      return !(a < b);
    case Compare::num:
      return !unordered;
    case Compare::nan:
      return unordered;
    default:
      return false;
  }
}

template <class T, Compare kC> std::uint32_t bits(Warp& w, const Inst& i) {
  const T *a = w.at<T>(i.src[0]), *b = w.at<T>(i.src[1]);
  return lanes_where([=](unsigned l) { return holds<kC>(a[l], b[l]); });
}
template <Compare kC> std::uint32_t bits_ftz(Warp& w, const Inst& i) {
  const float *a = w.at<float>(i.src[0]), *b = w.at<float>(i.src[1]);
  return lanes_where([=](unsigned l) { return holds<kC>(lane::flush(a[l]), lane::flush(b[l])); });
}
/// Of halves, Inst::count says whether subnormal operands are flushed.
template <class N> double half_value(const Inst& i, std::uint32_t bits) {
  const double v = N::widen(bits & 0xFFFF);
  return i.count != 0 ? lane::flushed<N>(v) : v;
}
template <class N, Compare kC> std::uint32_t bits_half(Warp& w, const Inst& i) {
  const auto *a = w.at<std::uint16_t>(i.src[0]), *b = w.at<std::uint16_t>(i.src[1]);
  return lanes_where([&](unsigned l) { return holds<kC>(half_value<N>(i, a[l]), half_value<N>(i, b[l])); });
}
/// Of the lower half of each pair, or of the upper one.
template <class N, Compare kC> std::uint32_t bits_of_pair(Warp& w, const Inst& i, unsigned part) {
  const auto *a = w.at<std::uint32_t>(i.src[0]), *b = w.at<std::uint32_t>(i.src[1]);
  return lanes_where(
      [&](unsigned l) { return holds<kC>(half_value<N>(i, a[l] >> 16 * part), half_value<N>(i, b[l] >> 16 * part)); });
}

std::uint32_t combine(Warp& w, const Inst& i, std::uint32_t found) {
  const auto op = static_cast<BoolOp>(i.option & 0x1F);
  if (op == BoolOp::none) return found;
  std::uint32_t p = predicate(w, i.src[2]);
  if (i.option & kNegated) p = ~p;
  return op == BoolOp::and_ ? found & p : op == BoolOp::or_ ? found | p : found ^ p;
}

template <auto kBits> void setp(Warp& w, const Inst& i) {
  const std::uint32_t found = kBits(w, i);
  if (i.option == 0) {
    set_predicate(w, i.dst[0], found);
    return;
  }
  const std::uint32_t first = combine(w, i, found);
  const std::uint32_t second = combine(w, i, ~found);
  set_predicate(w, i.dst[0], first);
  if (i.option & kTwo) set_predicate(w, i.dst[1], second);
}

/// set: ones or 1.0 where it holds.
template <class D> void set(Warp& w, const Inst& i) {
  const std::uint32_t found = combine(w, i, i.compare(w, i));
  const auto yes = static_cast<D>(i.value);
  each_lane<D>(w, i.dst[0], [=](unsigned l) { return (found >> l & 1) != 0 ? yes : D{0}; });
}

/// set.f16x2.f16x2 and its like: both halves on their own.
template <class N, Compare kC> void set_halves(Warp& w, const Inst& i) {
  const std::uint32_t lower = combine(w, i, bits_of_pair<N, kC>(w, i, 0));
  const std::uint32_t upper = combine(w, i, bits_of_pair<N, kC>(w, i, 1));
  const auto yes = static_cast<std::uint32_t>(i.value);
  each_active<std::uint32_t>(
      w, i.dst[0], [=](unsigned l) { return ((lower >> l & 1) != 0 ? yes : 0) | ((upper >> l & 1) != 0 ? yes << 16 : 0); });
}
/// setp.f16x2 p|q: the two halves.
template <class N, Compare kC> void setp_halves(Warp& w, const Inst& i) {
  for (unsigned part = 0; part < 2; ++part) set_predicate(w, i.dst[part], combine(w, i, bits_of_pair<N, kC>(w, i, part)));
}

struct Choice {
  Handler setp = nullptr;
  std::uint32_t (*compare)(Warp&, const Inst&) = nullptr;
};
template <auto kBits> Choice choice() { return {&setp<kBits>, kBits}; }

/// Calls f<C>() for the comparison of the instruction.
template <class F> auto with_compare(Compare c, F f) {
  switch (c) {
    case Compare::eq:
      return f.template operator()<Compare::eq>();
    case Compare::ne:
      return f.template operator()<Compare::ne>();
    case Compare::lt:
    case Compare::lo:
      return f.template operator()<Compare::lt>();
    case Compare::le:
    case Compare::ls:
      return f.template operator()<Compare::le>();
    case Compare::gt:
    case Compare::hi:
      return f.template operator()<Compare::gt>();
    case Compare::ge:
    case Compare::hs:
      return f.template operator()<Compare::ge>();
    case Compare::equ:
      return f.template operator()<Compare::equ>();
    case Compare::neu:
      return f.template operator()<Compare::neu>();
    case Compare::ltu:
      return f.template operator()<Compare::ltu>();
    case Compare::leu:
      return f.template operator()<Compare::leu>();
    case Compare::gtu:
      return f.template operator()<Compare::gtu>();
    case Compare::geu:
      return f.template operator()<Compare::geu>();
    case Compare::num:
      return f.template operator()<Compare::num>();
    default:
      return f.template operator()<Compare::nan>();
  }
}

Choice comparison(Type type, Compare compare, bool ftz) {
  Choice found;
  const bool forced_unsigned =
      compare == Compare::lo || compare == Compare::ls || compare == Compare::hi || compare == Compare::hs;
  if (forced_unsigned && is_signed(type)) type = type == Type::s16 ? Type::u16 : type == Type::s32 ? Type::u32 : Type::u64;
  if (with_integer(type,
                   [&]<class T>() { found = with_compare(compare, [&]<Compare kC>() { return choice<bits<T, kC>>(); }); }))
    return found;
  switch (type) {
    case Type::f32:
      if (ftz) return with_compare(compare, [&]<Compare kC>() { return choice<bits_ftz<kC>>(); });
      return with_compare(compare, [&]<Compare kC>() { return choice<bits<float, kC>>(); });
    case Type::f64:
      return with_compare(compare, [&]<Compare kC>() { return choice<bits<double, kC>>(); });
    case Type::f16:
      return with_compare(compare, [&]<Compare kC>() { return choice<bits_half<lane::F16, kC>>(); });
    case Type::bf16:
      return with_compare(compare, [&]<Compare kC>() { return choice<bits_half<lane::Bf16, kC>>(); });
    case Type::f16x2:
      return {with_compare(compare, [&]<Compare kC>() -> Handler { return &setp_halves<lane::F16, kC>; }), nullptr};
    case Type::bf16x2:
      return {with_compare(compare, [&]<Compare kC>() -> Handler { return &setp_halves<lane::Bf16, kC>; }), nullptr};
    default:
      return {};
  }
}

template <class T> void selp(Warp& w, const Inst& i) {
  const T *a = w.at<T>(i.src[0]), *b = w.at<T>(i.src[1]);
  const std::uint32_t p = i.option ? ~predicate(w, i.src[2]) : predicate(w, i.src[2]);
  each_lane<T>(w, i.dst[0], [=](unsigned l) { return (p >> l & 1) != 0 ? a[l] : b[l]; });
}
template <class T, class C, bool kFlush = false> void slct(Warp& w, const Inst& i) {
  const T *a = w.at<T>(i.src[0]), *b = w.at<T>(i.src[1]);
  const C* c = w.at<C>(i.src[2]);
  each_lane<T>(w, i.dst[0], [=](unsigned l) { return lane::operand<C, kFlush>(c[l]) >= 0 ? a[l] : b[l]; });
}

template <class T> Handler selection(const Instruction& in) {
  if (in.source_type != Type::f32) return &slct<T, std::int32_t>;
  return in.has(kFtz) ? &slct<T, float, true> : &slct<T, float>;
}

/// The boolean operand, and what depends on it.
bool finish(Decoder& d, Type compared) {
  const Instruction& in = *d.in;
  d.take(0, compared), d.take(1, compared);
  d.out->count = in.has(kFtz) ? 1 : 0;
  d.out->option = static_cast<std::uint8_t>(in.bool_op);
  if (in.bool_op != BoolOp::none) {
    d.take(2, Type::pred);
    if (in.src[2].negated) d.out->option |= kNegated;
  }
  return true;
}

bool decode_set(Decoder& d) {
  const Instruction& in = *d.in;
  Inst& out = *d.out;
  const bool halves = in.source_type == Type::f16x2 || in.source_type == Type::bf16x2;
  if (halves) {
    out.value = in.type == Type::f16x2 ? 0x3C00 : in.type == Type::bf16x2 ? 0x3F80 : 0xFFFF;
    out.run = in.source_type == Type::f16x2
                  ? with_compare(in.compare, [&]<Compare kC>() -> Handler { return &set_halves<lane::F16, kC>; })
                  : with_compare(in.compare, [&]<Compare kC>() -> Handler { return &set_halves<lane::Bf16, kC>; });
  } else {
    out.compare = comparison(in.source_type, in.compare, in.has(kFtz)).compare;
    if (out.compare == nullptr) return false;
    out.value = in.type == Type::f32 ? 0x3F800000 : in.type == Type::f16 ? 0x3C00 : in.type == Type::bf16 ? 0x3F80 : -1;
    out.run = size_of(in.type) == 2 ? &set<std::uint16_t> : &set<std::uint32_t>;
  }
  d.give(0, in.type);
  return finish(d, in.source_type);
}

}  // namespace

bool decode_compare(Decoder& d) {
  const Instruction& in = *d.in;
  Inst& out = *d.out;
  if ((in.op == Op::setp || in.op == Op::set) && (in.flags & ~std::uint64_t{kFtz}) != 0) return false;
  switch (in.op) {
    case Op::setp:
      out.run = comparison(in.type, in.compare, in.has(kFtz)).setp;
      if (out.run == nullptr) return false;
      d.give(0, Type::pred), d.give(1, Type::pred);
      finish(d, in.type);
      if (!in.dst[1].is(Operand::none)) out.option |= kTwo;
      return true;
    case Op::set:
      return decode_set(d);
    case Op::selp:
      switch (size_of(in.type)) {
        case 2:
          out.run = &selp<std::uint16_t>;
          break;
        case 4:
          out.run = &selp<std::uint32_t>;
          break;
        case 8:
          out.run = &selp<std::uint64_t>;
          break;
        default:
          return false;
      }
      d.take(0, in.type), d.take(1, in.type), d.take(2, Type::pred);
      out.option = in.src[2].negated;
      d.give(0, in.type);
      return true;
    case Op::slct:
      switch (size_of(in.type)) {
        case 2:
          out.run = selection<std::uint16_t>(in);
          break;
        case 4:
          out.run = selection<std::uint32_t>(in);
          break;
        case 8:
          out.run = selection<std::uint64_t>(in);
          break;
        default:
          return false;
      }
      d.take(0, in.type), d.take(1, in.type), d.take(2, in.source_type);
      d.give(0, in.type);
      return true;
    default:
      return false;
  }
}

}  // namespace atl::ptx::exec
