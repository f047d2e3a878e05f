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

template <class N, class W, unsigned kParts> Handler half_handler(const Instruction& in) {
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
