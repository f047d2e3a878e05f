#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/engine/archive.hpp"
#include "core/engine/prefetch.hpp"
#include "core/engine/types.hpp"

namespace atl {

/// Where the entries of a table are that have a line each, by the line: open addressing with linear probing, at most half
/// full. It keeps the entries' numbers and a part of the lines' hash, so that entries are touched where their line is most
/// likely the one, and not while lines move within the index: line_of(entry) is the entry's line.
template <class Index> class LineIndex {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  /// Half as many as Index has numbers: as many as its hash can spread over all slots.
  static constexpr std::uint64_t kMostEntries = std::uint64_t{1} << (8 * sizeof(Index) - 1);

  LineIndex() = default;
  explicit LineIndex(std::size_t entries) : slot_(std::bit_ceil(entries * 2), kFree), mask_(slot_.size() - 1) {}

  template <class LineOf> std::uint32_t find(LineAddr line, LineOf&& line_of) const {
    const Slot hash = hash_of(line);
    for (std::size_t i = start(hash);; i = (i + 1) & mask_) {
      if (slot_[i] == kFree) return kNone;
      if ((slot_[i] ^ hash) < kEntries && line_of(entry(slot_[i])) == line) return entry(slot_[i]);
    }
  }
  /// The line must not be there.
  void insert(LineAddr line, std::uint32_t entry) {
    const Slot hash = hash_of(line);
    std::size_t i = start(hash);
    while (slot_[i] != kFree) i = (i + 1) & mask_;
    slot_[i] = hash | entry;
  }
  void erase(LineAddr line, std::uint32_t entry) {
    // Without tombstones: later members of the run move back into the hole.
    const Slot slot = hash_of(line) | entry;
    std::size_t hole = start(slot);
    for (; slot_[hole] != slot; hole = (hole + 1) & mask_)
      if (slot_[hole] == kFree) [[unlikely]]
        refuse_course();  // an answer for a line that nobody asked for
    for (std::size_t i = (hole + 1) & mask_; slot_[i] != kFree; i = (i + 1) & mask_) {
      if (((i - start(slot_[i])) & mask_) >= ((i - hole) & mask_)) {
        slot_[hole] = slot_[i];
        hole = i;
      }
    }
    slot_[hole] = kFree;
  }
  void clear() { std::fill(slot_.begin(), slot_.end(), kFree); }
  void prefetch(LineAddr line) const { prefetch_address(&slot_[start(hash_of(line))]); }

  /// Calls f(entry) for each, in no order that means anything.
  template <class F> void for_each(F&& f) const {
    for (const Slot s : slot_)
      if (s != kFree) f(entry(s));
  }
  /// It was made for so many entries.
  bool fits(std::size_t entries) const {
    return entries <= kMostEntries && slot_.size() == std::bit_ceil(entries * 2) && mask_ == slot_.size() - 1;
  }
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, slot_, mask_); }

 private:
  friend struct LineIndexTestAccess;
  /// Hash, entry.
  using Slot = std::conditional_t<sizeof(Index) == 2, std::uint32_t, std::uint64_t>;
  static constexpr unsigned kEntryBits = 8 * sizeof(Index);
  static constexpr Slot kEntries = Slot{1} << kEntryBits, kFree = ~Slot{0};
  static Slot hash_of(LineAddr line) {
    return static_cast<Slot>(static_cast<Index>(line.value * 0x9E3779B97F4A7C15ull >> 32)) << kEntryBits;
  }
  static std::uint32_t entry(Slot s) { return static_cast<std::uint32_t>(s & (kEntries - 1)); }
  std::size_t start(Slot s) const { return static_cast<std::size_t>(s >> kEntryBits) & mask_; }

  std::vector<Slot> slot_;
  std::size_t mask_ = 0;
};

}  // namespace atl
