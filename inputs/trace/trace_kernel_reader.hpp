#pragma once
#include <H5Cpp.h>

#include <cstdint>
#include <string>
#include <vector>

#include "inputs/trace/cta_block.hpp"
#include "inputs/trace/trace_columns.hpp"

namespace atl {

/// The columns of one kernel of a trace, and the decoder of its blocks. Whoever makes or destroys one holds the Hdf5Lock;
/// decode() takes it itself, while it reads.
class TraceKernelReader {
 public:
  /// Checks the block index: later, a block can only be wrong inside.
  TraceKernelReader(const H5::H5File& file, const std::string& path, std::size_t kernel, const KernelInfo& info);

  std::size_t block_of(std::uint64_t cta) const;
  std::uint64_t first_cta(std::size_t block) const { return row(block)[0]; }
  void decode(std::size_t block, CtaBlock& out);

 private:
  const std::uint64_t* row(std::size_t block) const { return &index_[block * trace_format::kIndexColumns]; }
  void check_index(std::uint64_t ctas);
  /// Columns of the rows between two of the block index.
  void read_block(const std::uint64_t* first, const std::uint64_t* last);
  void check_rows(std::size_t block, const CtaBlock& read, std::size_t op, std::size_t end, std::size_t cta_access) const;
  void check_block(std::size_t block, std::uint64_t accesses) const;
  [[noreturn]] static void fail(const std::string& where, std::size_t block, const std::string& what);

  std::string where_;
  std::uint32_t warps_per_cta_;
  std::vector<std::uint64_t> index_;
  ColumnReader<std::uint64_t> block_index_;
  ColumnReader<std::uint32_t> cta_warps_, warp_ops_, op_wait_;
  ColumnReader<std::uint16_t> op_issue_, op_latency_;
  ColumnReader<std::uint8_t> op_kind_, op_slot_, op_flags_, op_accesses_, access_sectors_, access_delta_;
  // Buffers of the block being decoded.
  std::vector<std::uint32_t> warps_, counts_, wait_;
  std::vector<std::uint16_t> issue_, latency_;
  std::vector<std::uint8_t> kind_, slot_, flags_, accesses_, sectors_, bytes_;
};

}  // namespace atl
