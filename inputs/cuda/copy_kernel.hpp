#pragma once
#include <cstdint>
#include <vector>

#include "inputs/workload/workload.hpp"

namespace atl::cuda {

/// Bytes that go from one device's memory to another's.
struct CopiedRow {
  std::uint64_t to = 0, from = 0, bytes = 0;
};

/// A copy between devices as a launch: blocks of 8 warps, each of which loads up to 8 times 512 bytes past the L1 and then
/// stores them, so that a block has 32 KiB under way. What copy engines do, but on the SMs of the device that copies.
class CopyKernel {
 public:
  explicit CopyKernel(std::vector<CopiedRow> rows);
  KernelInfo info() const;
  void load_cta(std::uint64_t cta, CtaProgram& out) const;

 private:
  static constexpr std::uint32_t kWarps = 8, kPiecesOfWarp = 8, kPieceBytes = 512;

  CopiedRow piece(std::uint64_t number) const;
  std::vector<CopiedRow> rows_;
  std::vector<std::uint64_t> first_piece_;  // of each row, and of what would follow the last
};

}  // namespace atl::cuda
