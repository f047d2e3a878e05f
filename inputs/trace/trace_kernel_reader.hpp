#pragma once
#include <H5Cpp.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "inputs/trace/cta_block.hpp"
#include "inputs/trace/trace_columns.hpp"

namespace atl {

/// The columns of one kernel of a trace, and the decoder of its blocks. Whoever makes or destroys one holds the Hdf5Lock;
/// decode() takes it itself, while it reads.
class TraceKernelReader {
 public:
  /// Of a file of that version. Checks the block index: later, a block can only be wrong inside.
  TraceKernelReader(const H5::H5File& file, const std::string& path, std::uint32_t version, std::size_t kernel,
                    const KernelInfo& info);

  std::size_t block_of(std::uint64_t cta) const;
  std::uint64_t first_cta(std::size_t block) const { return row(block)[trace_format::kCta]; }
  void decode(std::size_t block, CtaBlock& out);

 private:
  const std::uint64_t* row(std::size_t block) const { return &index_[block * trace_format::kIndexColumns]; }
  void check_index(std::uint64_t ctas);
  /// Columns of the rows between two of the block index.
  void read_block(const std::uint64_t* first, const std::uint64_t* last);
  void check_block(std::size_t block) const;
  void make_programs(std::size_t block);
  void check_size(std::size_t block, std::uint64_t accesses) const;
  void check_rows(std::size_t block, std::span<const Op> ops, const Access* accesses) const;
  [[noreturn]] static void fail(const std::string& where, std::size_t block, const std::string& what);

  std::string where_;
  std::uint32_t warps_per_cta_;
  bool warps_share_;                  ///< programs
  std::vector<std::uint64_t> index_;  ///< as of this version
  ColumnReader<std::uint64_t> block_index_;
  ColumnReader<std::uint32_t> cta_warps_, warp_program_, program_ops_, op_wait_;
  ColumnReader<std::uint16_t> op_issue_, op_latency_;
  ColumnReader<std::uint8_t> op_kind_, op_slot_, op_flags_, op_accesses_, access_sectors_, access_delta_;

  // Of the block being decoded.
  struct Program {
    std::uint32_t first = 0, count = 0;  ///< in ops_
    std::uint64_t accesses = 0;
    bool local = false;  ///< accesses local memory
  };
  std::vector<std::uint32_t> warps_, which_, counts_, wait_;
  std::vector<std::uint16_t> issue_, latency_;
  std::vector<std::uint8_t> kind_, slot_, flags_, accesses_, sectors_, bytes_;
  std::vector<Program> programs_;
  std::vector<Op> ops_;  ///< of the programs, counting accesses from the first one of their warp
};

}  // namespace atl
