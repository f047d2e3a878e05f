#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

struct libdeflate_compressor;

namespace atl {

/// What HDF5's filters shuffle, deflate and Fletcher-32 read, made of a chunk on any thread: HDF5 runs its own one chunk
/// after the other. Each object is for one thread at a time. The same bytes give the same result, whatever came before.
class ChunkFilter {
 public:
  /// `level`: 1 to 9; 0: checksum only.
  explicit ChunkFilter(unsigned level);
  /// Replaces `out`. `element`: bytes of one.
  void apply(std::span<const std::uint8_t> chunk, unsigned element, std::vector<std::uint8_t>& out);

 private:
  struct Free {
    void operator()(libdeflate_compressor* compressor) const;
  };
  std::unique_ptr<libdeflate_compressor, Free> compressor_;  ///< none at level 0
  std::vector<std::uint8_t> shuffled_;
};

/// The checksum that HDF5's filter of this name appends.
std::uint32_t fletcher32(std::span<const std::uint8_t> bytes);

}  // namespace atl
