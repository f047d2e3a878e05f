#pragma once
#include <cstdint>
#include <string_view>

/// What a PTX instruction says: opcode and modifiers as small enums, after the PTX ISA. A form is an opcode with
/// independent modifiers, never an entry of its own: real programs use some 430 forms of 70 opcodes.
namespace atl::ptx {

// clang-format off
enum class Op : std::uint8_t {
  abs, activemask, add, addc, and_, applypriority, atom, bar, bfe, bfi, bfind, bmsk, bra, brev, brkpt, brx, call, clz, cnot,
  copysign, cos, cp, createpolicy, cvt, cvta, discard, div, dp2a, dp4a, elect, ex2, exit, fence, fma, fns, getctarank,
  griddepcontrol, isspacep, ld, ldmatrix, ldu, lg2,
  lop3, mad, mad24, madc, mapa, match, max, mbarrier, membar, min, mma, mov, movmatrix, mul, mul24, nanosleep, neg, not_, or_, pmevent, popc, prefetch,
  prmt, rcp, red, redux, rem, ret, rsqrt, sad, selp, set, setmaxnreg, setp, shf, shfl, shl, shr, sin, slct, sqrt, st, stmatrix, sub,
  subc, suld, sust, szext, tanh, testp, tex, tld4, trap, txq, video, vote, wmma, xor_,
  unsupported,  ///< only with Unsupported::keep: an error when executed; `Function::spelling` names it
  bulk,         ///< cp.async.bulk and cp.reduce.async.bulk, which are spelled as forms of `cp`
};
// clang-format on

// clang-format off
enum class Type : std::uint8_t {
  none, pred, b8, b16, b32, b64, b128, u8, u16, u32, u64, s8, s16, s32, s64, f16, f16x2, bf16, bf16x2, f32, f64,
  tf32, e4m3, e5m2, e4m3x2, e5m2x2, u16x2, s16x2, texref, samplerref, surfref,
};
// clang-format on

/// Bytes of a value in memory; predicates count as one byte, opaque references as a 64-bit handle.
constexpr unsigned size_of(Type t) {
  switch (t) {
    case Type::none:
      return 0;
    case Type::pred:
    case Type::b8:
    case Type::u8:
    case Type::s8:
    case Type::e4m3:
    case Type::e5m2:
      return 1;
    case Type::b16:
    case Type::u16:
    case Type::s16:
    case Type::f16:
    case Type::bf16:
    case Type::e4m3x2:
    case Type::e5m2x2:
      return 2;
    case Type::b32:
    case Type::u32:
    case Type::s32:
    case Type::f32:
    case Type::f16x2:
    case Type::bf16x2:
    case Type::tf32:
    case Type::u16x2:
    case Type::s16x2:
      return 4;
    case Type::b128:
      return 16;
    default:
      return 8;
  }
}
/// The type without a meaning of so many bytes.
constexpr Type bit_type(unsigned bytes) {
  return bytes == 1 ? Type::b8 : bytes == 2 ? Type::b16 : bytes == 4 ? Type::b32 : Type::b64;
}
constexpr bool is_signed(Type t) { return t >= Type::s8 && t <= Type::s64; }
constexpr bool is_float(Type t) { return t >= Type::f16 && t <= Type::f64; }

enum class Space : std::uint8_t { generic, global, shared, local, param, constant };

/// setp, set. The `u` comparisons (equ..) are true for unordered operands; lo..hs compare unsigned.
enum class Compare : std::uint8_t { none, eq, ne, lt, le, gt, ge, lo, ls, hi, hs, equ, neu, ltu, leu, gtu, geu, num, nan };

/// How setp and set combine the comparison with the predicate operand (src[2]).
enum class BoolOp : std::uint8_t { none, and_, or_, xor_ };

/// rn..rp round to a float, rni..rpi to an integral value; rna: to nearest, ties away from zero.
enum class Round : std::uint8_t { none, rn, rz, rm, rp, rni, rzi, rmi, rpi, rna };

/// Which part of a product mul, mad, madc, mul24 deliver; `wide`: the type is that of the factors.
enum class Part : std::uint8_t { none, lo, hi, wide };

/// What an opcode with variants does.
// clang-format off
enum class Mode : std::uint8_t {
  none,
  add, min, max, and_, or_, xor_, inc, dec, exch, cas, popc,      // atom, red, redux, bar.red
  up, down, bfly, idx,                                            // shfl
  all, any, uni, ballot,                                          // vote, match (all, any)
  sync, arrive, warp_sync, wait,                                  // bar; bar.red is `and_`, `or_` or `popc`; wait: cluster
  f4e, b4e, rc8, ecl, ecr, rc16,                                  // prmt; none: by selector
  finite, infinite, number, notanumber, normal, subnormal,        // testp
  left, right,                                                    // shf
  to_generic, from_generic,                                       // cvta, cvta.to
  copy, commit_group, wait_group, wait_all, mbarrier_arrive,      // cp.async
  prefetch,                                                       // bulk (and copy, commit_group, wait_group, add...)
  init, inval, arrive_drop, test_wait, try_wait, pending_count,   // mbarrier (and arrive)
  expect_tx, complete_tx,                                         // mbarrier
  width, height, depth, channel_data_type, channel_order,         // txq
  load_a, load_b, load_c, store_d, multiply,                      // wmma
  v_add, v_sub, v_absdiff, v_avrg, v_min, v_max, v_set, v_shl, v_shr,  // video
};
// clang-format on

enum class Scope : std::uint8_t { none, cta, cluster, gpu, sys };
enum class Order : std::uint8_t { none, weak, relaxed, acquire, release, acq_rel, sc, mmio };
enum class Cache : std::uint8_t { none, ca, cg, cs, lu, cv, wb, wt };
enum class Geometry : std::uint8_t { none, d1, d2, d3, a1d, a2d, cube, acube, d2ms, a2dms };

enum Flag : std::uint64_t {
  kFtz = 1u << 0,
  kSat = 1u << 1,
  kApprox = 1u << 2,
  kFull = 1u << 3,
  kCarryOut = 1u << 4,  ///< .cc: writes the carry flag; addc, subc and madc read it
  kUni = 1u << 5,       ///< bra.uni, call.uni, ret.uni
  kSync = 1u << 6,      ///< .sync with a member mask operand (shfl, vote, match, redux)
  kAligned = 1u << 7,
  kVolatile = 1u << 8,
  kNonCoherent = 1u << 9,   ///< ld.global.nc
  kWrap = 1u << 10,         ///< shf, bmsk
  kClamp = 1u << 11,        ///< shf, bmsk, surface accesses
  kShiftAmount = 1u << 12,  ///< bfind.shiftamt
  kNan = 1u << 13,          ///< min.NaN, max.NaN
  kXorSign = 1u << 14,      ///< min/max.xorsign.abs
  kRelu = 1u << 15,
  kNoFtz = 1u << 16,
  kLevel = 1u << 17,  ///< tex.level: src[2] is the level of detail
  kGrad = 1u << 18,   ///< tex.grad: src[2], src[3] are vectors
  kTrap = 1u << 19,   ///< surface accesses out of bounds; the default
  kZero = 1u << 20,
  kFormatted = 1u << 21,   ///< sust.p
  kNoComplete = 1u << 22,  ///< mbarrier.noComplete, cp.async.mbarrier.arrive.noinc
  kParity = 1u << 23,      ///< mbarrier.test_wait.parity
  kTrans = 1u << 24,       ///< ldmatrix, stmatrix, movmatrix
  kSum = 1u << 25,         ///< video instructions: .add
  kColumnA = 1u << 26,     ///< mma, wmma: the first matrix lies in memory, or in fragments, column by column
  kColumnB = 1u << 27,
  kLayoutSeen = 1u << 28,
  kExpectTx = 1u << 29,     ///< mbarrier.arrive.expect_tx
  kMulticast = 1u << 30,    ///< bulk copies to several CTAs of a cluster
  kAsync = 1u << 31,        ///< st.async, red.async
  kSatFinite = 1ull << 32,  ///< cvt, mma: .satfinite, to the largest finite number
  kCacheHint = 1ull << 33,  ///< .L2::cache_hint: a policy is the last operand
};

// clang-format off
enum class Special : std::uint8_t {
  tid_x, tid_y, tid_z, ntid_x, ntid_y, ntid_z, ctaid_x, ctaid_y, ctaid_z, nctaid_x, nctaid_y, nctaid_z, laneid,
  warpid, nwarpid, smid, nsmid, gridid, warp_size, lanemask_eq, lanemask_le, lanemask_lt, lanemask_ge, lanemask_gt,
  clock, clock_hi, clock64, globaltimer, globaltimer_lo, globaltimer_hi, dynamic_smem_size, total_smem_size,
  aggr_smem_size,
  reserved_smem, reserved_smem_1,
  envreg,  ///< Operand::value is its number
  pm,      ///< %pm0 to %pm7 and %pm0_64 to %pm7_64, of which PTX leaves the value open: 0
  clusterid_x, clusterid_y, clusterid_z, nclusterid_x, nclusterid_y, nclusterid_z, cluster_ctaid_x, cluster_ctaid_y,
  cluster_ctaid_z, cluster_nctaid_x, cluster_nctaid_y, cluster_nctaid_z, cluster_ctarank, cluster_nctarank,
  is_explicit_cluster,
};
// clang-format on

std::string_view name_of(Op op);      ///< as PTX spells it
std::string_view name_of(Type type);  ///< without the dot
std::string_view name_of(Space space);

}  // namespace atl::ptx
