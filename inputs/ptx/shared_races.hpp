#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace atl::ptx {

inline constexpr std::uint32_t kMostWarps = 32, kMostBarriers = 16;  ///< of a CTA

/// One side of a conflict in shared memory.
struct SharedTouch {
  std::uint32_t clock = 0;  ///< of its warp; 0: nobody has been there
  std::uint32_t line = 0;
  std::uint8_t warp = 0;
  bool writes = false;
  bool reads = false;  ///< atomics that give a value do both
  /// Up to 8 bytes that a plain store writes, where it is known; of a granule, its own.
  std::optional<std::uint64_t> value;
  bool strong = false;  ///< atomic, volatile or ordered: such accesses do not race with each other
};

/// Finds accesses to the shared memory of a CTA by two warps, one of which writes, that no barrier orders. Warps have
/// vector clocks, as in FastTrack (Flanagan and Freund, PLDI 2009); a barrier orders what came before any arrival at it
/// before what follows any wait at it. Each granule of memory remembers its last writer and its last two readers, which is
/// exact for barriers of the whole CTA; with barriers of some warps a conflict with an earlier reader may be missed.
/// Several writers of one value are no race, as in GlobalRaces. Order made by hand is followed as GlobalRaces does: what a
/// warp did before a fence comes before what another does behind a strong read of a word that the first has strongly written
/// since its fence. Reported pairs are not ordered so either.
class SharedRaces {
 public:
  struct Race {
    std::uint32_t offset = 0;  ///< of the granule, in the CTA's shared memory
    SharedTouch first, second;
  };

  /// A new CTA. `granule`: bytes that no access splits.
  void begin(std::uint32_t warps, std::uint32_t bytes, std::uint32_t granule);
  /// An access of `touch.warp`, without its clock. At most one race is reported of an access.
  std::optional<Race> access(std::uint32_t offset, std::uint32_t bytes, SharedTouch touch);
  void arrive(std::uint32_t warp, std::uint32_t barrier);
  /// A barrier is complete. Bit masks: `waiting`, warps that go on now; `gone`, warps that ended, so that it did not wait
  /// for them.
  void release(std::uint32_t barrier, std::uint32_t waiting, std::uint32_t gone);
  /// Hand-overs by words of shared memory (mbarrier): what came before any publish() comes before what follows an observe()
  /// behind it, whatever the word.
  void publish(std::uint32_t warp);
  void observe(std::uint32_t warp) { join(clocks_[warp], published_); }
  /// Of any scope: whoever shares this memory is within all of them.
  void fence(std::uint32_t warp);

 private:
  using Clock = std::array<std::uint32_t, kMostWarps>;  ///< of each warp, what is known to have happened
  struct Granule {
    SharedTouch write;
    std::array<SharedTouch, 2> reads;  ///< of different warps, the latest first
  };
  std::uint64_t part_of(std::uint64_t value, std::uint32_t from) const;
  void hand_over(std::uint32_t granule, const SharedTouch& touch);
  bool ordered(const SharedTouch& earlier, const SharedTouch& later) const;
  static void join(Clock& to, const Clock& from);
  static void note_read(Granule& g, const SharedTouch& touch);

  std::uint32_t granule_ = 4;
  std::vector<Clock> clocks_;                      // by warp
  std::array<Clock, kMostBarriers> at_barrier_{};  // of those that have arrived
  Clock published_{};
  std::vector<Clock> fenced_;                          // by warp: what its last fence let others know
  std::unordered_map<std::uint32_t, Clock> released_;  // by granule: what its strong writers had fenced
  std::vector<Granule> memory_;
};

}  // namespace atl::ptx
