#include "core/chip/llc/protocol/home_directory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>
#include <tuple>

#include "inputs/config/system_config.hpp"

namespace atl::home_directory_sets_test {

namespace {

using enum InvalidationCause;

struct Sent {
  std::uint64_t line, chips;
  InvalidationCause cause;
  bool operator==(const Sent&) const = default;
  auto key() const { return std::tuple(line, chips, cause); }
  bool operator<(const Sent& other) const { return key() < other.key(); }
};

constexpr std::uint8_t kHome = 0;

/// A directory and what it sends.
struct Directory : HomeDirectory {
  using HomeDirectory::HomeDirectory;
  std::vector<Sent> sent;
  auto sender() {
    sent.clear();
    return [this](LineAddr line, std::uint64_t chips, InvalidationCause cause) {
      sent.push_back({line.value, chips, cause});
    };
  }
  Outcome read(std::uint64_t line, std::uint8_t chip) { return remote_read({line}, chip, sender()); }
  Outcome write(std::uint64_t line, std::uint8_t chip) { return remote_write({line}, chip, sender()); }
  void write_through(std::uint64_t line, std::uint8_t chip) { HomeDirectory::write_through({line}, chip, sender()); }
  void write_at_home(std::uint64_t line) { write_through(line, kHome); }
  std::uint64_t at(std::uint64_t line) const { return sharers_of({line}); }
};

using List = std::vector<Sent>;

constexpr DirectoryShape kLine{.sets = 1, .ways = 2}, kRec{.sets = 1, .ways = 2, .lines = 16, .lru = true},
    kHmg{.sets = 1, .ways = 2, .lines = 4, .common_sharers = true};

}  // namespace

TEST_CASE("readers become sharers, also of a line that is tracked already") {
  for (const DirectoryShape& shape : {kLine, kRec, kHmg}) {
    Directory d(shape);
    CHECK(d.read(5, 1).allocated);
    CHECK(!d.read(5, 3).allocated);
    CHECK(d.at(5) == 0b1010);
    CHECK(d.sent.empty());
  }
}

TEST_CASE("a write of the home invalidates all sharers, a single one too, and the line is tracked no more") {
  for (const DirectoryShape& shape : {kLine, kRec}) {
    Directory d(shape);
    d.read(5, 2);
    d.write_at_home(5);
    CHECK(d.sent == List{{5, 0b0100, write}});
    CHECK(d.at(5) == 0);
    d.read(5, 1), d.read(5, 3);
    d.write_at_home(5);
    CHECK(d.sent == List{{5, 0b1010, write}});
    d.write_at_home(5);
    CHECK(d.sent.empty());
  }
}

TEST_CASE("a remote write leaves the writer the only sharer, whether it was one before or not") {
  for (const DirectoryShape& shape : {kLine, kRec}) {
    Directory d(shape);
    CHECK(d.write(5, 1).allocated);
    CHECK(d.sent.empty());
    CHECK(d.at(5) == 0b0010);
    d.read(5, 2), d.read(5, 3);
    CHECK(!d.write(5, 2).allocated);
    CHECK(d.sent == List{{5, 0b1010, write}});
    CHECK(d.at(5) == 0b0100);
    d.write(5, 2);
    CHECK(d.sent.empty());
    CHECK(d.at(5) == 0b0100);
  }
}

TEST_CASE("a write through a cache leaves the writer a sharer if it was one, and tracks no line that was not") {
  for (const DirectoryShape& shape : {kLine, kRec, kHmg}) {
    Directory d(shape);
    d.write_through(5, 1);
    CHECK(d.sent.empty());
    CHECK(d.at(5) == 0);
    d.read(5, 2), d.read(5, 3);
    d.write_through(5, 2);
    CHECK(d.sent.size() == shape.lines / (shape.common_sharers ? 1 : shape.lines));
    CHECK(d.at(5) == 0b0100);
    for (const Sent& s : d.sent) CHECK(s.chips == 0b1000);
    d.write_through(5, 1);
    CHECK(d.sent[0].chips == 0b0100);
    CHECK(d.at(5) == 0);
    CHECK(d.read(6 + 64, 1).evicted_lines == 0);  // the entry is free again
    CHECK(d.read(6 + 128, 1).evicted_lines == 0);
  }
}

TEST_CASE("an evicted line costs an invalidation for its sharers, and says so") {
  Directory d(kLine);
  d.read(1, 1), d.read(2, 2), d.read(2, 3);
  const auto first = d.read(3, 1);
  CHECK(d.sent == List{{1, 0b0010, evict}});
  CHECK(first.evicted_lines == 1);
  d.write(4, 1);
  CHECK(d.sent == List{{2, 0b1100, evict}});
}

TEST_CASE("FIFO gives up the entry allocated first, LRU the one used longest ago") {
  for (const bool lru : {false, true}) {
    DirectoryShape shape = kLine;
    shape.lru = lru;
    Directory d(shape);
    d.read(1, 1), d.read(2, 1), d.read(1, 2);
    d.read(3, 1);
    CHECK(d.sent.size() == 1);
    CHECK(d.sent[0].line == (lru ? 2 : 1));
  }
}

TEST_CASE("an entry that became invalid is taken before any valid one is given up") {
  Directory d(kLine);
  d.read(1, 1), d.read(2, 1);
  d.write_at_home(2);
  CHECK(d.read(3, 1).evicted_lines == 0);
  CHECK(d.sent.empty());
  CHECK(d.at(1) == 0b0010);
}

TEST_CASE("REC: offset 0x340 is the 14th line of its range of 1 KB, whose bits begin at the 52nd behind the base") {
  SystemConfig c;
  c.chips = 4, c.line_bytes = 64;
  c.coherence.protocol = CoherenceProtocol::rec, c.coherence.range_bytes = 1024;
  const Directory d(directory_shape(c));
  const DirectoryLayout layout = directory_layout(c);
  const std::uint32_t bits_per_line = (layout.position_bits + layout.sharer_bits) / layout.position_bits;
  CHECK(d.offset({0x340 / 64}) == 13);
  CHECK(d.offset({0x12340 / 64}) == 13);
  CHECK(d.offset({0x340 / 64}) * bits_per_line == 52);
  CHECK((d.offset({0x3C0 / 64}) + 1) * bits_per_line == layout.position_bits + layout.sharer_bits);  // the last
}

TEST_CASE("REC: lines of one range share an entry, each with sharers of its own") {
  Directory d(kRec);
  CHECK(d.read(16, 1).allocated);
  CHECK(!d.read(29, 2).allocated);  // the 14th line of the range: offset 0x340
  CHECK(d.at(16) == 0b0010);
  CHECK(d.at(29) == 0b0100);
  CHECK(d.at(17) == 0);
  d.write_at_home(17);
  CHECK(d.sent.empty());
  d.write(17, 3);  // the base is there, the position is not
  CHECK(d.sent.empty());
  CHECK(d.at(17) == 0b1000);
}

TEST_CASE("REC: a write of the home clears its position only; the entry is free when no position is left") {
  Directory d(kRec);
  d.read(0, 1), d.read(1, 2), d.read(16, 1);
  d.write_at_home(0);
  CHECK(d.sent == List{{0, 0b0010, write}});
  CHECK(d.at(1) == 0b0100);
  CHECK(d.read(2, 1).allocated == false);
  d.write_at_home(1), d.write_at_home(2);
  CHECK(d.read(32, 1).evicted_lines == 0);
  CHECK(d.at(16) == 0b0010);
}

TEST_CASE("REC: an eviction is a burst, one invalidation for each line and its sharers, and never for other lines") {
  Directory d(kRec);
  d.read(0, 1), d.read(0, 2), d.read(3, 3), d.read(15, 1);
  d.read(16, 1);
  const auto outcome = d.read(32, 1);
  CHECK(d.sent == List{{0, 0b0110, evict}, {3, 0b1000, evict}, {15, 0b0010, evict}});
  CHECK(outcome.evicted_lines == 3);
  CHECK(d.at(0) == 0);
  d.read(5, 2);  // the range again, in the place of the other: nothing of its old sharers is left
  CHECK(d.at(0) == 0);
  CHECK(d.at(3) == 0);
}

TEST_CASE("HMG: four lines have one set of sharers, and are invalidated together") {
  Directory d(kHmg);
  d.read(4, 1);
  CHECK(!d.read(7, 2).allocated);
  CHECK(d.at(5) == 0b0110);
  SUBCASE("by a write of the home, after which the entry is free") {
    d.write_at_home(6);
    CHECK(d.sent == List{{4, 0b0110, write}, {5, 0b0110, write}, {6, 0b0110, write}, {7, 0b0110, write}});
    CHECK(d.at(4) == 0);
    CHECK(d.read(4, 1).allocated);
  }
  SUBCASE("by a remote write, but for the writer, who keeps all four") {
    d.write(6, 2);
    CHECK(d.sent == List{{4, 0b0010, write}, {5, 0b0010, write}, {6, 0b0010, write}, {7, 0b0010, write}});
    CHECK(d.at(4) == 0b0100);
  }
  SUBCASE("by an eviction") {
    d.read(8, 1);
    CHECK(d.read(12, 1).evicted_lines == 4);
    CHECK(d.sent == List{{4, 0b0110, evict}, {5, 0b0110, evict}, {6, 0b0110, evict}, {7, 0b0110, evict}});
  }
}

TEST_CASE("every copy that was handed out is tracked or was invalidated, and only such are invalidated") {
  for (const std::uint32_t lines : {1u, 2u, 16u, 64u}) {
    for (const bool lru : {false, true}) {
      Directory d({.sets = 4, .ways = 2, .lines = lines, .lru = lru});
      std::set<std::pair<std::uint64_t, std::uint64_t>> copies;  // line, chip
      std::mt19937 random(lines);
      std::uint64_t evicted = 0;
      for (int i = 0; i < 20000; ++i) {
        const std::uint64_t line = random() % 40 * lines + random() % lines % 8;
        const auto chip = static_cast<std::uint8_t>(1 + random() % 3);
        const auto op = random() % 4;
        op < 2 ? (void)d.read(line, chip) : op == 2 ? (void)d.write(line, chip) : d.write_at_home(line);
        for (const Sent& s : d.sent) {
          evicted += s.cause == evict;
          CHECK((s.cause == evict || s.line == line));
          for (std::uint64_t c = 0; c < 4; ++c)
            if ((s.chips >> c & 1) != 0) CHECK(copies.erase({s.line, c}) == 1);
        }
        if (op != 3) copies.emplace(line, chip);
        for (std::uint64_t c = 1; c < 4; ++c) CHECK((d.at(line) >> c & 1) == copies.count({line, c}));
      }
      CHECK(evicted > 1000);
    }
  }
}

TEST_CASE("a cleared directory knows of nobody") {
  Directory d(kRec);
  d.read(1, 1), d.read(20, 2);
  d.clear();
  CHECK(d.at(1) == 0);
  d.read(2, 3);
  CHECK(d.at(1) == 0);
  CHECK(d.sent.empty());
}

TEST_CASE("a directory that takes another shape tells every sharer of every tracked line once, and begins with nothing") {
  for (const std::uint32_t lines : {1u, 4u, 16u, 64u}) {
    Directory d({.sets = 4, .ways = 2, .lines = lines, .lru = true});
    std::mt19937 random(lines);
    for (const std::uint32_t next : {16u, 2u, 64u, 64u}) {
      for (int i = 0; i < 500; ++i) {
        const std::uint64_t line = random() % 1000;
        const auto chip = static_cast<std::uint8_t>(1 + random() % 3);
        i % 3 == 0 ? (void)d.write(line, chip) : i % 3 == 1 ? (void)d.read(line, chip) : d.write_at_home(line);
      }
      List tracked;
      for (std::uint64_t line = 0; line < 1000; ++line)
        if (d.at(line) != 0) tracked.push_back({line, d.at(line), evict});
      REQUIRE(!tracked.empty());
      d.reshape({.sets = 2, .ways = 3, .lines = next, .lru = true}, d.sender());
      std::sort(d.sent.begin(), d.sent.end());
      CHECK(d.sent == tracked);
      for (std::uint64_t line = 0; line < 1000; ++line) CHECK(d.at(line) == 0);
    }
    CHECK(d.read(0, 1).allocated);
    CHECK(!d.read(63, 2).allocated);  // one range of the new 64 lines
  }
}

}  // namespace atl::home_directory_sets_test
