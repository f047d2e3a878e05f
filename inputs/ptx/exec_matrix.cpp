#include <algorithm>
#include <cmath>

#include "inputs/ptx/exec_float.hpp"
#include "inputs/ptx/exec_fragment.hpp"
#include "inputs/ptx/exec_narrow.hpp"

/// mma.sync and wmma.mma. Products of narrow floats are exact in double; they are added to c in double, in the order of k,
/// and rounded once to the result's type: PTX asks for at least the precision of that type. f64 rounds after each step,
/// integers are exact.
namespace atl::ptx::exec {
namespace {

constexpr unsigned kMost = 32;  // of rows, columns and k
using Matrix = std::array<std::array<double, kMost>, kMost>;

void gather(Warp& w, const Fragment& f, Layout layout, Matrix& out) {
  for (unsigned l = 0; l < kLanes; ++l)
    for (unsigned e = 0; e < f.elements; ++e) {
      const Cell c = layout(f, l, e);
      out[c.row][c.column] = element_of(w, f, l, e);
    }
}

std::uint64_t rounded_bits(double v, Type type, bool saturating) {
  switch (type) {
    case Type::f16:
      return lane::F16::round(v, lane::Round::rn);
    case Type::f32:
      return std::bit_cast<std::uint32_t>(lane::canonical(static_cast<float>(v)));
    case Type::f64:
      return std::bit_cast<std::uint64_t>(v);
    default:
      if (saturating) v = std::clamp(v, -0x1p31, 0x1p31 - 1);
      return static_cast<std::uint32_t>(static_cast<std::int64_t>(v));
  }
}

void multiply(Warp& w, const Inst& i) {
  want_whole_warp(w);
  const MatrixForm& m = w.frame().code->matrices[i.extra];
  Matrix a, b, c;
  gather(w, m.a, m.opaque ? &wmma_ab : &mma_a, a);
  gather(w, m.b, m.opaque ? &wmma_ab : &mma_b, b);
  const Layout layout = m.opaque ? &wmma_d : &mma_d;
  gather(w, m.c, layout, c);
  const bool steps = m.d.type == Type::f64;
  for (unsigned row = 0; row < m.a.rows; ++row)
    for (unsigned column = 0; column < m.b.width; ++column) {
      double sum = c[row][column];
      for (unsigned k = 0; k < m.a.width; ++k)
        sum = steps ? std::fma(a[row][k], b[k][column], sum) : sum + a[row][k] * b[k][column];
      c[row][column] = sum;
    }
  const unsigned bytes = size_of(m.d.type);
  for (unsigned l = 0; l < kLanes; ++l)
    for (unsigned e = 0; e < m.d.elements; ++e) {
      const Cell cell = layout(m.d, l, e);
      const std::uint64_t bits = rounded_bits(c[cell.row][cell.column], m.d.type, i.option != 0);
      std::memcpy(w.at<std::byte>(m.d.ref(*w.frame().code, e)) + std::size_t{l} * m.d.bytes + e % m.d.per_register * bytes,
                  &bits, bytes);
    }
}

bool among(Type type, std::initializer_list<Type> types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

/// Whether tensor cores have this combination of types.
bool exists(Type d, Type a, Type b, Type c) {
  if (a == Type::f16) return b == a && among(d, {Type::f16, Type::f32}) && among(c, {Type::f16, Type::f32});
  if (among(a, {Type::bf16, Type::tf32})) return b == a && d == Type::f32 && c == d;
  if (a == Type::f64) return b == a && d == a && c == a;
  if (among(a, {Type::s8, Type::u8})) return among(b, {Type::s8, Type::u8}) && d == Type::s32 && c == d;
  if (among(a, {Type::e4m3, Type::e5m2}))
    return among(b, {Type::e4m3, Type::e5m2}) && among(d, {Type::f16, Type::f32}) && c == d;
  return false;
}

/// Whether mma has them in this shape; the layouts hold for all of these.
bool exists(const MatrixShape& s, Type a) {
  const int piece = 16 / static_cast<int>(std::min(size_of(a), 4u));  // of k, that four lanes hold
  if (s.n != 8) return false;
  if (s.m == 8) return s.k == piece && (a == Type::f64 || a == Type::s8 || a == Type::u8);
  return s.m == 16 && (s.k == piece || s.k == 2 * piece || (a == Type::f64 && s.k == 4 * piece));
}

}  // namespace

bool decode_matrix(Decoder& d) {
  const Instruction& in = *d.in;
  const bool opaque = in.op == Op::wmma;
  if ((in.op != Op::mma && !opaque) || (opaque && in.mode != Mode::multiply) || in.shape == 0 || in.sources < 3)
    return false;
  if (in.round != Round::none && in.round != Round::rn) return false;  // of f64
  const MatrixShape& s = kShapes[in.shape - 1];
  const auto m = static_cast<unsigned>(s.m), n = static_cast<unsigned>(s.n), k = static_cast<unsigned>(s.k);
  // wmma of f16 names the types of d and c only.
  const bool halves = opaque && in.third_type == Type::none;
  MatrixForm form;
  form.opaque = opaque;
  form.d.type = in.type;
  form.a.type = halves ? Type::f16 : in.source_type;
  form.b.type = halves ? Type::f16 : in.third_type;
  form.c.type = halves ? in.source_type : in.fourth_type;
  if (!exists(form.d.type, form.a.type, form.b.type, form.c.type)) return false;
  // mma knows one layout; the first form of sm_70, with another one for f16, is not among them.
  if (!opaque && (in.has(kColumnA) || !in.has(kColumnB) || !exists(s, form.a.type))) return false;
  if (opaque && !has_fragments(s, form.a.type)) return false;
  form.a.rows = m, form.a.width = k, form.a.columns = in.has(kColumnA);
  form.b.rows = k, form.b.width = n, form.b.columns = in.has(kColumnB);
  form.c.rows = form.d.rows = m, form.c.width = form.d.width = n;
  if (!take_fragment(d, in.dst[0], true, form.d) || !take_fragment(d, in.src[0], false, form.a) ||
      !take_fragment(d, in.src[1], false, form.b) || !take_fragment(d, in.src[2], false, form.c))
    return false;
  const auto exact = [](const Fragment& f) { return f.elements * kLanes == f.rows * f.width; };
  if (!exact(form.c) || !exact(form.d) || (!opaque && (!exact(form.a) || !exact(form.b)))) return false;
  d.out->run = &multiply;
  d.out->option = in.has(kSatFinite);
  d.out->extra = static_cast<std::uint32_t>(d.code().matrices.size());
  d.code().matrices.push_back(form);
  return true;
}

}  // namespace atl::ptx::exec
