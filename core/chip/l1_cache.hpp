#pragma once
#include "core/chip/machine.hpp"
#include "core/chip/mshr.hpp"
#include "core/chip/tag_array.hpp"
#include "partition/set_indexer.hpp"

namespace atl {

/// Per-SM data cache: write-through, no-write-allocate, fills on response. Decides; the SM sends and counts.
class L1Cache {
 public:
  /// A load part that waits for a line.
  struct Waiter {
    std::uint8_t warp, slot, sectors;
    std::uint32_t issued;  ///< low bits of the cycle at which it was presented
  };
  enum class Outcome : std::uint8_t { hit, merge, fetch, stall };
  struct Lookup {
    Outcome outcome;
    std::uint8_t fetch;   ///< fetch: sectors to ask for
    std::uint8_t valid;   ///< those of its sectors that are here
    std::uint32_t entry;  ///< MSHR, for merge and fetch (kNone: one must be opened)
  };

  explicit L1Cache(const Machine& m);

  bool enabled() const { return enabled_; }
  /// What a load of `sectors` of `line` would meet. Changes nothing but the LRU state on a hit.
  Lookup lookup(LineAddr line, std::uint8_t sectors);
  /// Carries out a merge or fetch; returns the MSHR.
  std::uint32_t wait_for(const Lookup& l, LineAddr line, const Waiter& w);
  /// A store passes: a present line stays (its data is updated); nothing is allocated.
  void store(LineAddr line);
  /// An atomic passes: the copy is stale afterwards.
  void atomic(LineAddr line);
  /// Data arrived for MSHR `entry`. Calls done(waiter) for each load part that has all its sectors now. Unless `keep`, the
  /// data serve those who wait for them, and no others.
  template <class Done> void fill(std::uint32_t entry, std::uint8_t sectors, bool keep, Done&& done) {
    auto& e = mshr_[entry];
    e.pending &= static_cast<std::uint8_t>(~sectors);
    e.arrived |= sectors;
    std::uint8_t here = e.arrived;
    if (keep) {
      const std::uint32_t set = sets_(e.line.value);
      std::uint32_t i = tags_.find(set, e.line);
      if (i == TagArray::kMiss) tags_.install(i = tags_.victim(set), e.line);
      here |= tags_.valid(i) |= sectors;
    }
    mshr_.release_waiters(entry, [&](const Waiter& w) {
      if ((w.sectors & ~here) != 0) return false;
      done(w);
      return true;
    });
    if (e.pending == 0) mshr_.close(entry);
  }
  /// What a response for MSHR `entry` will touch.
  void prefetch(std::uint32_t entry, LineAddr line) const {
    mshr_.prefetch(entry);
    tags_.prefetch(sets_(line.value));
  }
  /// What a look-up of `line` will touch.
  void prefetch(LineAddr line) const {
    tags_.prefetch(sets_(line.value));
    mshr_.prefetch(line);
  }
  void invalidate_all() { tags_.invalidate_all(); }
  std::uint32_t outstanding() const { return mshr_.in_use(); }

 private:
  friend struct ChipTestAccess;  // seeds faults
  bool enabled_;
  std::uint8_t full_line_;
  bool sectored_;
  SetIndexer sets_;
  TagArray tags_;
  MshrFile<Waiter> mshr_;
};

}  // namespace atl
