#pragma once
#include <bit>
#include <cstdint>
#include <vector>

#include "core/engine/archive.hpp"
#include "core/engine/prefetch.hpp"
#include "core/engine/types.hpp"
#include "inputs/config/system_config.hpp"
#include "partition/fast_div.hpp"

/// Which chip is the home of a page.
namespace atl {

inline constexpr std::uint8_t kUnknownHome = 0xFF;

/// Homes that follow from the address alone: placement = interleaved or fixed. For first_touch, home() is unknown.
class StaticPlacement {
 public:
  explicit StaticPlacement(const SystemConfig& config);

  std::uint8_t home(PageAddr page) const {
    if (kind_ == Placement::interleaved)
      return static_cast<std::uint8_t>(first_ + chips_.remainder(chunk_.quotient(page.value)));
    return fixed_;
  }

 private:
  Placement kind_;
  std::uint8_t fixed_ = kUnknownHome, first_;  ///< first_: chip with memory
  FastDiv chunk_, chips_;
};

/// A chip's copy of the page homes it has learnt: a byte for each page in blocks of pages that follow each other, as a page
/// table has them, and the blocks by open addressing. Every access of the chip passes here, at a random page, so that the
/// whole should be small. Bindings are permanent: nothing is erased.
class PageHomeCache {
 public:
  PageHomeCache() : slots_(kInitial), shift_(64 - kInitialBits) {}

  /// Home of the page, or kUnknownHome.
  std::uint8_t find(PageAddr page) const {
    const std::uint64_t slot = slots_[slot_of(page)];
    return slot == 0 ? kUnknownHome : homes_[place(slot, page)];
  }

  void prefetch(PageAddr page) const {
    if (const std::uint64_t slot = slots_[slot_of(page)]; slot != 0) prefetch_address(&homes_[place(slot, page)]);
  }

  /// Learns a home; throws SimulationError when the page is already known to live elsewhere.
  void insert(PageAddr page, std::uint8_t home);
  std::size_t size() const { return size_; }

  void check_state() const;
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, slots_, homes_, size_, shift_); }

  /// Calls f(page, home) for every binding, in no particular order.
  template <class F> void for_each(F&& f) const {
    for (const std::uint64_t slot : slots_) {
      if (slot == 0) continue;
      const std::uint64_t first = ((slot >> kPlaceBits) - 1) << kPageBits;
      for (std::uint64_t i = 0; i < kPages; ++i)
        if (const std::uint8_t home = homes_[place(slot, {i})]; home != kUnknownHome) f(PageAddr{first + i}, home);
    }
  }

 private:
  static constexpr unsigned kPageBits = 12;  ///< pages of a block
  static constexpr std::size_t kPages = std::size_t{1} << kPageBits;
  static constexpr unsigned kPlaceBits = 21;  ///< blocks: 2^33 pages, of 2^55 (addresses below 2^63 in pages of 512 B)
  static constexpr unsigned kInitialBits = 7;
  static constexpr std::size_t kInitial = std::size_t{1} << kInitialBits;
  static std::uint64_t key(PageAddr page) { return (page.value >> kPageBits) + 1; }
  std::size_t start(std::uint64_t key) const { return key * 0x9E3779B97F4A7C15ull >> shift_; }
  /// Of the page's block, or the empty one where it belongs.
  std::size_t slot_of(PageAddr page) const {
    std::size_t i = start(key(page));
    while (slots_[i] != 0 && slots_[i] >> kPlaceBits != key(page)) i = (i + 1) & (slots_.size() - 1);
    return i;
  }
  static std::size_t place(std::uint64_t slot, PageAddr page) {
    return (slot & ((std::uint64_t{1} << kPlaceBits) - 1)) << kPageBits | (page.value & (kPages - 1));
  }
  std::size_t blocks() const { return homes_.size() >> kPageBits; }
  void grow();

  std::vector<std::uint64_t> slots_;  ///< (block + 1) << kPlaceBits | its place; 0 is empty; at most half are taken
  std::vector<std::uint8_t> homes_;   ///< [place][page of the block]
  std::size_t size_ = 0;              ///< pages with a home
  unsigned shift_;
};

/// The controller's side of first touch: the lowest (cycle, chip) becomes the home, for good, or the chip with memory that
/// is nearest to it.
class FirstTouch {
 public:
  struct Touch {
    Cycle cycle;
    PageAddr page;
    LpId chip;
    auto operator<=>(const Touch&) const = default;
    template <class Archive> void serialize(Archive& a, unsigned) { state(a, cycle, page, chip); }
  };
  struct Answer {
    PageAddr page;
    LpId chip;  ///< who asked
    std::uint8_t home;
    bool operator==(const Answer&) const = default;
  };

  FirstTouch() = default;  ///< all chips have memory
  explicit FirstTouch(const SystemConfig& config);

  /// A touch seen at `cycle` by `chip`, in any order of arrival, but never from before an already settled cycle.
  void add(const Touch& touch);

  /// Decides all touches from before `end`, after which none may be added for them. Appends one answer to each touch, in
  /// the order (cycle, chip, page).
  void settle(Cycle end, std::vector<Answer>& answers);

  const std::vector<Touch>& pending() const { return pending_; }
  const PageHomeCache& homes() const { return homes_; }
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, homes_, pending_, settled_); }

 private:
  PageHomeCache homes_;
  std::vector<Touch> pending_;
  Cycle settled_ = 0;
  std::vector<std::uint8_t> nearest_;  ///< [chip] where not all have memory
};

}  // namespace atl
