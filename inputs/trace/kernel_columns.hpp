#pragma once
#include <H5Cpp.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "inputs/trace/chunk_queue.hpp"
#include "inputs/trace/content_key.hpp"
#include "inputs/trace/cta_columns.hpp"

namespace atl {

/// The columns of the kernel that is being written. Values are collected to chunks, which any thread compresses
/// (ChunkQueue); one thread gives them to the file as they are, in the order in which they became full. A column of one
/// chunk at most that an earlier kernel has, too, is the same dataset under another name: launches of one kernel often
/// differ by their addresses alone.
class KernelColumns {
 public:
  enum Column : unsigned {
    cta_warps,
    warp_program,
    program_ops,
    op_kind,
    op_slot,
    op_flags,
    op_accesses,
    op_issue,
    op_latency,
    op_wait,
    access_sectors,
    access_delta,
    block_index,
    kColumns
  };

  KernelColumns(unsigned level, unsigned helpers);

  template <typename T> void append(Column column, const T* values, std::size_t count) {
    append_bytes(column, reinterpret_cast<const std::uint8_t*>(values), count * sizeof(T));
  }
  /// The ops of a program that the block has not had; it begins at `op` of the CTA's.
  void append_program(const CtaColumns& cta, std::size_t program, std::size_t op);
  /// The accesses of a CTA, but for where the first one differs from the CTA before.
  void append_accesses(const CtaColumns& cta);
  /// Elements of a column so far.
  std::uint64_t size(Column column) const;

  /// Compresses what is due; any thread may call it.
  void help() { queue_.help(); }
  /// Gives the file what is done.
  void write_due(H5::H5File& file);
  /// Gives the file all chunks that are full, and returns a key of the columns. The kernel gets no more.
  ContentKey write_full(H5::H5File& file);
  /// The rest. Then the columns are those of the next kernel, whose group is another. `kernel`: the number by which the
  /// caller names the group.
  H5::Group write_rest(H5::H5File& file, std::uint64_t kernel);
  /// Forgets the kernel; what the file has of it is dropped.
  void drop();

 private:
  struct Written {
    std::unique_ptr<Chunk> chunk;  ///< that is being filled
    std::uint64_t full = 0;        ///< chunks that were
    std::uint64_t in_file = 0;     ///< of these
    H5::DataSet data;
  };
  void append_bytes(Column column, const std::uint8_t* bytes, std::size_t count);
  void push(Column column);
  H5::DSetCreatPropList chunked(hsize_t elements) const;
  void make_group(H5::H5File& file);
  void create(H5::H5File& file, Column column, hsize_t elements, const hsize_t* most,
              const H5::DSetCreatPropList& properties);
  void write(H5::H5File& file, const Chunk& chunk, hsize_t elements);
  void write_whole(H5::H5File& file, const Chunk& chunk, hsize_t elements);
  bool link_to_equal(H5::H5File& file, std::uint64_t kernel, Column column, hsize_t elements,
                     const std::vector<std::uint8_t>& bytes);
  void write_compact(H5::H5File& file, Column column, hsize_t elements);
  void reset();

  unsigned level_;
  ChunkQueue queue_;
  std::array<Written, kColumns> columns_;
  H5::Group group_;
  ContentKey key_;
  std::map<ContentKey::Value, std::uint64_t> equal_;  ///< content of a column -> first kernel with it
};

}  // namespace atl
