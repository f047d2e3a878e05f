#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <vector>

#include "core/engine/archive.hpp"
#include "core/engine/types.hpp"

namespace atl {

/// A set of lines for millions of members: 64 neighbours share a slot of a flat table with linear probing, at most half
/// full, so that dense data costs two bits a line and a look-up one access to memory.
class LineSet {
 public:
  /// True: the line was not in the set before.
  bool insert(LineAddr line) {
    const std::uint64_t bit = std::uint64_t{1} << (line.value % 64);
    Slot& s = slot(line.value / 64);
    if ((s.lines & bit) != 0) return false;
    if (s.lines == 0) return insert_block(line);
    s.lines |= bit;
    return true;
  }

  void clear() {
    if (used_ != 0) std::fill(slots_.begin(), slots_.end(), Slot{});
    used_ = 0;
  }

  /// Calls f(line) for all members in ascending order.
  template <class F> void for_each(F&& f) const {
    std::vector<Slot> sorted;
    sorted.reserve(used_);
    std::copy_if(slots_.begin(), slots_.end(), std::back_inserter(sorted), [](const Slot& s) { return s.lines != 0; });
    std::sort(sorted.begin(), sorted.end(), [](const Slot& a, const Slot& b) { return a.block < b.block; });
    for (const Slot& s : sorted) {
      for (std::uint64_t left = s.lines; left != 0; left &= left - 1)
        f(LineAddr{s.block * 64 + static_cast<std::uint64_t>(std::countr_zero(left))});
    }
  }

  template <class Archive> void serialize(Archive& a, unsigned) { state(a, slots_, used_, shift_); }
  void check_state() const {
    std::size_t found = 0;
    for (const Slot& s : slots_) found += s.lines != 0;
    require_state(slots_.size() >= std::size_t{1} << kInitialBits && std::has_single_bit(slots_.size()) && found == used_ &&
                  2 * used_ <= slots_.size() && shift_ == 64 - static_cast<unsigned>(std::countr_zero(slots_.size())));
  }

 private:
  struct Slot {
    using PlainState = void;
    std::uint64_t block = 0;  ///< line / 64
    std::uint64_t lines = 0;  ///< bit mask of members; 0: the slot is free
  };

  /// The block's slot, or the free one where it belongs.
  Slot& slot(std::uint64_t block) {
    for (std::size_t i = block * 0x9E3779B97F4A7C15ull >> shift_;; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i].lines == 0 || slots_[i].block == block) return slots_[i];
    }
  }
  bool insert_block(LineAddr line) {
    if (++used_ * 2 > slots_.size()) grow();
    slot(line.value / 64) = {line.value / 64, std::uint64_t{1} << (line.value % 64)};
    return true;
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    --shift_;
    for (const Slot& s : old) {
      if (s.lines != 0) slot(s.block) = s;
    }
  }

  static constexpr unsigned kInitialBits = 10;
  std::vector<Slot> slots_ = std::vector<Slot>(std::size_t{1} << kInitialBits);
  std::size_t used_ = 0;
  unsigned shift_ = 64 - kInitialBits;
};

}  // namespace atl
