#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "inputs/ptx/line_table.hpp"

namespace atl::ptx {

/// Who touches global memory, and when: the part of a CTA's life between two barriers or fences.
struct GlobalTouch {
  std::uint64_t cta = 0;    ///< its number in the grid
  std::uint32_t epoch = 0;  ///< RaceView::epoch
  std::uint32_t warp = 0;
  std::uint32_t line = 0;  ///< of the PTX; kept with GlobalRaces::Mode::lines only
  bool strong = false;     ///< atomic, volatile or ordered: such accesses do not race with each other
};

/// What an instruction touches: lanes of `mask` access `bytes` each, at `address[lane]`.
struct GlobalLanes {
  const std::uint64_t* address = nullptr;
  std::uint32_t mask = 0, bytes = 0;
  bool row = false;  ///< all 32 lanes, one behind the other
};

/// What lanes store: a register each, of `bytes`.
class StoredValues {
 public:
  template <class R> StoredValues(const R* from) : registers_(from), bytes_(sizeof(R)) {}
  std::uint64_t of(unsigned lane) const {
    std::uint64_t value = 0;
    with_type([&]<class R>(R) { value = at<R>(lane); });
    return value;
  }
  /// Of all lanes.
  void copy(std::array<std::uint64_t, 32>& to) const {
    with_type([&]<class R>(R) {
      for (unsigned lane = 0; lane < to.size(); ++lane) to[lane] = at<R>(lane);
    });
  }

 private:
  template <class F> void with_type(F f) const {
    switch (bytes_) {
      case 1:
        return f(std::uint8_t{});
      case 2:
        return f(std::uint16_t{});
      case 4:
        return f(std::uint32_t{});
      default:
        return f(std::uint64_t{});
    }
  }
  template <class R> R at(unsigned lane) const {
    R value;
    std::memcpy(&value, static_cast<const std::byte*>(registers_) + std::size_t{lane} * sizeof value, sizeof value);
    return value;
  }

  const void* registers_;
  std::uint32_t bytes_;
};

/// Two accesses to one location, one of them a write, that nothing orders.
struct GlobalRace {
  std::string kernel, first_place, second_place;
  std::uint64_t address = 0;
  enum Partner : std::uint8_t { named, another_warp, another_block };
  GlobalTouch first, second;
  Partner partner = named;  ///< else it is not known who was `first`, and where: of the block of the second, or of another
  bool first_writes = false, second_writes = false;
};
std::string text_of(const GlobalRace& race);

/// What a launch's watch remembers for one CTA.
struct RaceView;

/// Finds locations of global memory that one warp writes and another reads or writes without an order between them.
/// Ordered are: accesses of one warp; accesses of a CTA before and after a barrier, or a fence of any of its warps; those of
/// two CTAs if the first has executed a fence since, and the second after that a fence, an atomic or a strong load. Several
/// writers of one value are no race. Each location remembers its last writer, its last reader and whether there were
/// several that are not all ordered before it; a race that these hide is missed, but what is counted is one. For CTAs that
/// run at the same time, among which nothing orders, the outcome does not depend on who came first.
class GlobalRaces {
 public:
  struct Mode {
    std::uint32_t granule = 4;  ///< bytes of the narrowest access: what is a location
    bool unordered = false;     ///< CTAs cannot wait for each other: none is ordered before another
    bool concurrent = false;    ///< besides, they run on several threads
    bool lines = false;         ///< remember lines, and the first races
  };
  struct Counts {
    std::uint64_t locations = 0, launches = 0;     ///< that raced, summed over launches; launches with races
    std::uint64_t overlooked = 0;                  ///< accesses that found no memory for the book
    std::map<std::string, std::uint64_t> kernels;  ///< locations by name
  };

  /// `earlier`: whose launches count for raced() as well.
  explicit GlobalRaces(const GlobalRaces* earlier = nullptr);
  ~GlobalRaces();
  void begin_kernel(const std::string& kernel, const LineTable& lines, Mode mode);
  void end_kernel();
  const Counts& counts() const { return counts_; }
  /// The first races of the last launch, one for each pair of lines, if lines were asked for.
  const std::vector<GlobalRace>& found() const { return found_; }
  /// Whether an earlier launch of this kernel had a race.
  bool raced(const std::string& kernel) const {
    return counts_.kernels.count(kernel) != 0 || (earlier_ != nullptr && earlier_->raced(kernel));
  }
  /// Of accesses.
  bool keeps_lines() const { return mode_.lines; }
  /// Counts what one counted that watched launches beside those of this one.
  void add(const GlobalRaces& other);

  // ---- for the executor; accesses of one CTA come from one thread ----
  void read(RaceView& view, const GlobalLanes& lanes, const GlobalTouch& touch);
  /// Up to 8 bytes each. Equality of what is stored says that two writers agree.
  void write(RaceView& view, const GlobalLanes& lanes, const GlobalTouch& touch, const StoredValues& values);
  /// A fence that other CTAs see; ends the epoch.
  void fence(RaceView& view, std::uint64_t cta);
  /// The CTA has read what others may have stored to tell it something.
  void acquire(RaceView& view);
  /// The heap has this memory back: who gets it next is ordered behind who had it.
  void forget(std::uint64_t address, std::uint64_t bytes);

 private:
  friend struct RaceView;
  static constexpr std::uint64_t kPage = 4096;
  static constexpr std::size_t kMostBytes = std::size_t{1} << 30, kMostFound = 64;
  struct Page {
    std::atomic_flag busy = ATOMIC_FLAG_INIT;
    std::uint64_t number = 0;
    /// Of each location a word of bits (see the .cpp). They lie apart because a row is looked at by vector code.
    std::vector<std::uint64_t> writers, readers;
    std::vector<std::array<std::uint32_t, 2>> lines;  ///< of writer and reader
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, Page*> pages;
  };

  class Hold;
  /// Locations one behind the other in a page, one for each lane.
  struct Row {
    Page* page = nullptr;
    std::uint32_t at = 0;
  };

  Page* page(RaceView& view, std::uint64_t number);
  Row row_of(RaceView& view, const GlobalLanes& lanes);
  Page* find_page(std::uint64_t number);
  Page* known_page(std::uint64_t number);
  template <class Visit> void each_location(RaceView& view, const GlobalLanes& lanes, Visit visit);
  bool ordered(const RaceView& view, std::uint64_t earlier, std::uint64_t now) const;
  void slow_read(const RaceView& view, Page& page, std::uint32_t at, std::uint64_t now, const GlobalTouch& touch);
  void slow_write(const RaceView& view, Page& page, std::uint32_t at, std::uint64_t now, const GlobalTouch& touch,
                  std::uint32_t hash);
  void raced(Page& page, std::uint32_t at, bool with_writer, std::uint64_t now, const GlobalTouch& touch, bool writes);

  const GlobalRaces* earlier_;
  Mode mode_;
  std::string kernel_;
  const LineTable* lines_ = nullptr;
  Counts counts_;
  std::uint64_t launch_ = 0;  // views of an earlier one are out of date
  std::uint32_t shift_ = 2;   // of the granule

  std::array<Shard, 64> shards_;
  std::mutex mutex_;  // of what follows
  std::vector<std::unique_ptr<Page>> owned_;
  std::vector<Page*> free_;
  std::size_t bytes_ = 0;
  std::vector<GlobalRace> found_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> named_;  // lines
  std::atomic<std::uint64_t> locations_{0}, overlooked_{0};

  // Only where CTAs run one at a time.
  struct Fence {
    std::uint32_t epoch = 0;  ///< that it ended
    std::uint64_t time = 0;
  };
  std::uint64_t time_ = 0;  // fences so far
  std::unordered_map<std::uint64_t, std::vector<Fence>> fences_;
};

struct RaceView {
  std::uint32_t epoch = 0;     ///< advanced by barriers and fences of the CTA
  std::uint64_t acquired = 0;  ///< GlobalRaces::time_ when the CTA last looked at what others told it
  std::uint64_t launch = 0;
  std::array<GlobalRaces::Page*, 64> pages{};
};

}  // namespace atl::ptx
