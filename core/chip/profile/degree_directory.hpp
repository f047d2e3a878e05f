#pragma once
#include <cstdint>
#include <vector>

#include "core/engine/archive.hpp"
#include "core/engine/types.hpp"
#include "partition/replica_map.hpp"

namespace atl {

/// SelRep's Replication Degree Directory (SelRep section III-D): predicts, whatever degree is in force, whether a request
/// would hit at each degree. A block is a tag with one presence bit per cluster. A request hits the shared LLC if its tag is
/// present, and degree d if a cluster of its group has asked for the line since; the private LLC is the highest degree.
/// Where that has several clusters in a group, a bit is for a group: no degree tells them apart.
///
/// A set holds as many tags as the shared LLC's set. So the directory sees that each replica has to be fetched once, and
/// not that replicas take room from other lines: it is too optimistic for high degrees when they do.
class DegreeDirectory {
 public:
  DegreeDirectory(std::uint32_t sets, std::uint32_t ways, const ReplicaMap& map)
      : ways_(ways), block_(std::size_t{sets} * ways), group_(std::size_t{map.levels()} * map.clusters()), map_(&map) {
    const std::uint32_t top = map.levels() - 1;
    for (std::uint32_t cluster = 0; cluster < map.clusters(); ++cluster)
      own_.push_back(std::uint64_t{1} << map.group(cluster, top));
    for (std::uint32_t level = 0; level < map.levels(); ++level) {
      for (std::uint32_t a = 0; a < map.clusters(); ++a) {
        for (std::uint32_t b = 0; b < map.clusters(); ++b) {
          if (map.group(a, level) == map.group(b, level)) group_[level * map.clusters() + a] |= own_[b];
        }
      }
    }
  }

  /// A request of `cluster` for `line`, which falls into sampled set `set`. Bit l of the result: a hit at degree 2^l.
  std::uint32_t access(std::uint32_t set, LineAddr line, std::uint32_t cluster) {
    Block* const first = &block_[std::size_t{set} * ways_];
    Block* b = first;
    while (b != first + ways_ && b->tag != line.value) ++b;
    std::uint32_t hits = 0;
    if (b == first + ways_) {
      b = first;
      for (Block* other = first; other != first + ways_; ++other) {
        if (other->used < b->used) b = other;
      }
      *b = {line.value, 0, 0};
    } else {
      hits = 1;
      for (std::uint32_t level = 1; level < map_->levels(); ++level) {
        if ((b->present & group_[level * map_->clusters() + cluster]) != 0) hits |= 1u << level;
      }
    }
    b->used = ++clock_;
    b->present |= own_[cluster];
    return hits;
  }
  void clear() { std::fill(block_.begin(), block_.end(), Block{}); }
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, fixed(block_), clock_); }

 private:
  struct Block {
    using PlainState = void;
    std::uint64_t tag = ~std::uint64_t{0}, used = 0, present = 0;
  };
  std::uint32_t ways_;
  std::vector<Block> block_;
  std::vector<std::uint64_t> own_;    ///< [cluster] bit of its group at the highest degree: of at most 64 (validate.cpp)
  std::vector<std::uint64_t> group_;  ///< [level][cluster] bits of its group
  const ReplicaMap* map_;
  std::uint64_t clock_ = 0;
};

}  // namespace atl
