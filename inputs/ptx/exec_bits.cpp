#include "inputs/ptx/exec_decoder.hpp"
#include "inputs/ptx/exec_integer.hpp"

/// Logic, shifts and bit fields.
namespace atl::ptx::exec {
namespace {

template <class T> T and_of(T a, T b) { return a & b; }
template <class T> T or_of(T a, T b) { return a | b; }
template <class T> T xor_of(T a, T b) { return a ^ b; }
template <class T> T not_of(T a) { return static_cast<T>(~a); }
template <class T> T cnot_of(T a) { return a == 0 ? 1 : 0; }

void and_pred(Warp& w, const Inst& i) { set_predicate(w, i.dst[0], predicate(w, i.src[0]) & predicate(w, i.src[1])); }
void or_pred(Warp& w, const Inst& i) { set_predicate(w, i.dst[0], predicate(w, i.src[0]) | predicate(w, i.src[1])); }
void xor_pred(Warp& w, const Inst& i) { set_predicate(w, i.dst[0], predicate(w, i.src[0]) ^ predicate(w, i.src[1])); }
void not_pred(Warp& w, const Inst& i) { set_predicate(w, i.dst[0], ~predicate(w, i.src[0])); }

template <class T> void shift_left(Warp& w, const Inst& i) {
  const T* a = w.at<T>(i.src[0]);
  const auto* n = w.at<std::uint32_t>(i.src[1]);
  each_lane<T>(w, i.dst[0], [=](unsigned l) { return lane::shl<T>(a[l], n[l]); });
}
template <class T> void shift_right(Warp& w, const Inst& i) {
  const T* a = w.at<T>(i.src[0]);
  const auto* n = w.at<std::uint32_t>(i.src[1]);
  each_lane<T>(w, i.dst[0], [=](unsigned l) { return lane::shr<T>(a[l], n[l]); });
}
template <bool kLeft> void funnel(Warp& w, const Inst& i) {
  using U = std::uint32_t;
  const U *a = w.at<U>(i.src[0]), *b = w.at<U>(i.src[1]), *c = w.at<U>(i.src[2]);
  const bool wrap = i.option != 0;
  each_lane<U>(w, i.dst[0], [=](unsigned l) {
    const U n = wrap ? c[l] & 31 : (c[l] < 32 ? c[l] : 32);
    return kLeft ? lane::shf_l(a[l], b[l], n) : lane::shf_r(a[l], b[l], n);
  });
}
template <class T> void extract(Warp& w, const Inst& i) {
  const T* a = w.at<T>(i.src[0]);
  const auto *p = w.at<std::uint32_t>(i.src[1]), *n = w.at<std::uint32_t>(i.src[2]);
  each_active<T>(w, i.dst[0], [=](unsigned l) { return lane::bfe<T>(a[l], p[l], n[l]); });
}
template <class T> void insert(Warp& w, const Inst& i) {
  const T *a = w.at<T>(i.src[0]), *b = w.at<T>(i.src[1]);
  const auto *p = w.at<std::uint32_t>(i.src[2]), *n = w.at<std::uint32_t>(i.src[3]);
  each_active<T>(w, i.dst[0], [=](unsigned l) { return lane::bfi<T>(a[l], b[l], p[l], n[l]); });
}
template <class T> void extend(Warp& w, const Inst& i) {
  const T* a = w.at<T>(i.src[0]);
  const auto* n = w.at<std::uint32_t>(i.src[1]);
  const bool wrap = i.option != 0;
  each_active<T>(w, i.dst[0], [=](unsigned l) { return lane::bfe<T>(a[l], 0, wrap ? n[l] & 31 : (n[l] < 32 ? n[l] : 32)); });
}
void logic3(Warp& w, const Inst& i) {
  using U = std::uint32_t;
  const U *a = w.at<U>(i.src[0]), *b = w.at<U>(i.src[1]), *c = w.at<U>(i.src[2]);
  const auto table = static_cast<U>(i.value);
  each_lane<U>(w, i.dst[0], [=](unsigned l) { return lane::lop3(a[l], b[l], c[l], table); });
}
void permute(Warp& w, const Inst& i) {
  using U = std::uint32_t;
  const U *a = w.at<U>(i.src[0]), *b = w.at<U>(i.src[1]), *c = w.at<U>(i.src[2]);
  const auto mode = static_cast<lane::Prmt>(i.option);
  each_active<U>(w, i.dst[0], [=](unsigned l) { return lane::prmt(a[l], b[l], c[l], mode); });
}
/// A selector in the instruction, as nvcc puts bytes together: shifts are those of all lanes, so that lanes vectorise.
void permute_alike(Warp& w, const Inst& i) {
  using U = std::uint32_t;
  struct Byte {
    const U* from;
    U shift, kept, sign;
  };
  const auto picked = [&](unsigned n) -> Byte {
    const U pick = i.value >> (4 * n) & 0xF;
    return {w.at<U>(i.src[pick >> 2 & 1]), 8 * (pick & 3), pick < 8 ? 0xFFu : 0, pick < 8 ? 0 : 0xFFu};
  };
  const Byte p = picked(0), q = picked(1), r = picked(2), s = picked(3);
  each_lane<U>(w, i.dst[0], [=](unsigned l) {
    const auto byte = [l](const Byte& of) {
      const U v = of.from[l] >> of.shift;
      return (v & of.kept) | ((0 - (v >> 7 & 1)) & of.sign);
    };
    return byte(p) | byte(q) << 8 | byte(r) << 16 | byte(s) << 24;
  });
}
void find_nth(Warp& w, const Inst& i) {
  const auto *mask = w.at<std::uint32_t>(i.src[0]), *base = w.at<std::uint32_t>(i.src[1]);
  const auto* n = w.at<std::int32_t>(i.src[2]);
  each_active<std::uint32_t>(w, i.dst[0], [=](unsigned l) { return lane::fns(mask[l], base[l], n[l]); });
}

template <class T> Handler logic(const Instruction& in) {
  using U = lane::Unsigned<T>;
  switch (in.op) {
    case Op::and_:
      return &binary_lanes<U, and_of<U>>;
    case Op::or_:
      return &binary_lanes<U, or_of<U>>;
    case Op::xor_:
      return &binary_lanes<U, xor_of<U>>;
    case Op::not_:
      return &unary_lanes<U, not_of<U>>;
    case Op::cnot:
      return &unary_lanes<U, cnot_of<U>>;
    default:
      return nullptr;
  }
}

/// Forms with operands of different types: the kinds of the sources after the first, and of the result.
template <class T> Handler field(const Instruction& in) {
  using U = lane::Unsigned<T>;
  switch (in.op) {
    case Op::shl:
      return &shift_left<U>;
    case Op::shr:
      return &shift_right<T>;
    case Op::bfe:
      return &extract<T>;
    case Op::bfi:
      return &insert<U>;
    case Op::popc:
      return &unary_lanes<U, lane::popc<U>>;
    case Op::clz:
      return &unary_lanes<U, lane::clz<U>>;
    case Op::brev:
      return &unary_lanes<U, lane::brev<U>>;
    case Op::bfind:
      return in.has(kShiftAmount) ? &unary_lanes<T, lane::bfind_shift<T>> : &unary_lanes<T, lane::bfind<T>>;
    case Op::szext:
      return &extend<T>;
    default:
      return nullptr;
  }
}

bool decode_predicate_logic(Decoder& d) {
  const Op op = d.in->op;
  d.out->run = op == Op::and_   ? &and_pred
               : op == Op::or_  ? &or_pred
               : op == Op::xor_ ? &xor_pred
               : op == Op::not_ ? &not_pred
                                : nullptr;
  if (d.out->run == nullptr) return false;
  for (unsigned n = 0; n < d.in->sources && n < 2; ++n) d.take(n, Type::pred);
  d.give(0, Type::pred);
  return true;
}

lane::Prmt prmt_mode(Mode mode) {
  switch (mode) {
    case Mode::f4e:
      return lane::Prmt::f4e;
    case Mode::b4e:
      return lane::Prmt::b4e;
    case Mode::rc8:
      return lane::Prmt::rc8;
    case Mode::ecl:
      return lane::Prmt::ecl;
    case Mode::ecr:
      return lane::Prmt::ecr;
    case Mode::rc16:
      return lane::Prmt::rc16;
    default:
      return lane::Prmt::index;
  }
}

std::uint32_t bmsk(bool wrap, std::uint32_t a, std::uint32_t b) {
  return wrap ? lane::bmsk_wrap(a, b) : lane::bmsk_clamp(a, b);
}
std::uint32_t bmsk_clamp(std::uint32_t a, std::uint32_t b) { return bmsk(false, a, b); }
std::uint32_t bmsk_wrap(std::uint32_t a, std::uint32_t b) { return bmsk(true, a, b); }

bool decode_word_forms(Decoder& d) {
  const Instruction& in = *d.in;
  Inst& out = *d.out;
  unsigned sources = 3;
  switch (in.op) {
    case Op::lop3:
      if (!in.dst[1].is(Operand::none) || !in.src[3].is(Operand::imm)) return false;
      out.run = &logic3, out.value = in.src[3].value & 0xFF;
      break;
    case Op::prmt:
      out.run = &permute, out.option = static_cast<std::uint8_t>(prmt_mode(in.mode));
      if (prmt_mode(in.mode) == lane::Prmt::index && in.src[2].is(Operand::imm))
        out.run = &permute_alike, out.value = in.src[2].value & 0xFFFF, sources = 2;
      break;
    case Op::shf:
      out.run = in.mode == Mode::left ? &funnel<true> : &funnel<false>, out.option = in.has(kWrap);
      break;
    case Op::fns:
      out.run = &find_nth;
      break;
    case Op::bmsk:
      out.run = in.has(kWrap) ? &binary_lanes<std::uint32_t, bmsk_wrap> : &binary_lanes<std::uint32_t, bmsk_clamp>;
      sources = 2;
      break;
    default:
      return false;
  }
  for (unsigned n = 0; n < sources; ++n) d.take(n, Type::u32);
  d.give(0, Type::u32);
  return true;
}

}  // namespace

bool decode_bits(Decoder& d) {
  const Instruction& in = *d.in;
  Inst& out = *d.out;
  if (in.type == Type::pred) return decode_predicate_logic(d);
  if (decode_word_forms(d)) return true;
  if (!with_integer(in.type, [&]<class T>() { out.run = logic<T>(in); })) return false;
  if (out.run != nullptr) {
    for (unsigned n = 0; n < in.sources && n < 2; ++n) d.take(n, in.type);
    d.give(0, in.type);
    return true;
  }
  with_integer(in.type, [&]<class T>() {
    if constexpr (sizeof(T) >= 4)
      out.run = field<T>(in);
    else
      out.run = in.op == Op::shl ? &shift_left<lane::Unsigned<T>> : in.op == Op::shr ? &shift_right<T> : nullptr;
  });
  if (out.run == nullptr) return false;
  out.option = in.has(kWrap);
  const unsigned same = in.op == Op::bfi ? 2 : 1;
  for (unsigned n = 0; n < in.sources && n < 4; ++n) d.take(n, n < same ? in.type : Type::u32);
  const bool count = in.op == Op::popc || in.op == Op::clz || in.op == Op::bfind;
  d.give(0, count ? Type::u32 : in.type);
  return true;
}

}  // namespace atl::ptx::exec
