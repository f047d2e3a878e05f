#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/engine/archive.hpp"
#include "core/engine/prefetch.hpp"
#include "core/engine/types.hpp"

namespace atl {

/// Where the entries of a table are that have a line each, by the line: open addressing with linear probing, at most half
/// full. It keeps the entries' numbers alone: line_of(entry) is the entry's line.
template <class Index> class LineIndex {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  LineIndex() = default;
  explicit LineIndex(std::size_t entries) : slot_(std::bit_ceil(entries * 2), kFree), mask_(slot_.size() - 1) {}

  template <class LineOf> std::uint32_t find(LineAddr line, LineOf&& line_of) const {
    for (std::size_t i = start(line);; i = (i + 1) & mask_) {
      if (slot_[i] == kFree) return kNone;
      if (line_of(slot_[i]) == line) return slot_[i];
    }
  }
  /// The line must not be there.
  void insert(LineAddr line, std::uint32_t entry) {
    std::size_t i = start(line);
    while (slot_[i] != kFree) i = (i + 1) & mask_;
    slot_[i] = static_cast<Index>(entry);
  }
  template <class LineOf> void erase(LineAddr line, std::uint32_t entry, LineOf&& line_of) {
    // Without tombstones: later members of the run move back into the hole.
    std::size_t hole = start(line);
    for (; slot_[hole] != entry; hole = (hole + 1) & mask_)
      if (slot_[hole] == kFree) [[unlikely]]
        refuse_course();  // an answer for a line that nobody asked for
    for (std::size_t i = (hole + 1) & mask_; slot_[i] != kFree; i = (i + 1) & mask_) {
      const std::size_t wanted = start(line_of(slot_[i]));
      if (((i - wanted) & mask_) >= ((i - hole) & mask_)) {
        slot_[hole] = slot_[i];
        hole = i;
      }
    }
    slot_[hole] = kFree;
  }
  void clear() { std::fill(slot_.begin(), slot_.end(), kFree); }
  void prefetch(LineAddr line) const { prefetch_address(&slot_[start(line)]); }

  /// Calls f(entry) for each, in no order that means anything.
  template <class F> void for_each(F&& f) const {
    for (const Index e : slot_)
      if (e != kFree) f(std::uint32_t{e});
  }
  /// It was made for so many entries.
  bool fits(std::size_t entries) const {
    return entries < kFree && slot_.size() == std::bit_ceil(entries * 2) && mask_ == slot_.size() - 1;
  }
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, slot_, mask_); }

 private:
  static constexpr Index kFree = static_cast<Index>(~Index{0});
  std::size_t start(LineAddr line) const { return (line.value * 0x9E3779B97F4A7C15ull >> 32) & mask_; }

  std::vector<Index> slot_;
  std::size_t mask_ = 0;
};

}  // namespace atl
