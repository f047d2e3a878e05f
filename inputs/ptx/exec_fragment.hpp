#pragma once
#include "inputs/ptx/exec_decoder.hpp"
#include "inputs/ptx/matrix_shape.hpp"

/// Which elements of a matrix a lane holds, and in which registers.
namespace atl::ptx::exec {

struct Cell {
  unsigned row = 0, column = 0;
};

/// mma.sync, as the PTX ISA draws it: groups of four lanes hold rows of a and d, and columns of b.
inline Cell mma_a(const Fragment& f, unsigned lane, unsigned e) {
  const unsigned unit = f.per_register, halves = f.rows / 8, part = e / unit;
  return {lane / 4 + 8 * (part % halves), part / halves * 4 * unit + lane % 4 * unit + e % unit};
}
inline Cell mma_b(const Fragment& f, unsigned lane, unsigned e) {
  const unsigned unit = f.per_register;
  return {e / unit * 4 * unit + lane % 4 * unit + e % unit, lane / 4};
}
inline Cell mma_d(const Fragment&, unsigned lane, unsigned e) { return {lane / 4 + e / 2 * 8, lane % 4 * 2 + e % 2}; }

/// wmma, whose fragments are opaque: neighbours in memory lie in one lane. Where lanes have room for more, elements repeat.
inline Cell wmma_ab(const Fragment& f, unsigned lane, unsigned e) {
  const unsigned own = f.rows * f.width / kLanes, at = lane * own + e % own;
  if (f.columns) return {at % f.rows, at / f.rows};
  return {at / f.width, at % f.width};
}
/// Tiles of 8 x 8, each as mma_d() has it.
inline Cell wmma_d(const Fragment& f, unsigned lane, unsigned e) {
  const unsigned tile = e / 2, down = f.rows / 8;
  return {tile % down * 8 + lane / 4, tile / down * 8 + lane % 4 * 2 + e % 2};
}

using Layout = Cell (*)(const Fragment&, unsigned lane, unsigned element);

/// The registers of an operand, as results or sources. False: they do not hold whole elements of the type, or not as many as
/// the matrix has.
bool take_fragment(Decoder& d, const Operand& operand, bool result, Fragment& f);

/// Whether wmma has fragments of this type for the shape; c and d are of f16, f32, s32 or f64.
bool has_fragments(const MatrixShape& shape, Type type);

/// One element as a number; integers are exact in a double as well. tf32 drops the bits that the format does not have.
double element_of(Warp& w, const Fragment& f, unsigned lane, unsigned element);

/// mma and wmma want the whole warp.
void want_whole_warp(const Warp& w);

}  // namespace atl::ptx::exec
