#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "inputs/ptx/exec_decoder.hpp"

/// vadd2, vabsdiff4 and the like: two or four small integers in a word; vadd, vshr and the like: one.
namespace atl::ptx::exec {
namespace {

enum VideoOption : std::uint8_t {
  kSignedA = 1,
  kSignedB = 2,
  kSignedD = 4,
  kClampsParts = 8,
  kSums = 16,
  kRectifies = 32,
  kWraps = 64  // the distance of a shift
};

std::int32_t part_of(std::uint32_t word, unsigned at, unsigned bits, bool is_signed) {
  const std::uint32_t part = word >> at & ((1u << bits) - 1);
  return is_signed ? static_cast<std::int32_t>(part << (32 - bits)) >> (32 - bits) : static_cast<std::int32_t>(part);
}

template <class I> bool holds(Compare compare, I a, I b) {
  switch (compare) {
    case Compare::eq:
      return a == b;
    case Compare::ne:
      return a != b;
    case Compare::lt:
      return a < b;
    case Compare::le:
      return a <= b;
    case Compare::gt:
      return a > b;
    default:
      return a >= b;
  }
}

template <class I> I result_of(Mode mode, Compare compare, I a, I b) {
  switch (mode) {
    case Mode::v_add:
      return a + b;
    case Mode::v_sub:
      return a - b;
    case Mode::v_absdiff:
      return std::abs(a - b);
    case Mode::v_avrg:  // halves away from zero
      return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case Mode::v_min:
      return std::min(a, b);
    case Mode::v_max:
      return std::max(a, b);
    case Mode::v_shl:
      return a << b;
    case Mode::v_shr:
      return a >> b;
    default:
      return holds(compare, a, b) ? 1 : 0;
  }
}

/// Inst: count parts, value the mode, extra the comparison.
void video(Warp& w, const Inst& i) {
  const auto *a = w.at<std::uint32_t>(i.src[0]), *b = w.at<std::uint32_t>(i.src[1]), *c = w.at<std::uint32_t>(i.src[2]);
  const unsigned bits = 32u / i.count;
  const bool is_signed = (i.option & kSignedD) != 0;
  const std::int32_t low = is_signed ? -(1 << (bits - 1)) : 0, high = is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
  each_active<std::uint32_t>(w, i.dst[0], [&](unsigned l) {
    std::uint32_t packed = 0, sum = c[l];
    for (unsigned at = 0; at < 32; at += bits) {
      std::int32_t r = result_of(static_cast<Mode>(i.value), static_cast<Compare>(i.extra),
                                 part_of(a[l], at, bits, (i.option & kSignedA) != 0),
                                 part_of(b[l], at, bits, (i.option & kSignedB) != 0));
      if ((i.option & kClampsParts) != 0) r = std::clamp(r, low, high);
      if ((i.option & kRectifies) != 0) r = std::max(r, 0);
      packed |= (static_cast<std::uint32_t>(r) & ((1u << bits) - 1)) << at;
      sum += static_cast<std::uint32_t>(r);
    }
    return (i.option & kSums) != 0 ? sum : packed;
  });
}

/// One integer of 32 bits and a sign, as PTX computes it. What is behind the word is cut off, or by .sat clamped, before
/// the third source is added.
void video_word(Warp& w, const Inst& i) {
  const auto *a = w.at<std::uint32_t>(i.src[0]), *b = w.at<std::uint32_t>(i.src[1]), *c = w.at<std::uint32_t>(i.src[2]);
  const auto mode = static_cast<Mode>(i.value);
  const auto wide = [](std::uint32_t v, bool is_signed) {
    return is_signed ? std::int64_t{static_cast<std::int32_t>(v)} : std::int64_t{v};
  };
  const bool is_signed = (i.option & kSignedD) != 0, shifts = mode == Mode::v_shl || mode == Mode::v_shr;
  const std::int64_t low = is_signed ? INT32_MIN : 0, high = is_signed ? INT32_MAX : std::int64_t{UINT32_MAX};
  each_active<std::uint32_t>(w, i.dst[0], [&](unsigned l) {
    std::int64_t second = wide(b[l], (i.option & kSignedB) != 0);
    if (shifts) second = (i.option & kWraps) != 0 ? b[l] & 31 : std::min(b[l], 32u);
    std::int64_t r = result_of(mode, static_cast<Compare>(i.extra), wide(a[l], (i.option & kSignedA) != 0), second);
    if ((i.option & kClampsParts) != 0) r = std::clamp(r, low, high);
    return static_cast<std::uint32_t>(r) + ((i.option & kSums) != 0 ? c[l] : 0);
  });
}

/// add, min and max of two halves, which sm_90 spells without a v.
bool decode_pair(Decoder& d) {
  const Instruction& in = *d.in;
  Inst& out = *d.out;
  const Mode mode = in.op == Op::add ? Mode::v_add : in.op == Op::min ? Mode::v_min : Mode::v_max;
  if (in.sources != 2 || (in.op != Op::add && in.op != Op::min && in.op != Op::max)) return false;
  if (in.flags != 0 && (in.flags != kRelu || in.op == Op::add || in.type != Type::s16x2)) return false;
  out.run = &video;
  d.take(0, Type::b32), d.take(1, Type::b32), d.give(0, Type::b32);
  out.src[2] = out.src[0];
  out.count = 2, out.value = static_cast<std::int64_t>(mode);
  out.option = static_cast<std::uint8_t>((in.type == Type::s16x2 ? kSignedA | kSignedB | kSignedD : 0) |
                                         (in.has(kRelu) ? kRectifies : 0));
  return true;
}

}  // namespace

bool decode_video(Decoder& d) {
  const Instruction& in = *d.in;
  if (in.type == Type::u16x2 || in.type == Type::s16x2) return decode_pair(d);
  if (in.op != Op::video) return false;
  Inst& out = *d.out;
  const bool compares = in.mode == Mode::v_set;  // its result has no type
  const auto is_word = [](Type t) { return t == Type::u32 || t == Type::s32; };
  const Type result = compares ? Type::u32 : in.type, first = compares ? in.type : in.source_type,
             second = compares ? in.source_type : in.third_type;
  if (!is_word(result) || !is_word(first) || !is_word(second)) return false;
  const bool shifts = in.mode == Mode::v_shl || in.mode == Mode::v_shr;
  if (compares != (in.compare != Compare::none) || in.compare > Compare::ge) return false;
  if (in.sources != (in.vector == 1 && !in.has(kSum) ? 2 : 3) || shifts != (in.has(kClamp) || in.has(kWrap))) return false;
  if (in.mode == Mode::v_shl && in.has(kSat)) return false;
  out.run = in.vector == 1 ? &video_word : &video;
  for (unsigned n = 0; n < in.sources; ++n) d.take(n, Type::b32);
  if (in.sources == 2) out.src[2] = out.src[0];
  d.give(0, Type::b32);
  out.count = in.vector, out.value = static_cast<std::int64_t>(in.mode), out.extra = static_cast<std::uint32_t>(in.compare);
  out.option = static_cast<std::uint8_t>((first == Type::s32 ? kSignedA : 0) | (second == Type::s32 ? kSignedB : 0) |
                                         (result == Type::s32 ? kSignedD : 0) | (in.has(kSat) ? kClampsParts : 0) |
                                         (in.has(kSum) ? kSums : 0) | (in.has(kWrap) ? kWraps : 0));
  return true;
}

}  // namespace atl::ptx::exec
