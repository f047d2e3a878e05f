#pragma once
#include "inputs/ptx/exec_decoder.hpp"

/// How the lanes' addresses of a memory instruction become host addresses.
namespace atl::ptx::exec {

struct Addresses {
  std::uint64_t host[kLanes];  ///< lanes that do not execute have that of one that does, so that all can be read
  bool global = false;         ///< all in global memory
  /// Known of what loads and stores access; lanes that do not execute are among "all".
  Spread spread = Spread::apart;
};

/// Inst::option of memory instructions.
enum MemoryOption : std::uint8_t {
  kNarrowBase = 1,  ///< 32-bit base register
  kWaits = 2,       ///< what spin loops are made of
  kIsStrong = 4,    ///< volatile, ordered or past the L1: does not race with its like
  kOrders = 8,      ///< acquires or releases
  kStores = 16,     ///< of matrices
  kTurns = 32,      ///< transposes
};

/// kIsStrong and kOrders of a memory instruction.
std::uint8_t strength_of(const Instruction& in);

/// Fills in Inst::src[0], value and option from an address operand.
void take_address(Decoder& d, const Operand& operand, unsigned slot = 0);

/// base + offset of all lanes, inactive ones set to that of the first active lane.
void offsets(Warp& w, Ref base, std::int64_t offset, bool narrow, std::uint64_t* out);

void resolve_global(Warp& w, const Inst& i, unsigned bytes, Addresses& out);
void resolve_shared(Warp& w, const Inst& i, unsigned bytes, Addresses& out);
void resolve_generic(Warp& w, const Inst& i, unsigned bytes, Addresses& out);
/// Checked, and heard of by the recorder; what is given are generic addresses.
void resolve_given(Warp& w, const std::uint64_t* address, unsigned bytes, Addresses& out);
/// The same in global memory of lanes that need not be those that execute: the others' addresses are not looked at, and
/// `bytes` may be any number. Lanes that are not active have the host address of one that is.
void resolve_part(Warp& w, const std::uint64_t* address, unsigned bytes, unsigned alignment, Addresses& out);

/// Whether a lane may access this in global memory. False: it is out of bounds, which is borne with.
bool is_global(Warp& w, unsigned lane, std::uint64_t address, unsigned bytes);
/// Where a texel, or elements of a surface, lie, checked like any access of global memory. Null: out of bounds, which is
/// borne with and will be told of.
std::byte* texel_at(Warp& w, unsigned lane, std::uint64_t address, unsigned bytes);
/// What stands for the access in the trace: the recorder and the check of accesses hear of it. Out of bounds, it is the
/// nearest end of the allocation. Not `accessed`: the lane gets a border, say, and there is no access.
void record_texel(Warp& w, unsigned lane, std::uint64_t address, unsigned bytes, bool accessed);

template <Space kSpace> inline void resolve(Warp& w, const Inst& i, unsigned bytes, Addresses& out) {
  if constexpr (kSpace == Space::shared)
    resolve_shared(w, i, bytes, out);
  else if constexpr (kSpace == Space::generic)
    resolve_generic(w, i, bytes, out);
  else
    resolve_global(w, i, bytes, out);
}

/// Other CTAs may notice this access, or change its outcome: it ends a short turn, and LaunchSpec::races hears of it.
/// `bytes` from each address, as resolved; `stored`: up to 8 bytes of each lane (null: loads).
void show(Warp& w, const Inst& i, const Addresses& at, unsigned bytes, const StoredValues* stored);
/// An atomic; lanes that are none of the `writers` only read.
void show_update(Warp& w, const Inst& i, const Addresses& at, unsigned bytes, std::uint32_t writers);
/// A fence; `others`: of other CTAs as well.
void show_fence(Warp& w, bool others);
inline bool shows(const Warp& w, const Inst& i) { return (i.watch & w.launch->watched) != 0; }

void record_addresses(Warp& w, const std::uint64_t* address, std::uint64_t window);
/// Of instructions whose lanes access as many bytes as registers say.
void record_bulk(Warp& w, const std::uint64_t* address, const std::uint64_t* bytes);

}  // namespace atl::ptx::exec
