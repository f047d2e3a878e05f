#pragma once
#include <bit>
#include <cstdint>
#include <vector>

#include "core/engine/types.hpp"

namespace atl {

/// The entries of each set in the order in which they are to be replaced: those that are free, the lowest first, and then
/// those in use, the least recently used first. For sets of many ways, which nobody wants to look through.
class WaysInOrder {
 public:
  WaysInOrder() = default;
  WaysInOrder(std::uint32_t sets, std::uint32_t ways)
      : ways_(ways), words_((ways + 63) / 64), free_(std::size_t{sets} * words_), link_(std::size_t{sets} * (ways + 1)) {
    free_all();
  }

  [[gnu::noinline]] std::uint32_t victim(std::uint32_t set) const {
    const std::uint64_t* word = &free_[std::size_t{set} * words_];
    for (std::uint32_t w = 0; w < words_; ++w)
      if (word[w] != 0) return set * ways_ + w * 64 + static_cast<std::uint32_t>(std::countr_zero(word[w]));
    return set * ways_ + links(set)[ways_].next;
  }
  /// Entry `i` is in use, the most recently used of its set.
  [[gnu::noinline]] void use(std::uint32_t i) {
    const std::uint32_t set = i / ways_, way = i % ways_;
    std::uint64_t& word = free_[std::size_t{set} * words_ + way / 64];
    const std::uint64_t bit = std::uint64_t{1} << way % 64;
    if ((word & bit) == 0) unlink(set, way);
    word &= ~bit;
    Link* link = links(set);
    const std::uint32_t last = link[ways_].before;
    link[way] = {last, ways_};
    link[last].next = link[ways_].before = way;
  }
  /// Entry `i`, which was in use, is free.
  void free(std::uint32_t i) {
    const std::uint32_t set = i / ways_, way = i % ways_;
    unlink(set, way);
    free_[std::size_t{set} * words_ + way / 64] |= std::uint64_t{1} << way % 64;
  }
  void free_all() {
    for (std::size_t i = 0; i < free_.size(); ++i) {
      const std::uint32_t first = static_cast<std::uint32_t>(i) % words_ * 64, left = ways_ - first;
      free_[i] = left >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
    }
    for (std::size_t set = 0; set < link_.size() / (ways_ + 1); ++set) links(set)[ways_] = {ways_, ways_};
  }

 private:
  /// By way: its neighbours in the list of those in use. Behind the ways, the list's end: the first and the last.
  struct Link {
    std::uint32_t before, next;
  };
  Link* links(std::size_t set) { return &link_[set * (ways_ + 1)]; }
  const Link* links(std::size_t set) const { return &link_[set * (ways_ + 1)]; }
  void unlink(std::uint32_t set, std::uint32_t way) {
    Link* link = links(set);
    link[link[way].before].next = link[way].next;
    link[link[way].next].before = link[way].before;
  }

  std::uint32_t ways_ = 0, words_ = 0;
  std::vector<std::uint64_t> free_;  ///< [set][word], a bit for each way
  std::vector<Link> link_;           ///< [set][way]
};

}  // namespace atl
