#include <bit>
#include <type_traits>

#include "inputs/ptx/exec_decoder.hpp"
#include "inputs/ptx/exec_float.hpp"

/// f16, f16x2, bf16 and bf16x2 arithmetic: widened to double, computed, rounded once. Double has more than twice the digits
/// plus two, so that one rounding of +, -, *, / and sqrt is exact; fma needs the sum rounded to odd.
namespace atl::ptx::exec {
namespace {

using HalfFunction = double (*)(double, double, double);

double add(double a, double b, double) { return a + b; }
double sub(double a, double b, double) { return a - b; }
double mul(double a, double b, double) { return a * b; }
double fma(double a, double b, double c) { return lane::fma_odd(a, b, c); }
double fma_relu(double a, double b, double c) { return lane::rectify(fma(a, b, c)); }
double abs(double a, double, double) { return std::fabs(a); }
double neg(double a, double, double) { return -a; }
double ex2(double a, double, double) { return std::exp2(a); }
double tanh(double a, double, double) { return std::tanh(a); }
template <bool kNan> double min(double a, double b, double) { return lane::min<kNan>(a, b); }
template <bool kNan> double max(double a, double b, double) { return lane::max<kNan>(a, b); }

/// kParts values in a register of type W. option: ftz 1, sat 2.
template <class N, class W, unsigned kParts, HalfFunction kF> void half(Warp& w, const Inst& i) {
  const W *a = w.at<W>(i.src[0]), *b = w.at<W>(i.src[1]), *c = w.at<W>(i.src[2]);
  const bool ftz = (i.option & 1) != 0, sat = (i.option & 2) != 0;
  each_active<W>(w, i.dst[0], [&](unsigned l) {
    W packed = 0;
    for (unsigned part = 0; part < kParts; ++part) {
      const auto take = [&](const W* from) {
        const double v = N::widen(static_cast<std::uint32_t>(from[l]) >> (16 * part) & 0xFFFF);
        return ftz ? lane::flushed<N>(v) : v;
      };
      double v = kF(take(a), take(b), take(c));
      if (sat) v = lane::saturate(v);
      if (ftz) v = lane::flushed<N>(v);
      packed = static_cast<W>(packed | static_cast<std::uint32_t>(N::round(v, lane::Round::rn)) << (16 * part));
    }
    return packed;
  });
}

// Most programs add, multiply and fuse f16 without .ftz and .sat. For these float has digits enough, and its range holds
// every product, so that lanes are computed side by side, without a branch. bf16 has products that float has not.

/// By a mask: what could be a branch is not vectorised.
std::uint32_t select(bool first, std::uint32_t a, std::uint32_t b) { return b ^ ((a ^ b) & (0u - std::uint32_t{first})); }

float widen(std::uint32_t half) {
  const std::uint32_t magnitude = half & 0x7FFF;
  const auto subnormal = std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24f);
  std::uint32_t bits = select(magnitude < 0x0400, subnormal, (magnitude << 13) + (112u << 23));
  bits = select(magnitude >= 0x7C00, 0x7F800000 | magnitude << 13, bits);
  return std::bit_cast<float>(bits | (half & 0x8000) << 16);
}

/// To nearest even.
std::uint32_t narrow(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFF;
  const auto subnormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3F000000;  // ulp: 2^-24
  std::uint32_t half = (magnitude - (112u << 23) + 0x0FFF + (magnitude >> 13 & 1)) >> 13;
  half = select(magnitude < 0x38800000, subnormal, half);
  half = select(magnitude >= 0x47800000, 0x7C00, half);  // 65,536; from 65,520 on the sum above gives infinity as well
  return select(magnitude > 0x7F800000, lane::F16::kNan, half | (bits >> 16 & 0x8000));
}

enum class Quick { add, sub, mul, fma };

template <Quick kOp> float quick(float a, float b, float c) {
  if constexpr (kOp == Quick::add) return a + b;
  if constexpr (kOp == Quick::sub) return a - b;
  const float product = a * b;
  if constexpr (kOp == Quick::mul) return product;
  // As lane::fma_odd(), with signs and zeroes as bits.
  const float sum = product + c, back = sum - product, error = (product - (sum - back)) + (c - back);
  const auto bits = std::bit_cast<std::uint32_t>(sum), lost = std::bit_cast<std::uint32_t>(error);
  const std::uint32_t towards = 1 - 2 * ((lost ^ bits) >> 31);
  const auto any = [](std::uint32_t x) { return (x + 0x7FFFFFFF) >> 31; };                   // of 31 bits: 1 if one is set
  const std::uint32_t moves = any(lost & 0x7FFFFFFF) & any(~bits & 0x7F800000) & ~bits & 1;  // inexact, finite, even
  return std::bit_cast<float>(bits + (towards & (0 - moves)));
}

template <class W, unsigned kParts, Quick kOp> void quick_half(Warp& w, const Inst& i) {
  const W *a = w.at<W>(i.src[0]), *b = w.at<W>(i.src[1]), *c = w.at<W>(i.src[2]);
  each_lane<W>(w, i.dst[0], [=](unsigned l) {
    std::uint32_t packed = narrow(quick<kOp>(widen(a[l] & 0xFFFF), widen(b[l] & 0xFFFF), widen(c[l] & 0xFFFF)));
    if constexpr (kParts == 2) packed |= narrow(quick<kOp>(widen(a[l] >> 16), widen(b[l] >> 16), widen(c[l] >> 16))) << 16;
    return static_cast<W>(packed);
  });
}

template <class W, unsigned kParts> Handler quick_handler(const Instruction& in) {
  if ((in.flags & (kFtz | kSat | kRelu)) != 0) return nullptr;
  switch (in.op) {
    case Op::add:
      return &quick_half<W, kParts, Quick::add>;
    case Op::sub:
      return &quick_half<W, kParts, Quick::sub>;
    case Op::mul:
      return &quick_half<W, kParts, Quick::mul>;
    case Op::mad:
    case Op::fma:
      return &quick_half<W, kParts, Quick::fma>;
    default:
      return nullptr;
  }
}

template <class N, class W, unsigned kParts> Handler half_handler(const Instruction& in) {
  if constexpr (std::is_same_v<N, lane::F16>)
    if (const Handler quick = quick_handler<W, kParts>(in); quick != nullptr) return quick;
  switch (in.op) {
    case Op::add:
      return &half<N, W, kParts, add>;
    case Op::sub:
      return &half<N, W, kParts, sub>;
    case Op::mul:
      return &half<N, W, kParts, mul>;
    case Op::mad:
    case Op::fma:
      return in.has(kRelu) ? &half<N, W, kParts, fma_relu> : &half<N, W, kParts, fma>;
    case Op::abs:
      return &half<N, W, kParts, abs>;
    case Op::neg:
      return &half<N, W, kParts, neg>;
    case Op::ex2:
      return &half<N, W, kParts, ex2>;
    case Op::tanh:
      return &half<N, W, kParts, tanh>;
    case Op::min:
      return in.has(kNan) ? &half<N, W, kParts, min<true>> : &half<N, W, kParts, min<false>>;
    case Op::max:
      return in.has(kNan) ? &half<N, W, kParts, max<true>> : &half<N, W, kParts, max<false>>;
    default:
      return nullptr;
  }
}

}  // namespace

bool decode_half(Decoder& d) {
  const Instruction& in = *d.in;
  Inst& out = *d.out;
  switch (in.type) {
    case Type::f16:
      out.run = half_handler<lane::F16, std::uint16_t, 1>(in);
      break;
    case Type::f16x2:
      out.run = half_handler<lane::F16, std::uint32_t, 2>(in);
      break;
    case Type::bf16:
      out.run = half_handler<lane::Bf16, std::uint16_t, 1>(in);
      break;
    case Type::bf16x2:
      out.run = half_handler<lane::Bf16, std::uint32_t, 2>(in);
      break;
    default:
      return false;
  }
  const bool selects = in.op == Op::min || in.op == Op::max, fuses = in.op == Op::fma || in.op == Op::mad;
  const std::uint64_t known =
      kFtz | kSat | kApprox | (selects ? std::uint64_t{kNan} : 0) | (fuses ? std::uint64_t{kRelu} : 0);
  if (out.run == nullptr || (in.flags & ~known) != 0 || (selects && in.sources != 2)) return false;
  out.option = static_cast<std::uint8_t>((in.has(kFtz) ? 1 : 0) | (in.has(kSat) ? 2 : 0));
  for (unsigned n = 0; n < in.sources && n < 3; ++n) d.take(n, in.type);
  for (unsigned n = in.sources; n < 3; ++n) out.src[n] = out.src[0];
  d.give(0, in.type);
  return true;
}

}  // namespace atl::ptx::exec
