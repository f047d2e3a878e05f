#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "core/chip/base/packet.hpp"
#include "core/engine/archive.hpp"
#include "core/engine/types.hpp"
#include "inputs/config/system_config.hpp"

namespace atl {

/// SAC's Chip Request Directory (SAC section 3.2): predicts at the home chip, while the LLC is memory-side, how requests
/// would fare SM-side. It samples a few LLC sets; a block is a tag with one presence bit per chip (per chip and sector if
/// the LLC is sectored). A request hits if its tag is present and its chip has asked for the line before.
///
/// As published, a set of 16 tags stands for up to 16 x chips copies, although SM-side caches have room for 16: the
/// directory is exact for lines of one chip and too optimistic for widely shared ones. With
/// sac.crd_counts_copies a set holds as many copies as SM-side caching would give it, and evicts tags to keep to that.
class ChipRequestDirectory {
 public:
  explicit ChipRequestDirectory(const SystemConfig& c)
      : ways_(c.sac.crd_ways),
        counts_copies_(c.sac.crd_counts_copies),
        sectored_(c.llc.sectored),
        block_(std::size_t{c.sac.crd_sets} * c.sac.crd_ways) {}

  /// A request of `p.source` that falls into sampled set `set`. True: a hit, by the rules of the LLC itself: a store hits a
  /// line whose tag is there, and one of part of a sector's bytes does not bring the sector.
  bool access(std::uint32_t set, const Packet& p) {
    Block* const first = &block_[std::size_t{set} * ways_];
    Block* b = first;
    while (b != first + ways_ && b->tag != p.line.value) ++b;
    if (b == first + ways_) {
      b = victim(first);
      *b = {};
      b->tag = p.line.value;
    }
    b->used = ++clock_;
    const std::uint64_t bit = std::uint64_t{1} << p.source;
    const bool write = p.kind == PacketKind::write, partial = write && sectored_ && p.has(kPartialWrite);
    bool hit = !write || (b->chips & bit) != 0;
    b->chips |= bit;
    for (unsigned rest = sectored_ ? p.sectors : 1u; rest != 0; rest &= rest - 1) {
      std::uint64_t& present = b->present[static_cast<std::size_t>(std::countr_zero(rest))];
      hit &= write || (present & bit) != 0;
      if (!partial) present |= bit;
    }
    if (counts_copies_) evict_copies(first, b);
    return hit;
  }
  void clear() { std::fill(block_.begin(), block_.end(), Block{}); }
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, fixed(block_), clock_); }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  struct Block {
    using PlainState = void;
    std::uint64_t tag = kNone, used = 0, chips = 0;  ///< which would have the tag, with or without its sectors
    std::array<std::uint64_t, 8> present{};          ///< [sector] one bit per chip; without sectors only the first
    std::uint32_t copies() const { return static_cast<std::uint32_t>(std::popcount(chips)); }
  };

  /// Least recently used of a set, free ones first.
  Block* victim(Block* first) {
    Block* best = nullptr;
    for (Block* b = first; b != first + ways_; ++b) {
      if (best == nullptr || b->used < best->used) best = b;
    }
    return best;
  }
  void evict_copies(Block* first, const Block* newest) {
    std::uint32_t copies = 0;
    for (const Block* b = first; b != first + ways_; ++b) copies += b->copies();
    while (copies > ways_) {
      Block* oldest = nullptr;
      for (Block* b = first; b != first + ways_; ++b) {
        if (b != newest && b->tag != kNone && (oldest == nullptr || b->used < oldest->used)) oldest = b;
      }
      if (oldest == nullptr) return;  // one line with more copies than ways
      copies -= oldest->copies();
      *oldest = {};
    }
  }

  std::uint32_t ways_;
  bool counts_copies_, sectored_;
  std::vector<Block> block_;
  std::uint64_t clock_ = 0;
};

}  // namespace atl
