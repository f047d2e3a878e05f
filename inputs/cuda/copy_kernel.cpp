#include "inputs/cuda/copy_kernel.hpp"

#include <algorithm>

namespace atl::cuda {
namespace {

constexpr std::uint32_t kRegisters = 32;  // per thread: 16 bytes of each of 8 pieces in registers

/// Of the bytes, those in each block of 128; true if some sector is not covered whole.
bool add_accesses(CtaProgram& out, Op& op, std::uint64_t address, std::uint64_t bytes) {
  op.first_access = static_cast<std::uint32_t>(out.accesses.size());
  const std::uint64_t end = address + bytes;
  for (std::uint64_t block = address / Access::kBlockBytes * Access::kBlockBytes; block < end;
       block += Access::kBlockBytes) {
    const std::uint64_t low = std::max(address, block) - block, high = std::min<std::uint64_t>(end - block, 128);
    const auto first = static_cast<unsigned>(low / Access::kSectorBytes);
    const auto last = static_cast<unsigned>((high - 1) / Access::kSectorBytes);
    out.accesses.push_back(Access::make(block, (2u << last) - (1u << first)));
    ++op.accesses;
  }
  return address % Access::kSectorBytes != 0 || end % Access::kSectorBytes != 0;
}

}  // namespace

CopyKernel::CopyKernel(std::vector<CopiedRow> rows) : rows_(std::move(rows)), first_piece_{0} {
  for (const CopiedRow& row : rows_)
    first_piece_.push_back(first_piece_.back() + (row.bytes + kPieceBytes - 1) / kPieceBytes);
}

KernelInfo CopyKernel::info() const {
  KernelInfo info;
  info.name = "memcpy_peer";
  constexpr std::uint64_t kPieces = kWarps * kPiecesOfWarp;
  info.grid[0] = static_cast<std::uint32_t>((first_piece_.back() + kPieces - 1) / kPieces);
  info.block[0] = 32 * kWarps;
  info.registers_per_thread = kRegisters;
  return info;
}

CopiedRow CopyKernel::piece(std::uint64_t number) const {
  const auto row = std::upper_bound(first_piece_.begin(), first_piece_.end(), number) - first_piece_.begin() - 1;
  const CopiedRow& r = rows_[static_cast<std::size_t>(row)];
  const std::uint64_t at = (number - first_piece_[static_cast<std::size_t>(row)]) * kPieceBytes;
  return {r.to + at, r.from + at, std::min<std::uint64_t>(kPieceBytes, r.bytes - at)};
}

void CopyKernel::load_cta(std::uint64_t cta, CtaProgram& out) const {
  out.clear();
  for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
    const auto begin = static_cast<std::uint32_t>(out.ops.size());
    std::uint32_t pieces = 0;  // neighbouring warps have neighbouring pieces
    const auto number = [&](std::uint32_t n) { return (cta * kPiecesOfWarp + n) * kWarps + warp; };
    for (; pieces < kPiecesOfWarp && number(pieces) < first_piece_.back(); ++pieces) {
      Op load;
      load.kind = OpKind::load, load.flags = kBypassL1, load.slot = static_cast<std::uint8_t>(pieces);
      const CopiedRow p = piece(number(pieces));
      add_accesses(out, load, p.from, p.bytes);
      out.ops.push_back(load);
    }
    for (std::uint32_t n = 0; n < pieces; ++n) {
      Op store;
      store.kind = OpKind::store, store.wait = 1u << n;
      const CopiedRow p = piece(number(n));
      if (add_accesses(out, store, p.to, p.bytes)) store.flags = kPartial;
      out.ops.push_back(store);
    }
    Op end;
    end.kind = OpKind::exit;
    out.ops.push_back(end);
    out.warps.push_back({begin, static_cast<std::uint32_t>(out.ops.size()) - begin});
  }
}

}  // namespace atl::cuda
