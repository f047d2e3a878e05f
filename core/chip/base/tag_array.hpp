#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/chip/base/line_index.hpp"
#include "core/chip/base/ways_in_order.hpp"
#include "core/engine/archive.hpp"
#include "core/engine/prefetch.hpp"
#include "core/engine/types.hpp"

namespace atl {

/// Tags of a set-associative cache with true LRU and per-sector valid and dirty bits. Holds no data: the simulator needs
/// to know where a line is, not what is in it.
///
/// A set of few ways is looked through. Of many ways (Accel-Sim's L1s have 192 and 256) lines are found by an index, and the
/// next victim by the order of use.
class TagArray {
 public:
  TagArray() = default;
  TagArray(std::uint32_t sets, std::uint32_t ways) : ways_(ways), line_(std::size_t{sets} * ways) {
    if (ways > kFewWays) index_ = LineIndex<std::uint32_t>(line_.size()), order_ = WaysInOrder(sets, ways);
  }

  static constexpr std::uint32_t kMiss = ~std::uint32_t{0};

  /// Index of the line's entry, or kMiss. Does not count as a use.
  [[gnu::always_inline]] std::uint32_t find(std::uint32_t set, LineAddr line) const {
    if (ways_ > kFewWays) [[unlikely]]
      return find_by_index(line);
    const Line* lines = line_.data() + std::size_t{set} * ways_;
    std::uint32_t way = kMiss;
    for (std::uint32_t w = 0; w < ways_; ++w) way = lines[w].tag == line.value ? w : way;
    return way == kMiss ? kMiss : set * ways_ + way;
  }
  void touch(std::uint32_t i) {
    line_[i].used = ++clock_;
    if (ways_ > kFewWays) [[unlikely]]
      order_.use(i);
  }

  /// The entry to replace: an invalid one, else the least recently used.
  std::uint32_t victim(std::uint32_t set) const {
    if (ways_ > kFewWays) [[unlikely]]
      return order_.victim(set);
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
  void install(std::uint32_t i, LineAddr line) {
    if (ways_ > kFewWays) [[unlikely]]
      put_into_index(i, line);
    line_[i] = {line.value, ++clock_, 0, 0};
  }
  void invalidate(std::uint32_t i) {
    if (ways_ > kFewWays && occupied(i)) index_.erase(line(i), i), order_.free(i);
    line_[i] = {};
  }
  void invalidate_all() {
    std::fill(line_.begin(), line_.end(), Line{});
    clock_ = 0;
    if (ways_ > kFewWays) index_.clear(), order_.free_all();
  }
  /// What a look-up of the line, or its installation, will touch.
  void prefetch(std::uint32_t set, LineAddr line) const {
    if (ways_ > kFewWays) return index_.prefetch(line);
    const auto* p = reinterpret_cast<const char*>(line_.data() + std::size_t{set} * ways_);
    for (std::uint32_t at = 0; at < ways_ * sizeof(Line); at += 64) prefetch_address(p + at);
  }
  /// What putting a line into the set in place of another will touch besides.
  void prefetch_victim(std::uint32_t set) const {
    if (ways_ > kFewWays) prefetch_address(&line_[order_.victim(set)]);
  }

  bool occupied(std::uint32_t i) const { return line_[i].tag != kNone; }
  LineAddr line(std::uint32_t i) const { return {line_[i].tag}; }
  std::uint8_t& valid(std::uint32_t i) { return line_[i].valid; }
  std::uint8_t valid(std::uint32_t i) const { return line_[i].valid; }
  std::uint8_t& dirty(std::uint32_t i) { return line_[i].dirty; }
  std::uint32_t entries() const { return static_cast<std::uint32_t>(line_.size()); }

  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, fixed(line_), clock_);
    if constexpr (!Archive::is_saving::value) find_order();
  }

 private:
  static constexpr std::uint32_t kFewWays = 16;  ///< whose tags are a few cache lines of the host
  struct LineOf {
    const TagArray& tags;
    LineAddr operator()(std::uint32_t i) const { return tags.line(i); }
  };
  LineOf line_of() const { return {*this}; }
  // Calls, so that gcc has what a look at few ways takes where it is needed.
  [[gnu::noinline]] std::uint32_t find_by_index(LineAddr line) const { return index_.find(line, line_of()); }
  [[gnu::noinline]] void put_into_index(std::uint32_t i, LineAddr line) {
    if (occupied(i)) index_.erase(this->line(i), i);
    index_.insert(line, i), order_.use(i);
  }
  /// Index and order of the lines as they are.
  void find_order() {
    if (ways_ <= kFewWays) return;
    index_.clear(), order_.free_all();
    std::vector<std::uint32_t> used;
    for (std::uint32_t i = 0; i < entries(); ++i)
      if (occupied(i)) used.push_back(i);
    std::sort(used.begin(), used.end(), [this](std::uint32_t a, std::uint32_t b) {
      return line_[a].used != line_[b].used ? line_[a].used < line_[b].used : a < b;
    });
    for (const std::uint32_t i : used) {
      require_state(index_.find(line(i), line_of()) == index_.kNone);
      index_.insert(line(i), i), order_.use(i);
    }
  }

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
  LineIndex<std::uint32_t> index_;  ///< of many ways, and their order
  WaysInOrder order_;
};

}  // namespace atl
