#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "inputs/trace/deflate.hpp"

namespace atl {

/// What HDF5's own filters shuffle, deflate and Fletcher-32 make of a chunk, on any thread: the library runs them one chunk
/// after the other. Level 1 is Deflater's; 2 to 9 are zlib's, byte for byte as the library's; 0: checksum only.
class ChunkFilter {
 public:
  /// Replaces `out`. `element`: bytes of one.
  void apply(std::span<const std::uint8_t> chunk, unsigned element, unsigned level, std::vector<std::uint8_t>& out);

 private:
  Deflater deflater_;
  std::vector<std::uint8_t> shuffled_;
};

/// The checksum that HDF5's filter of this name appends.
std::uint32_t fletcher32(std::span<const std::uint8_t> bytes);

}  // namespace atl
