#pragma once
#include <cstdint>
#include <vector>

#include "core/engine/types.hpp"

namespace atl {

/// Tags of a set-associative cache with true LRU and per-sector valid and dirty bits. Holds no data: the simulator needs
/// to know where a line is, not what is in it.
class TagArray {
 public:
  TagArray() = default;
  TagArray(std::uint32_t sets, std::uint32_t ways)
      : ways_(ways), tag_(std::size_t{sets} * ways, kNone), state_(std::size_t{sets} * ways) {}

  static constexpr std::uint32_t kMiss = ~std::uint32_t{0};

  /// Index of the line's entry, or kMiss. Does not count as a use.
  std::uint32_t find(std::uint32_t set, LineAddr line) const {
    const std::uint64_t* tags = tag_.data() + std::size_t{set} * ways_;
    std::uint32_t way = kMiss;
    for (std::uint32_t w = 0; w < ways_; ++w) way = tags[w] == line.value ? w : way;
    return way == kMiss ? kMiss : set * ways_ + way;
  }
  void touch(std::uint32_t i) { state_[i].used = ++clock_; }

  /// The entry to replace: an invalid one, else the least recently used.
  std::uint32_t victim(std::uint32_t set) const {
    const std::uint32_t first = set * ways_;
    std::uint32_t best = first;
    for (std::uint32_t w = 0; w < ways_; ++w) {
      const std::uint32_t i = first + w;
      if (tag_[i] == kNone) return i;
      if (state_[i].used < state_[best].used) best = i;
    }
    return best;
  }
  /// Puts `line` into entry `i`, without valid sectors, as most recently used.
  void install(std::uint32_t i, LineAddr line) {
    tag_[i] = line.value;
    state_[i] = {++clock_, 0, 0};
  }
  void invalidate(std::uint32_t i) {
    tag_[i] = kNone;
    state_[i] = {};
  }
  void invalidate_all() {
    std::fill(tag_.begin(), tag_.end(), kNone);
    std::fill(state_.begin(), state_.end(), State{});
    clock_ = 0;
  }

  bool occupied(std::uint32_t i) const { return tag_[i] != kNone; }
  LineAddr line(std::uint32_t i) const { return {tag_[i]}; }
  std::uint8_t& valid(std::uint32_t i) { return state_[i].valid; }
  std::uint8_t& dirty(std::uint32_t i) { return state_[i].dirty; }
  std::uint32_t entries() const { return static_cast<std::uint32_t>(tag_.size()); }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  struct State {
    std::uint64_t used : 48 = 0;  ///< LRU stamp
    std::uint8_t valid = 0, dirty = 0;
  };
  static_assert(sizeof(State) == 8);
  std::uint32_t ways_ = 1;
  std::vector<std::uint64_t> tag_;
  std::vector<State> state_;
  std::uint64_t clock_ = 0;
};

}  // namespace atl
