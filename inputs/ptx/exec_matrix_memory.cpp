#include <algorithm>

#include "inputs/ptx/exec_fragment.hpp"
#include "inputs/ptx/exec_memory.hpp"

/// wmma.load and wmma.store, ldmatrix, stmatrix and movmatrix.
namespace atl::ptx::exec {
namespace {

/// base + offset of all lanes as generic addresses. Inst::target: the window.
void bases(Warp& w, const Inst& i, std::uint64_t* out) {
  offsets(w, i.src[0], i.value, (i.option & kNarrowBase) != 0, out);
  if (i.target != 0)
    for (unsigned l = 0; l < kLanes; ++l) out[l] |= kSharedWindow;
}
void take_base(Decoder& d, const Operand& address) {
  take_address(d, address);
  d.out->target = d.in->space == Space::shared;
}

Layout layout_of(const MatrixForm& m) { return m.opaque ? &wmma_d : &wmma_ab; }  // opaque: c or d

/// Inst: src[1] stride in elements, bytes of a piece, traced pieces, extra the fragment.
void load_fragment(Warp& w, const Inst& i) {
  want_whole_warp(w);
  const MatrixForm& m = w.frame().code->matrices[i.extra];
  const Fragment& f = m.d;
  const unsigned size = size_of(f.type), in_piece = i.bytes / size;
  const bool stores = (i.option & kStores) != 0;
  std::uint64_t base[kLanes], from[kLanes], value[kLanes];
  bases(w, i, base);
  const auto* stride = w.at<std::uint32_t>(i.src[1]);
  if (stores) w.change();
  for (unsigned piece = 0; piece < i.traced; ++piece) {
    for (unsigned l = 0; l < kLanes; ++l) {
      const Cell c = layout_of(m)(f, l, piece * in_piece);
      const std::uint64_t along = f.columns ? c.row : c.column, across = f.columns ? c.column : c.row;
      from[l] = base[l] + (across * stride[l] + along) * size;
    }
    Addresses at;
    resolve_given(w, from, i.bytes, at);
    for (unsigned l = 0; l < kLanes; ++l) {
      value[l] = 0;
      for (unsigned n = 0; n < in_piece; ++n) {
        auto* memory = reinterpret_cast<std::byte*>(at.host[l] + std::size_t{n} * size);
        for (unsigned e = piece * in_piece + n; e < f.elements; e += i.traced * in_piece) {  // and where it repeats
          std::byte* reg = w.at<std::byte>(f.ref(*w.frame().code, e)) + std::size_t{l} * f.bytes + e % f.per_register * size;
          std::memcpy(stores ? memory : reg, stores ? reg : memory, size);
        }
      }
      if (stores) std::memcpy(&value[l], reinterpret_cast<const void*>(at.host[l]), i.bytes);
    }
    const StoredValues stored(value);
    if (shows(w, i)) show(w, i, at, i.bytes, stores ? &stored : nullptr);
  }
}

bool decode_fragment(Decoder& d) {
  const Instruction& in = *d.in;
  Inst& out = *d.out;
  if (in.mode == Mode::multiply || in.mode == Mode::none || in.shape == 0 || in.sources < 1) return false;
  if (in.space != Space::shared && in.space != Space::global && in.space != Space::generic) return false;
  const MatrixShape& s = kShapes[in.shape - 1];
  const bool stores = in.mode == Mode::store_d, a = in.mode == Mode::load_a, b = in.mode == Mode::load_b;
  MatrixForm m;
  m.opaque = !a && !b;
  Fragment& f = m.d;
  f.type = in.type, f.columns = in.has(kColumnA);
  f.rows = static_cast<unsigned>(b ? s.k : s.m), f.width = static_cast<unsigned>(a ? s.k : s.n);
  const bool narrow = f.type == Type::f16 || f.type == Type::bf16 || f.type == Type::tf32 || f.type == Type::s8 ||
                      f.type == Type::u8 || f.type == Type::f64;
  const bool wide = f.type == Type::f16 || f.type == Type::f32 || f.type == Type::s32 || f.type == Type::f64;
  if ((m.opaque ? !wide : !narrow) || !has_fragments(s, f.type)) return false;
  if (!take_fragment(d, stores ? in.src[1] : in.dst[0], !stores, f)) return false;
  const unsigned own = f.rows * f.width / kLanes;  // of each lane, not repeated
  if (own == 0 || (m.opaque && f.elements != own)) return false;
  take_base(d, in.src[0]);
  const Operand& stride = in.src[stores ? 2 : 1];
  out.src[1] = stride.is(Operand::none) ? d.constant(f.columns ? f.rows : f.width, 4) : d.source(stride, Type::u32);
  const unsigned size = size_of(f.type), row_piece = m.opaque ? (f.columns ? 1 : 2) : own;
  out.bytes = static_cast<std::uint8_t>(std::min(row_piece * size, m.opaque ? 8u : 16u));
  out.bytes = std::max<std::uint8_t>(out.bytes, static_cast<std::uint8_t>(size));
  out.count = 1;
  out.traced = static_cast<std::uint8_t>(own * size / out.bytes);
  out.option |= stores ? kStores : 0;
  out.watch = in.space == Space::shared ? 0 : !stores && in.read_only ? kShowsUnmarked : kShows;
  out.extra = static_cast<std::uint32_t>(d.code().matrices.size());
  d.code().matrices.push_back(m);
  out.run = &load_fragment;
  return true;
}

/// A matrix of 8 x 8 elements of 16 bits, as its 32 words: lane 4 * row + n has word n of the row.
using Words = std::array<std::uint32_t, kLanes>;

Words transposed(const Words& w) {
  const auto element = [&](unsigned row, unsigned column) {
    return w[row * 4 + column / 2] >> (16 * (column % 2)) & 0xFFFF;
  };
  Words out{};
  for (unsigned l = 0; l < kLanes; ++l) {
    const unsigned row = l / 4, column = l % 4 * 2;
    out[l] = element(column, row) | element(column + 1, row) << 16;
  }
  return out;
}

/// Inst: refs[extra..] a register for each matrix. The rows of matrix n lie where lanes 8 n to 8 n + 7 say.
void move_matrices(Warp& w, const Inst& i) {
  want_whole_warp(w);
  std::uint64_t row[kLanes], word[kLanes];
  bases(w, i, row);
  const Ref* refs = w.frame().code->refs.data() + i.extra;
  const bool stores = (i.option & kStores) != 0, turns = (i.option & kTurns) != 0;
  if (stores) w.change();
  for (unsigned matrix = 0; matrix < i.traced; ++matrix) {
    for (unsigned l = 0; l < kLanes; ++l) {
      const std::uint64_t begin = row[matrix * 8 + l / 4];
      if (begin % 16 != 0)
        throw Fault{ExecutionError::Kind::misaligned, matrix * 8 + l / 4, "a row of a matrix is not aligned to 16 bytes"};
      word[l] = begin + l % 4 * 4;
    }
    Addresses at;
    resolve_given(w, word, 4, at);
    auto* reg = w.at<std::uint32_t>(refs[matrix]);
    Words words{};
    for (unsigned l = 0; l < kLanes; ++l) {
      if (stores)
        words[l] = reg[l];
      else
        std::memcpy(&words[l], reinterpret_cast<const void*>(at.host[l]), 4);
    }
    if (turns) words = transposed(words);
    for (unsigned l = 0; l < kLanes; ++l) {
      if (stores)
        std::memcpy(reinterpret_cast<void*>(at.host[l]), &words[l], 4);
      else
        reg[l] = words[l];
    }
  }
}

bool decode_matrices(Decoder& d) {
  const Instruction& in = *d.in;
  Inst& out = *d.out;
  const bool stores = in.op == Op::stmatrix;
  const std::vector<Operand> registers = d.elements(stores ? in.src[1] : in.dst[0]);
  if ((in.vector != 1 && in.vector != 2 && in.vector != 4) || registers.size() != in.vector || in.type != Type::b16 ||
      (in.space != Space::shared && in.space != Space::generic))
    return false;
  take_base(d, in.src[0]);
  out.extra = static_cast<std::uint32_t>(d.code().refs.size());
  std::vector<Ref> refs;
  for (const Operand& r : registers) refs.push_back(stores ? d.source(r, Type::b32) : d.result(r, Type::b32));
  d.code().refs.insert(d.code().refs.end(), refs.begin(), refs.end());
  out.bytes = 4, out.count = 1, out.traced = in.vector;
  out.option |= static_cast<std::uint8_t>((stores ? kStores : 0) | (in.has(kTrans) ? kTurns : 0));
  out.run = &move_matrices;
  return true;
}

void turn_matrix(Warp& w, const Inst& i) {
  want_whole_warp(w);
  Words words{};
  std::copy_n(w.at<std::uint32_t>(i.src[0]), kLanes, words.begin());
  words = transposed(words);
  std::copy(words.begin(), words.end(), w.at<std::uint32_t>(i.dst[0]));
}

}  // namespace

bool decode_matrix_memory(Decoder& d) {
  switch (d.in->op) {
    case Op::wmma:
      return decode_fragment(d);
    case Op::ldmatrix:
    case Op::stmatrix:
      return decode_matrices(d);
    case Op::movmatrix:
      if (d.in->type != Type::b16 || !d.in->has(kTrans)) return false;
      d.out->run = &turn_matrix;
      d.take(0, Type::b32), d.give(0, Type::b32);
      return true;
    default:
      return false;
  }
}

}  // namespace atl::ptx::exec
