#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/engine/archive.hpp"
#include "core/engine/prefetch.hpp"
#include "core/engine/types.hpp"

namespace atl {

/// Tags of a set-associative cache with true LRU and per-sector valid and dirty bits. Holds no data: the simulator needs
/// to know where a line is, not what is in it.
class TagArray {
 public:
  TagArray() = default;
  TagArray(std::uint32_t sets, std::uint32_t ways) : ways_(ways), line_(std::size_t{sets} * ways) {}

  static constexpr std::uint32_t kMiss = ~std::uint32_t{0};

  /// Index of the line's entry, or kMiss. Does not count as a use.
  std::uint32_t find(std::uint32_t set, LineAddr line) const {
    const Line* lines = line_.data() + std::size_t{set} * ways_;
    std::uint32_t way = kMiss;
    for (std::uint32_t w = 0; w < ways_; ++w) way = lines[w].tag == line.value ? w : way;
    return way == kMiss ? kMiss : set * ways_ + way;
  }
  void touch(std::uint32_t i) { line_[i].used = ++clock_; }

  /// The entry to replace: an invalid one, else the least recently used.
  std::uint32_t victim(std::uint32_t set) const {
    const std::uint32_t first = set * ways_;
    std::uint32_t best = first;
    for (std::uint32_t i = first; i < first + ways_; ++i) {
      if (line_[i].tag == kNone) return i;
      if (line_[i].used < line_[best].used) best = i;
    }
    return best;
  }
  /// LRU stamp: the higher, the more recently used.
  std::uint64_t used(std::uint32_t i) const { return line_[i].used; }
  std::uint32_t ways() const { return ways_; }
  /// Puts `line` into entry `i`, without valid sectors, as most recently used.
  void install(std::uint32_t i, LineAddr line) { line_[i] = {line.value, ++clock_, 0, 0}; }
  void invalidate(std::uint32_t i) { line_[i] = {}; }
  void invalidate_all() {
    std::fill(line_.begin(), line_.end(), Line{});
    clock_ = 0;
  }
  void prefetch(std::uint32_t set) const {
    const auto* p = reinterpret_cast<const char*>(line_.data() + std::size_t{set} * ways_);
    for (std::uint32_t at = 0; at < ways_ * sizeof(Line) && at < 256; at += 64) prefetch_address(p + at);
  }

  bool occupied(std::uint32_t i) const { return line_[i].tag != kNone; }
  LineAddr line(std::uint32_t i) const { return {line_[i].tag}; }
  std::uint8_t& valid(std::uint32_t i) { return line_[i].valid; }
  std::uint8_t valid(std::uint32_t i) const { return line_[i].valid; }
  std::uint8_t& dirty(std::uint32_t i) { return line_[i].dirty; }
  std::uint32_t entries() const { return static_cast<std::uint32_t>(line_.size()); }

  template <class Archive> void serialize(Archive& a, unsigned) { state(a, fixed(line_), clock_); }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  /// Tag and state lie together: a set of four ways is one cache line of the host.
  struct Line {
    using PlainState = void;
    std::uint64_t tag = kNone;
    std::uint64_t used : 48 = 0;  ///< LRU stamp
    std::uint8_t valid = 0, dirty = 0;
  };
  static_assert(sizeof(Line) == 16);
  std::uint32_t ways_ = 1;
  std::vector<Line> line_;
  std::uint64_t clock_ = 0;
};

}  // namespace atl
