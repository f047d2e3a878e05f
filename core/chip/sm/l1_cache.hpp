#pragma once
#include "core/chip/base/machine.hpp"
#include "core/chip/base/mshr.hpp"
#include "core/chip/base/observer.hpp"
#include "core/chip/base/state_check.hpp"
#include "core/chip/base/tag_array.hpp"
#include "core/engine/archive.hpp"
#include "partition/set_indexer.hpp"

namespace atl {

/// Per-SM data cache: write-through, no-write-allocate but for local memory, fills on response. Decides; the SM sends and
/// counts.
class L1Cache {
 public:
  /// A load part that waits for a line.
  struct Waiter {
    using PlainState = void;
    std::uint8_t warp, slot, sectors, unused = 0;
    std::uint32_t issued;  ///< low bits of the cycle at which it was presented
  };
  using Outcome = L1Outcome;
  struct Lookup {
    Outcome outcome;
    std::uint8_t fetch;   ///< fetch: sectors to ask for
    std::uint8_t valid;   ///< those of its sectors that are here
    std::uint32_t entry;  ///< MSHR, for merge and fetch (kNone: one must be opened)
  };

  explicit L1Cache(const Machine& m);

  bool enabled() const { return enabled_; }
  /// The line's entry in the tags; TagArray::kMiss: it has none. Holds until data arrive, or an op passes.
  std::uint32_t find(LineAddr line) const { return tags_.find(sets_(line.value), line); }
  /// What a load of `sectors` of `line`, which find() had found at `at`, would meet. Changes nothing but the LRU state on
  /// a hit.
  Lookup lookup(LineAddr line, std::uint8_t sectors, std::uint32_t at);
  /// Carries out a merge or fetch; returns the MSHR.
  std::uint32_t wait_for(const Lookup& l, LineAddr line, const Waiter& w);
  /// A store passes: a present line stays (its data is updated); nothing is allocated.
  void store(LineAddr line);
  /// A store of whole sectors of local memory passes: they can be read from here.
  void allocate(LineAddr line, std::uint8_t sectors);
  /// An atomic passes: the copy is stale afterwards, and so is what is under way.
  void atomic(LineAddr line);
  /// What arrives for MSHR `entry` is as old as that: it answers those who wait, and does not stay.
  bool stale(std::uint32_t entry) const { return mshr_[entry].void_on_arrival; }
  /// Where data went; `replaced`: into the place of another line, or of none.
  struct Filled {
    std::uint32_t at;
    bool replaced;
  };
  /// Data arrived for MSHR `entry`. Calls done(waiter) for each load part that has all its sectors now.
  template <class Done> Filled fill(std::uint32_t entry, std::uint8_t sectors, Done&& done) {
    const LineAddr line = mshr_[entry].line;
    const std::uint32_t set = sets_(line.value);
    std::uint32_t i = tags_.find(set, line);
    const bool is_new = i == TagArray::kMiss;
    if (is_new) tags_.install(i = tags_.victim(set), line);
    tags_.valid(i) |= sectors;
    serve(entry, sectors, tags_.valid(i), done);
    return {i, is_new};
  }
  /// As fill(), of data that do not stay: remote lines under coherence.protocol = none_remote, and what another L1 of the
  /// cluster has, where one copy is enough (COLAB).
  template <class Done> void pass_on(std::uint32_t entry, std::uint8_t sectors, Done&& done) {
    const LineAddr line = mshr_[entry].line;
    const std::uint32_t i = tags_.find(sets_(line.value), line);
    serve(entry, sectors, i == TagArray::kMiss ? 0 : tags_.valid(i), done);
  }
  /// All these sectors are here. Changes nothing.
  bool has(LineAddr line, std::uint8_t sectors) const { return has(find(line), sectors); }
  bool has(std::uint32_t at, std::uint8_t sectors) const {
    return at != TagArray::kMiss && (sectors & ~tags_.valid(at)) == 0;
  }
  /// A use of a line that is here, at `at` unless another is there.
  void use(LineAddr line, std::uint32_t at) {
    tags_.touch(at < tags_.entries() && tags_.line(at) == line ? at : find(line));
  }
  void use(LineAddr line) { tags_.touch(find(line)); }
  /// The line was asked for and is not complete.
  bool pending(LineAddr line) const { return mshr_.find(line) != mshr_.kNone; }
  /// What a response for MSHR `entry` will touch.
  void prefetch(std::uint32_t entry, LineAddr line) const {
    mshr_.prefetch(entry);
    mshr_.prefetch(line);
    const std::uint32_t set = sets_(line.value);
    tags_.prefetch(set, line);
    tags_.prefetch_victim(set);
  }
  /// What a look-up of `line` will touch.
  void prefetch(LineAddr line) const {
    tags_.prefetch(sets_(line.value), line);
    mshr_.prefetch(line);
  }
  void invalidate_all() { tags_.invalidate_all(); }
  std::uint32_t outstanding() const { return mshr_.in_use(); }
  void check(const StateCheck& s) const;  // state_check.cpp
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, tags_, mshr_); }

 private:
  friend struct ChipTestAccess;  // seeds faults
  /// Sectors arrive for an MSHR whose line has those of `valid` in the cache.
  template <class Done> void serve(std::uint32_t entry, std::uint8_t sectors, std::uint8_t valid, Done&& done) {
    auto& e = mshr_[entry];
    e.pending &= static_cast<std::uint8_t>(~sectors);
    e.arrived |= sectors;
    const std::uint8_t here = e.arrived | valid;
    mshr_.release_waiters(entry, [&](const Waiter& w) {
      if ((w.sectors & ~here) != 0) return false;
      done(w);
      return true;
    });
    if (e.pending == 0) mshr_.close(entry);
  }
  bool enabled_;
  std::uint8_t full_line_;
  bool sectored_;
  SetIndexer sets_;
  TagArray tags_;
  MshrFile<Waiter> mshr_;
};

}  // namespace atl
