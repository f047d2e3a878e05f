#pragma once
#include <cstdint>
#include <vector>

#include "core/engine/archive.hpp"
#include "core/engine/types.hpp"

namespace atl {

/// Tags of sampled LLC sets as they would be at every replication degree, with that degree's loss of capacity: our variant
/// of SelRep's directory, larger by the number of degrees times the slices of a router.
class ShadowTags {
 public:
  /// `indices` set indices are sampled, in each of `slices` slices.
  ShadowTags(std::uint32_t levels, std::uint32_t slices, std::uint32_t indices, std::uint32_t ways)
      : slices_(slices), indices_(indices), ways_(ways), block_(std::size_t{levels} * slices * indices * ways) {}

  /// A request that degree 2^level sends to `slice`, for a line of sampled index `index`. True: a hit. LRU.
  bool access(std::uint32_t level, std::uint32_t slice, std::uint32_t index, LineAddr line) {
    Block* const first = &block_[((std::size_t{level} * slices_ + slice) * indices_ + index) * ways_];
    Block* oldest = first;
    for (Block* b = first; b != first + ways_; ++b) {
      if (b->tag == line.value) {
        b->used = ++clock_;
        return true;
      }
      if (b->used < oldest->used) oldest = b;
    }
    *oldest = {line.value, ++clock_};
    return false;
  }
  void clear() { std::fill(block_.begin(), block_.end(), Block{}); }
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, fixed(block_), clock_); }

 private:
  struct Block {
    using PlainState = void;
    std::uint64_t tag = ~std::uint64_t{0}, used = 0;
  };
  std::uint32_t slices_, indices_, ways_;
  std::vector<Block> block_;
  std::uint64_t clock_ = 0;
};

}  // namespace atl
