#pragma once
#include <bit>
#include <cstdint>
#include <optional>
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

/// A chip's copy of the page homes it has learnt. Open addressing with linear probing in one flat array of 8-byte
/// entries, at most half full, since every access of the chip passes here. Bindings are permanent: nothing is erased.
class PageHomeCache {
 public:
  PageHomeCache() : slots_(kInitial), shift_(64 - kInitialBits) {}

  /// Home of the page, or kUnknownHome.
  std::uint8_t find(PageAddr page) const {
    const std::uint64_t key = page.value + 1;
    for (std::size_t i = start(key);; i = (i + 1) & (slots_.size() - 1)) {
      const std::uint64_t slot = slots_[i];
      if (slot >> 8 == key) return static_cast<std::uint8_t>(slot);
      if (slot == 0) return kUnknownHome;
    }
  }

  void prefetch(PageAddr page) const { prefetch_address(&slots_[start(page.value + 1)]); }

  /// Learns a home; throws SimulationError when the page is already known to live elsewhere.
  void insert(PageAddr page, std::uint8_t home);
  std::size_t size() const { return size_; }

  void check_state() const {
    std::size_t found = 0;
    for (const std::uint64_t slot : slots_) found += slot != 0;
    require_state(slots_.size() >= kInitial && std::has_single_bit(slots_.size()) && found == size_ &&
                  2 * size_ <= slots_.size() && shift_ == 64 - static_cast<unsigned>(std::countr_zero(slots_.size())));
  }
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, slots_, size_, shift_); }

  /// Calls f(page, home) for every binding, in no particular order.
  template <class F> void for_each(F&& f) const {
    for (const std::uint64_t slot : slots_)
      if (slot) f(PageAddr{(slot >> 8) - 1}, static_cast<std::uint8_t>(slot));
  }

 private:
  static constexpr unsigned kInitialBits = 10;
  static constexpr std::size_t kInitial = 1u << kInitialBits;
  std::size_t start(std::uint64_t key) const { return key * 0x9E3779B97F4A7C15ull >> shift_; }
  void grow();

  std::vector<std::uint64_t> slots_;  ///< (page + 1) << 8 | home; 0 is empty
  std::size_t size_ = 0;
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
  std::optional<Cycle> earliest_pending() const;
  const PageHomeCache& homes() const { return homes_; }
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, homes_, pending_, settled_); }

 private:
  PageHomeCache homes_;
  std::vector<Touch> pending_;
  Cycle settled_ = 0;
  std::vector<std::uint8_t> nearest_;  ///< [chip] where not all have memory
};

}  // namespace atl
