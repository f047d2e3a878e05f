#include "inputs/ptx/global_races.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/engine/function_name.hpp"

namespace atl::ptx {
namespace {

// Writer and reader of a location, from the lowest bit: CTA, epoch, warp, then flags. Numbers beyond the width alias, which
// hides races and invents none among 2^26 CTAs and 2^18 barriers.
constexpr unsigned kCtaBits = 26, kEpochBits = 18, kWarpBits = 5;
constexpr unsigned kKeyBits = kCtaBits + kEpochBits + kWarpBits;
constexpr std::uint64_t bit(unsigned n) { return std::uint64_t{1} << n; }
constexpr std::uint64_t kCta = bit(kCtaBits) - 1, kCtaAndEpoch = bit(kCtaBits + kEpochBits) - 1, kKey = bit(kKeyBits) - 1;
constexpr std::uint64_t kValid = bit(kKeyBits), kStrong = bit(kKeyBits + 1);
constexpr std::uint64_t kWarps = bit(kKeyBits + 2);    // several warps of this CTA in this epoch
constexpr std::uint64_t kCtas = bit(kKeyBits + 3);     // other CTAs before
constexpr std::uint64_t kVaried = bit(kKeyBits + 4);   // writer: several values
constexpr std::uint64_t kCounted = bit(kKeyBits + 4);  // reader: this location has raced
constexpr unsigned kHashAt = kKeyBits + 5, kHashBits = 64 - kHashAt;
static_assert(kHashBits == 10);
constexpr std::uint64_t kHash = ~(bit(kHashAt) - 1);

std::uint64_t key_of(const GlobalTouch& t) {
  return (t.cta & kCta) | (std::uint64_t{t.epoch} << kCtaBits & kCtaAndEpoch) |
         std::uint64_t{t.warp} << (kCtaBits + kEpochBits) | kValid | (t.strong ? kStrong : 0);
}
GlobalTouch touch_of(std::uint64_t word, std::uint32_t line) {
  GlobalTouch t;
  t.cta = word & kCta;
  t.epoch = static_cast<std::uint32_t>((word & kCtaAndEpoch) >> kCtaBits);
  t.warp = static_cast<std::uint32_t>((word & kKey) >> (kCtaBits + kEpochBits));
  t.strong = (word & kStrong) != 0, t.line = line;
  return t;
}

/// 20 bits: half of them in each word.
std::uint32_t hash_of(std::uint64_t value) {
  return static_cast<std::uint32_t>((value ^ value >> 32) * 0x9E3779B97F4A7C15u >> (64 - 2 * kHashBits));
}

// A warp that touches a row of locations mostly finds them all as it left them, or untouched, or touched by its own CTA
// before the last barrier. This is seen, and what changes is written down, in loops over all lanes that become vector code.
constexpr unsigned kLanes = 32;

/// Where a valid word differs from this warp's in one of these, somebody else has been here, or this warp in another epoch.
constexpr std::uint64_t kOthers = kKey | kWarps | kCtas;

/// Of a word, or the words of a row.
struct Look {
  std::uint64_t differ = 0;  ///< bits in which one differs from this warp's
  std::uint64_t any = 0;     ///< bits that one has
  void add(std::uint64_t word, std::uint64_t now) { differ |= word ^ now, any |= word; }
  /// Nobody but this warp has been there in this epoch. If it has not been at all locations of a row, that remains unseen.
  bool alone() const { return (any & kValid) == 0 || (differ & kOthers) == 0; }
};

/// Of two accesses of one CTA: a barrier is between, or both are of one warp.
bool ordered_in_cta(std::uint64_t earlier, std::uint64_t now) {
  const std::uint64_t differ = earlier ^ now;
  return ((differ & kCtaAndEpoch) != 0) | (((differ & kKey) | (earlier & kWarps)) == 0);
}
/// There is no access, or only ordered ones of the own CTA.
bool plainly_before(std::uint64_t word, std::uint64_t now) {
  const bool own = (((word ^ now) & kCta) | (word & kCtas)) == 0;
  return ((word & kValid) == 0) | (own & ordered_in_cta(word, now));
}
bool plainly_before(const std::uint64_t* words, std::uint64_t now) {
  unsigned before = 1;
  for (unsigned lane = 0; lane < kLanes; ++lane) before &= plainly_before(words[lane], now) ? 1 : 0;
  return before != 0;
}

/// What stands for `word` and what happens now.
std::uint64_t both(std::uint64_t word, std::uint64_t now) {
  const std::uint64_t differ = word ^ now;
  const bool cta = (differ & kCta) == 0, epoch = (differ & kCtaAndEpoch) == 0, warp = (differ & kKey) == 0;
  std::uint64_t next = now | (word & kCtas) | (cta ? 0 : kCtas);
  next |= epoch ? word & kWarps : 0;
  next |= epoch && !warp ? kWarps : 0;
  next &= epoch && (word & kStrong) == 0 ? ~kStrong : ~std::uint64_t{0};
  return (word & kValid) != 0 ? next : now;
}
/// `before`: `word` stands for accesses that are all ordered before this one, and need not be remembered.
std::uint64_t next_reader(std::uint64_t word, std::uint64_t now, bool before) {
  return (both(word, now) & ~(before ? kCtas : 0)) | (word & (kCounted | kHash));
}

/// A value that is stored, in the places where the two words have it.
struct Stored {
  std::uint64_t low, high;
  explicit Stored(std::uint32_t hash)
      : low(std::uint64_t{hash} << kHashAt), high(std::uint64_t{hash >> kHashBits} << kHashAt) {}
  bool same(std::uint64_t writer, std::uint64_t reader) const { return (((writer ^ low) | (reader ^ high)) & kHash) == 0; }
};
std::uint64_t next_writer(std::uint64_t word, std::uint64_t now, const Stored& stored, bool same) {
  const std::uint64_t varied = (word & kVaried) | (same ? 0 : kVaried);
  return both(word, now) | ((word & kValid) != 0 ? varied : 0) | stored.low;
}
std::uint64_t with_value(std::uint64_t reader, const Stored& stored) { return (reader & ~kHash) | stored.high; }

const char* deed(const GlobalTouch& t, bool writes) {
  return !writes ? "reads" : t.strong ? "updates (atomic or volatile)" : "writes";
}

}  // namespace

GlobalRaces::GlobalRaces(const GlobalRaces* earlier) : earlier_(earlier) {}
GlobalRaces::~GlobalRaces() = default;

void GlobalRaces::add(const GlobalRaces& other) {
  counts_.locations += other.counts_.locations, counts_.launches += other.counts_.launches;
  counts_.overlooked += other.counts_.overlooked;
  for (const auto& [kernel, locations] : other.counts_.kernels) counts_.kernels[kernel] += locations;
}

void GlobalRaces::begin_kernel(const std::string& kernel, const LineTable& lines, Mode mode) {
  if (std::max(mode.granule, 1u) != mode_.granule || mode.lines != mode_.lines) owned_.clear(), free_.clear(), bytes_ = 0;
  mode_ = mode, mode_.granule = std::max(mode.granule, 1u);
  shift_ = static_cast<std::uint32_t>(std::countr_zero(mode_.granule));
  kernel_ = kernel, lines_ = &lines;
  ++launch_;
  for (Shard& s : shards_) s.pages.clear();
  free_.clear();
  for (const auto& p : owned_) free_.push_back(p.get());
  found_.clear(), named_.clear(), fences_.clear();
  time_ = 0, locations_ = 0, overlooked_ = 0;
}

void GlobalRaces::end_kernel() {
  counts_.overlooked += overlooked_;
  if (locations_ == 0) return;
  counts_.locations += locations_, ++counts_.launches;
  counts_.kernels[kernel_] += locations_;
}

GlobalRaces::Page* GlobalRaces::find_page(std::uint64_t number) {
  Shard& shard = shards_[number % shards_.size()];
  const std::lock_guard lock(shard.mutex);
  Page*& page = shard.pages[number];
  if (page != nullptr) return page;
  const std::lock_guard all(mutex_);
  if (free_.empty()) {
    const std::size_t entries = kPage >> shift_, bytes = entries * (2 * sizeof(std::uint64_t) + (mode_.lines ? 8 : 0));
    if (bytes_ + bytes > kMostBytes) return nullptr;
    bytes_ += bytes;
    owned_.push_back(std::make_unique<Page>());
    page = owned_.back().get();
    page->writers.resize(entries), page->readers.resize(entries);
    if (mode_.lines) page->lines.resize(entries);
  } else {
    page = free_.back();
    free_.pop_back();
    std::fill(page->writers.begin(), page->writers.end(), 0);
    std::fill(page->readers.begin(), page->readers.end(), 0);
  }
  page->number = number;
  return page;
}

/// Null: nobody has touched it.
GlobalRaces::Page* GlobalRaces::known_page(std::uint64_t number) {
  Shard& shard = shards_[number % shards_.size()];
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.pages.find(number);
  return found == shard.pages.end() ? nullptr : found->second;
}

GlobalRaces::Page* GlobalRaces::page(RaceView& view, std::uint64_t number) {
  if (view.launch != launch_) view.launch = launch_, view.pages = {};
  Page*& cached = view.pages[number % view.pages.size()];
  if (cached == nullptr || cached->number != number) {
    Page* found = find_page(number);
    if (found == nullptr) return nullptr;
    cached = found;
  }
  return cached;
}

/// Keeps others away from a page where there are others.
class GlobalRaces::Hold {
 public:
  explicit Hold(bool concurrent) : concurrent_(concurrent) {}
  ~Hold() { take(nullptr); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  /// Instead of the one before.
  void take(Page* page) {
    if (!concurrent_) return;
    if (page_ != nullptr) page_->busy.clear(std::memory_order_release);
    page_ = page;
    while (page_ != nullptr && page_->busy.test_and_set(std::memory_order_acquire)) continue;
  }

 private:
  bool concurrent_;
  Page* page_ = nullptr;
};

template <class Visit> void GlobalRaces::each_location(RaceView& view, const GlobalLanes& lanes, Visit visit) {
  Hold hold(mode_.concurrent);
  Page* held = nullptr;                      // null: there is no memory for it
  std::uint64_t number = ~std::uint64_t{0};  // of the page that is held
  for (std::uint32_t mask = lanes.mask; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    std::uint64_t from = lanes.address[lane];
    for (std::uint32_t left = lanes.bytes; left != 0;) {
      const auto part = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, kPage - from % kPage));
      if (from / kPage != number) {
        number = from / kPage;
        held = page(view, number);
        hold.take(held);
      }
      if (held == nullptr) ++overlooked_;
      const auto last = static_cast<std::uint32_t>((from % kPage + part - 1) >> shift_);
      for (auto at = static_cast<std::uint32_t>(from % kPage >> shift_); held != nullptr && at <= last; ++at)
        visit(*held, at, lane);
      from += part, left -= part;
    }
  }
}

/// Where all lanes touch a location each, one behind the other, as most accesses do.
GlobalRaces::Row GlobalRaces::row_of(RaceView& view, const GlobalLanes& lanes) {
  const std::uint64_t first = lanes.address[0];
  if (!lanes.row || lanes.bytes != mode_.granule || mode_.lines || first % kPage + kLanes * lanes.bytes > kPage) return {};
  return {page(view, first / kPage), static_cast<std::uint32_t>(first % kPage >> shift_)};
}

void GlobalRaces::read(RaceView& view, const GlobalLanes& lanes, const GlobalTouch& touch) {
  const std::uint64_t now = key_of(touch);
  const auto nothing_new = [](const Look& reader, const Look& writer) {
    return (reader.differ & (kKey | kValid | kStrong)) == 0 && writer.alone();
  };
  if (const Row row = row_of(view, lanes); row.page != nullptr) {
    Hold hold(mode_.concurrent);
    hold.take(row.page);
    std::uint64_t *const reader = &row.page->readers[row.at], *const writer = &row.page->writers[row.at];
    Look readers, writers;
    for (unsigned lane = 0; lane < kLanes; ++lane) readers.add(reader[lane], now), writers.add(writer[lane], now);
    if (nothing_new(readers, writers)) return;
    // A CTA that has acquired nothing comes after no other one.
    const bool alone = mode_.unordered || view.acquired == 0;
    if (plainly_before(writer, now) && (alone || plainly_before(reader, now))) {
      for (unsigned lane = 0; lane < kLanes; ++lane) reader[lane] = next_reader(reader[lane], now, false);
      return;
    }
  }
  each_location(view, lanes, [&](Page& p, std::uint32_t at, unsigned) {
    const std::uint64_t reader = p.readers[at], writer = p.writers[at];
    if (nothing_new({reader ^ now, reader}, {writer ^ now, writer})) return;
    slow_read(view, p, at, now, touch);
  });
}

void GlobalRaces::write(RaceView& view, const GlobalLanes& lanes, const GlobalTouch& touch, const StoredValues& values) {
  const std::uint64_t now = key_of(touch);
  const std::uint64_t bits = mode_.granule >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * mode_.granule) - 1;
  const std::uint64_t left = now | kVaried;  // what this warp leaves where it stores several values
  const auto nothing_new = [](const Look& reader, const Look& writer) {
    return (writer.differ & (kOthers | kValid | kStrong | kVaried)) == 0 && reader.alone();
  };
  if (const Row row = row_of(view, lanes); row.page != nullptr) {
    Hold hold(mode_.concurrent);
    hold.take(row.page);
    std::uint64_t *const reader = &row.page->readers[row.at], *const writer = &row.page->writers[row.at];
    Look readers, writers;
    for (unsigned lane = 0; lane < kLanes; ++lane) readers.add(reader[lane], now), writers.add(writer[lane], left);
    if (nothing_new(readers, writers)) return;
    if (plainly_before(writer, now) && plainly_before(reader, now)) {
      std::array<std::uint64_t, kLanes> value;
      values.copy(value);
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        const Stored stored(hash_of(value[lane] & bits));
        const bool same = stored.same(writer[lane], reader[lane]);
        writer[lane] = next_writer(writer[lane], now, stored, same);
        reader[lane] = with_value(reader[lane], stored);
      }
      return;
    }
  }
  each_location(view, lanes, [&](Page& p, std::uint32_t at, unsigned lane) {
    const std::uint64_t reader = p.readers[at], writer = p.writers[at];
    if (nothing_new({reader ^ now, reader}, {writer ^ left, writer})) {
      if (mode_.lines) p.lines[at][0] = touch.line;
      return;
    }
    const std::uint64_t offset = p.number * kPage + (std::uint64_t{at} << shift_) - lanes.address[lane];  // in the value
    slow_write(view, p, at, now, touch, hash_of(values.of(lane) >> (8 * offset % 64) & bits));
  });
}

void GlobalRaces::forget(std::uint64_t address, std::uint64_t bytes) {
  Hold hold(mode_.concurrent);
  for (std::uint64_t from = address; from < address + bytes;) {
    const std::uint64_t number = from / kPage, to = std::min(address + bytes, (number + 1) * kPage);
    Page* const page = known_page(number);
    hold.take(page);
    for (auto at = from % kPage >> shift_; page != nullptr && at <= (to - 1) % kPage >> shift_; ++at)
      page->writers[at] = page->readers[at] = 0;
    from = to;
  }
}

bool GlobalRaces::ordered(const RaceView& view, std::uint64_t earlier, std::uint64_t now) const {
  if (((earlier ^ now) & kCta) == 0) return ordered_in_cta(earlier, now);
  if (mode_.unordered) return false;
  const auto fences = fences_.find(earlier & kCta);
  if (fences == fences_.end()) return false;
  const auto epoch = static_cast<std::uint32_t>((earlier & kCtaAndEpoch) >> kCtaBits);
  const auto since = std::lower_bound(fences->second.begin(), fences->second.end(), epoch,
                                      [](const Fence& f, std::uint32_t e) { return f.epoch < e; });
  return since != fences->second.end() && since->time <= view.acquired;
}

void GlobalRaces::slow_read(const RaceView& view, Page& page, std::uint32_t at, std::uint64_t now,
                            const GlobalTouch& touch) {
  std::uint64_t &writer = page.writers[at], &reader = page.readers[at];
  const bool both_strong = (writer & now & kStrong) != 0;
  if ((writer & kValid) != 0 && !both_strong && ((mode_.unordered && (writer & kCtas) != 0) || !ordered(view, writer, now)))
    raced(page, at, true, now, touch, false);
  reader = next_reader(reader, now, (reader & kCtas) == 0 && ordered(view, reader, now));
  if (mode_.lines) page.lines[at][1] = touch.line;
}

void GlobalRaces::slow_write(const RaceView& view, Page& page, std::uint32_t at, std::uint64_t now, const GlobalTouch& touch,
                             std::uint32_t hash) {
  std::uint64_t &writer = page.writers[at], &reader = page.readers[at];
  const Stored stored(hash);
  const bool same = stored.same(writer, reader);
  if ((writer & kValid) != 0 && (writer & now & kStrong) == 0) {
    const bool agree = same && ((writer | now) & kStrong) == 0 && (writer & kVaried) == 0;
    const bool others = (mode_.unordered && (writer & kCtas) != 0) || !ordered(view, writer, now);
    if (others && !agree) raced(page, at, true, now, touch, true);
  }
  if ((reader & kValid) != 0 && (reader & now & kStrong) == 0) {
    // Of several readers the last one is known; where nothing orders this CTA after others, one of them is enough.
    const bool others = (reader & kCtas) != 0 && (mode_.unordered || view.acquired == 0);
    if (others || !ordered(view, reader, now)) raced(page, at, false, now, touch, true);
  }
  writer = next_writer(writer, now, stored, same);
  reader = with_value(reader, stored);
  if (mode_.lines) page.lines[at][0] = touch.line;
}

void GlobalRaces::raced(Page& page, std::uint32_t at, bool with_writer, std::uint64_t now, const GlobalTouch& touch,
                        bool writes) {
  std::uint64_t& reader = page.readers[at];
  if ((reader & kCounted) == 0) ++locations_;
  reader |= kCounted;
  if (!mode_.lines) return;
  const std::lock_guard lock(mutex_);
  const std::uint64_t word = with_writer ? page.writers[at] : reader;
  // The one that is known may be the same warp, or come before a barrier: then it was one of those before.
  const bool own = ((word ^ now) & kCta) == 0;
  const auto partner = own && ordered_in_cta(word, now)    ? GlobalRace::another_block
                       : own && ((word ^ now) & kKey) == 0 ? GlobalRace::another_warp
                                                           : GlobalRace::named;
  const std::uint32_t line = partner != GlobalRace::named ? 0 : page.lines[at][with_writer ? 0 : 1];
  if (found_.size() == kMostFound || !named_.emplace(line, touch.line).second) return;
  GlobalRace race;
  race.kernel = kernel_, race.second_place = lines_->place(touch.line);
  if (line != 0) race.first_place = lines_->place(line);
  race.address = page.number * kPage + (std::uint64_t{at} << shift_);
  race.first = touch_of(word, line), race.second = touch, race.partner = partner;
  race.first_writes = with_writer, race.second_writes = writes;
  found_.push_back(std::move(race));
}

void GlobalRaces::fence(RaceView& view, std::uint64_t cta) {
  if (!mode_.unordered) {
    fences_[cta & kCta].push_back({view.epoch, ++time_});
    view.acquired = time_;
  }
  ++view.epoch;
}

void GlobalRaces::acquire(RaceView& view) { view.acquired = time_; }

std::string text_of(const GlobalRace& r) {
  const auto side = [&](const GlobalTouch& t, bool writes, const std::string& place) {
    return fmt::format("block {}, warp {} {} it ({})", t.cta, t.warp, deed(t, writes), place);
  };
  const char* const does = r.first_writes ? "has written" : "has read";
  const std::string first = r.partner == GlobalRace::named ? side(r.first, r.first_writes, r.first_place)
                            : r.partner == GlobalRace::another_warp
                                ? fmt::format("another warp of block {} {} it", r.second.cta, does)
                                : fmt::format("another block {} it", does);
  return fmt::format("kernel {}: race at {:#x}: {}, then {}, and nothing orders the two", function_name(r.kernel), r.address,
                     first, side(r.second, r.second_writes, r.second_place));
}

}  // namespace atl::ptx
