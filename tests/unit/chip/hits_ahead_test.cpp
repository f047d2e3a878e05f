#include <array>
#include <random>

#include "reference_cache.hpp"
#include "sm_alone.hpp"

// Ops of many lines, of which hits take no events: when each line is presented, worked out line by line.
namespace atl::test {
namespace {

struct Expected {
  Cycles misses;  ///< when each left the load-store unit
  std::uint64_t hits = 0, merges = 0, latency = 0;
  Cycle end = 0;
};

struct LoadOp {
  std::vector<Access> accesses;
  std::uint8_t slot;
  std::uint32_t waits;  ///< for these slots
};

/// One warp on an SM whose L1 is a text book's. A line that arrives in a cycle is there for what is presented in it.
class LineByLine {
 public:
  explicit LineByLine(const SystemConfig& c)
      : config_(c),
        sets_(c.l1.size_kib * 1024 / c.line_bytes / c.l1.ways),
        index_(c.l1.index, sets_),
        cache_(sets_, c.l1.ways, false, full()) {}

  Expected run(const std::vector<LoadOp>& ops) {
    Cycle now = 1;  // of the issue of the next op
    for (const LoadOp& op : ops) {
      now = std::max(now, ready(op.waits));
      for (const Access a : op.accesses) {
        const std::uint32_t parts = Access::kSectors / line_sectors();
        for (std::uint32_t part = 0; part < parts; ++part) {
          const auto sectors = static_cast<std::uint8_t>(a.sectors() >> (part * line_sectors()) & full());
          if (sectors != 0) now = present(now, op.slot, a.block() * parts + part, sectors) + 1;
        }
      }
    }
    result_.end = std::max(now, ready(~0u));
    fill_until(kNever - 1);
    return result_;
  }

 private:
  struct Fill {
    Cycle at;
    std::uint64_t line;
    std::uint8_t sectors;
  };
  std::uint32_t line_sectors() const { return config_.line_bytes / Access::kSectorBytes; }
  std::uint8_t full() const { return static_cast<std::uint8_t>((1u << line_sectors()) - 1); }

  Cycle ready(std::uint32_t slots) const {
    Cycle at = 0;
    for (std::uint32_t s = 0; s < done_.size(); ++s)
      if ((slots >> s & 1) != 0) at = std::max(at, done_[s]);
    return at;
  }
  void fill_until(Cycle now) {
    for (; !fills_.empty() && fills_.front().at <= now; fills_.erase(fills_.begin())) {
      const Fill f = fills_.front();
      cache_.fill(index_(f.line), f.line, f.sectors);
    }
  }
  /// When the line is presented: at once, unless all MSHRs are taken.
  Cycle present(Cycle at, std::uint8_t slot, std::uint64_t line, std::uint8_t sectors) {
    fill_until(at);
    const bool pending = last_of(line) != 0;
    if (!pending && !cache_.has(index_(line), line, sectors) && fills_.size() == config_.l1.mshrs)
      return present(fills_.front().at, slot, line, sectors);
    Cycle done = at + config_.l1.latency_cycles;
    switch (cache_.read(index_(line), line, sectors)) {
      case ReferenceCache::Outcome::hit:
        ++result_.hits;
        break;
      case ReferenceCache::Outcome::merge:
        ++result_.merges;
        done = last_of(line);
        break;
      case ReferenceCache::Outcome::fetch:
        result_.misses.push_back(at);
        fills_.push_back({at + kLoad, line, full()});
        done = last_of(line);
        break;
    }
    result_.latency += done - at;
    done_[slot] = std::max(done_[slot], done);
    return at;
  }
  Cycle last_of(std::uint64_t line) const {
    Cycle at = 0;
    for (const Fill& f : fills_)
      if (f.line == line) at = f.at;
    return at;
  }

  SystemConfig config_;
  std::uint32_t sets_;
  SetIndexer index_;
  ReferenceCache cache_;
  std::vector<Fill> fills_;  ///< in the order in which they come
  std::array<Cycle, kScoreboardSlots> done_{};
  Expected result_;
};

/// Of few blocks, so that lines are found again and replaced, by ops of which several are under way at a time.
std::vector<LoadOp> random_ops(std::mt19937& random, std::uint32_t blocks, bool whole_lines) {
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  std::vector<LoadOp> ops(60);
  for (LoadOp& op : ops) {
    const std::uint32_t first = below(blocks), step = 1 + below(3), count = below(3) == 0 ? 1 : 2 + below(31);
    for (std::uint32_t i = 0; i < count; ++i)
      op.accesses.push_back(
          Access::make(std::uint64_t{(first + i * step) % blocks} * 128, whole_lines ? 0xF : 1 + below(15)));
    op.slot = static_cast<std::uint8_t>(below(4));
    op.waits = std::array{0u, 1u << op.slot, 0xFu}[below(3)];
  }
  return ops;
}

/// One warp loads 32 lines, and when it has them loads them again.
struct TwiceTheSame : SmAlone {
  static constexpr Cycle kAgain = 32 + kLoad;  ///< the last line was asked for in cycle 32
  TwiceTheSame() : SmAlone(roomy()) {
    c.observer = nullptr;
    std::vector<Access> lines;
    for (std::uint64_t i = 0; i < 32; ++i) lines.push_back(Access::make(i * 128, 0xF));
    warp().loads(lines, 0).after({0}).loads(lines, 1);
  }
  static SystemConfig roomy() {
    SystemConfig config = tiny(1);
    config.l1.size_kib = 8, config.l1.mshrs = 32;
    return config;
  }
};

}  // namespace

TEST_CASE("ops of many lines take the cycles of one line after the other, though hits have no events") {
  SystemConfig config = tiny(1);
  bool observed = false, whole = true;
  SUBCASE("lines of a block") {}
  SUBCASE("seen by an observer") { observed = true; }
  SUBCASE("few MSHRs") { config.l1.mshrs = 3; }
  SUBCASE("an L1 of one set") { config.l1.ways = 32; }
  SUBCASE("lines of half a block, of which any sector may be asked for") {
    config.line_bytes = 64, config.l1.size_kib = 2, whole = false;
  }
  config.l1.mshr_merges = 64;
  config.l1.sectored = false;
  std::uint64_t hits = 0, events = 0, lines = 0;
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const std::vector<LoadOp> ops = random_ops(random, 16 + seed, whole);
    const Expected expected = LineByLine(config).run(ops);
    SmAlone b(config);
    if (!observed) b.c.observer = nullptr;
    for (const LoadOp& op : ops) {
      for (unsigned s = 0; s < 4; ++s)
        if ((op.waits >> s & 1) != 0) b.warp().after({s});
      b.warp().loads(op.accesses, op.slot);
    }
    b.run(1'000'000);
    Cycles misses = b.cycles(EventKind::slice_arrive);
    for (Cycle& at : misses) at -= kLoad - 100;
    CHECK(misses == expected.misses);
    CHECK(b.c.count[Counter::l1_hits] == expected.hits);
    CHECK(b.c.count[Counter::l1_merges] == expected.merges);
    CHECK(b.c.count[Counter::load_latency_cycles] == expected.latency);
    CHECK(b.ends() == Cycles{expected.end});
    hits += expected.hits, events += b.c.queue.handled();
    lines += expected.hits + expected.merges + expected.misses.size();
  }
  CHECK(hits > lines / 4);
  if (!observed && whole) CHECK(events < 3 * lines);  // a line that misses: of the unit, the slice's and its fill
}

TEST_CASE("an op of 32 lines that all hit takes two events, in which its last line is presented and its data are there") {
  TwiceTheSame b;
  const Cycle again = TwiceTheSame::kAgain;
  std::uint64_t before = 0;
  b.at(again, [&] { before = b.c.queue.handled(); });
  b.run();
  CHECK(b.c.count[Counter::l1_hits] == 32);
  CHECK(b.ends() == Cycles{again + 31 + 29});
  // Besides these two: the last fill, the warp's two issues, and its end.
  CHECK(b.c.queue.handled() - before == 2 + 4);
}

TEST_CASE("an op whose last line comes before its hits have been read is done when they are") {
  SmAlone b(tiny(1));
  b.c.observer = nullptr;
  constexpr std::uint64_t kHere = 0, kComing = 128;
  b.warp().load(kHere, 0).after({0}).load(kComing, 1).pause(180);
  b.warp().loads({Access::make(kHere, 0xF), Access::make(kComing, 0xF)}, 2).after({2}).pause(1);
  b.run();
  const Cycle asked = 1 + kLoad, again = asked + 1 + 180;  // the second line arrives in asked + kLoad, 6 cycles after it
  CHECK(b.c.count[Counter::l1_merges] == 1);
  CHECK(b.ends() == Cycles{again + 29 + 1});
}

TEST_CASE("counters that are read while hits are ahead have those that were due, and a paused SM presents no more") {
  TwiceTheSame b;
  const Cycle again = TwiceTheSame::kAgain;
  std::vector<std::uint64_t> seen;
  const auto look = [&] { b.sm.catch_up(), seen.push_back(b.c.count[Counter::l1_hits]); };
  b.at(again + 5, look);
  b.at(again + 10, [&] { b.c.paused = true, b.sm.pause(), look(); });
  b.at(again + 20, look);
  b.at(again + 100, [&] { b.c.paused = false, b.sm.retry(); });
  b.at(again + 103, look);
  b.run();
  CHECK(seen == std::vector<std::uint64_t>{5, 10, 10, 13});
  CHECK(b.ends() == Cycles{again + 100 + 21 + 29});
}

}  // namespace atl::test
