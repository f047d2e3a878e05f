#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "inputs/config/presets.hpp"
#include "inputs/config/reader.hpp"
#include "partition/address_map.hpp"
#include "partition/home_pages.hpp"
#include "partition/page_placement.hpp"
#include "partition/set_indexer.hpp"
#include "policies/coherence/directory_layout.hpp"

/// Every hashed index of a chip is reached evenly by the addresses that can come: those of the chip's own pages, whose
/// addresses have bits in common.
namespace atl {
namespace {

/// How often each of so many places was chosen.
class Counts {
 public:
  Counts(std::string what, std::size_t places) : what_(std::move(what)), count_(places) {}
  void add(std::size_t place) { ++count_.at(place); }
  /// Chi-square per degree of freedom is 1 for places drawn at random, 0 for a perfect deal and n - 1 if one of n has all;
  /// for the fewest places here, 8, four draws in ten thousand exceed 4, and for 1,000 none exceeds 1.3.
  void check_even() const {
    CAPTURE(what_);
    double total = 0, chi_square = 0;
    for (const double n : count_) total += n;
    const auto places = static_cast<double>(count_.size());
    for (const double n : count_) chi_square += (n - total / places) * (n - total / places) / (total / places);
    REQUIRE(total >= 8 * places);
    CHECK(*std::min_element(count_.begin(), count_.end()) > 0);
    CHECK(chi_square / std::max(1.0, places - 1) <= 1.3);
  }

 private:
  std::string what_;
  std::vector<double> count_;
};

std::uint32_t llc_sets(const SystemConfig& c) { return c.llc.size_kib * 1024 / c.llc.slices / c.line_bytes / c.llc.ways; }

/// Calls see(line) for `lines` neighbouring lines of a home, as placement deals them out.
template <class See> void for_each_line_at(const SystemConfig& c, std::uint8_t home, std::uint64_t lines, See&& see) {
  const StaticPlacement placement(c);
  const std::uint64_t per_page = c.partition.page_bytes() / c.line_bytes;
  const std::uint64_t first = 0x40000000 / c.partition.page_bytes();
  for (std::uint64_t page = first, left = lines; left != 0; ++page) {
    if (placement.home({page}) != home) continue;
    for (std::uint64_t k = 0; k < per_page && left != 0; ++k, --left) see(LineAddr{page * per_page + k});
  }
}

void check_memory(const SystemConfig& c, std::uint8_t home) {
  const AddressMap map(c);
  const std::uint32_t sets = llc_sets(c), banks = c.dram.timing.banks;
  const SetIndexer set(c.llc.index, sets);
  Counts slices("slices", c.llc.slices), channels("channels", c.dram.channels);
  Counts all_banks("banks", std::size_t{c.dram.channels} * banks), all_sets("LLC sets", std::size_t{c.llc.slices} * sets);
  for_each_line_at(c, home, std::uint64_t{c.llc.slices} * sets * 16, [&](LineAddr line) {
    const std::size_t slice = map.slice(line), channel = map.channel(line);
    slices.add(slice), channels.add(channel);
    all_banks.add(channel * banks + map.bank(line));
    all_sets.add(slice * sets + set(map.line_in_slice(line)));
  });
  for (const Counts* n : {&slices, &channels, &all_banks, &all_sets}) n->check_even();
}

TEST_CASE("slices, channels, banks and LLC sets are reached evenly by the pages of any home, in every preset" *
          doctest::test_suite("stress")) {
  for (const PresetInfo& preset : list_presets()) {
    for (const std::uint32_t chips : {1u, 2u, 4u, 8u, 16u}) {
      for (const auto& [page, chunk] :
           {std::pair{4.0, 4.0}, {4, 64}, {64, 64}, {4, 2048}, {2048, 2048}, {0.5, 0.5}, {0.5, 1.5}}) {
        SystemConfig c = read_system(preset.name, {});
        c.chips = chips;
        if (c.partition.memory_chips != 0)  // dies of two kinds
          c.partition.memory_chips = std::max(1u, chips / 3), c.partition.compute_chips = chips - c.partition.memory_chips;
        c.partition.placement = Placement::interleaved, c.partition.page_kib = page, c.partition.interleave_kib = chunk;
        CAPTURE(preset.name);
        CAPTURE(chips);
        CAPTURE(chunk);
        for (const std::uint32_t home : std::set{c.first_memory_chip(), chips - 1})
          check_memory(c, static_cast<std::uint8_t>(home));
      }
    }
  }
}

TEST_CASE("slices, channels, banks and LLC sets are reached evenly under every placement that goes by the address") {
  for (const Word<Placement>& placement : words<Placement>()) {
    if (home_of_address(placement.value) == HomeOfAddress::unknown) continue;
    for (const std::uint32_t chips : {2u, 4u, 16u}) {
      SystemConfig c = read_system("sac-4chip", {});
      c.chips = chips, c.partition.placement = placement.value;
      CAPTURE(placement.word);
      CAPTURE(chips);
      check_memory(c, 0);
    }
  }
}

/// Ranges of the lines that `lines_of` tells, 16 for each set.
template <class LinesOf> void check_directory(const SystemConfig& c, std::uint8_t home, LinesOf&& lines_of) {
  const DirectoryShape shape = directory_shape(c);
  const SetIndexer set(shape.index, shape.sets);
  HomePages pages(c, home);
  Counts sets("directory sets", shape.sets);
  std::uint64_t last = ~std::uint64_t{0}, wrong = 0;
  lines_of(std::uint64_t{shape.sets} * 16 * shape.lines, [&](LineAddr line) {
    const LineAddr local = pages.local(line);
    wrong += pages.global(local) != line;
    if (const std::uint64_t range = local.value / shape.lines; range != last) sets.add(set(last = range));
  });
  CHECK(wrong == 0);
  sets.check_even();
}

TEST_CASE("the sets of a home's directory are reached evenly, whatever chunks and chips there are" *
          doctest::test_suite("stress")) {
  for (const char* protocol : {"directory", "hmg", "rec"}) {
    for (const std::uint32_t chips : {2u, 4u, 8u, 16u}) {
      for (const auto& [page, chunk] : {std::pair{4.0, 4.0}, {4, 64}, {4, 2048}, {2048, 2048}, {0.5, 0.5}, {1, 3}}) {
        for (const std::uint32_t entries : {8192u, 24576u, 40960u}) {
          SystemConfig c = read_system("rec-4gpu", {std::string("coherence.protocol=") + protocol});
          c.chips = chips, c.coherence.directory_entries = entries;
          c.partition.page_kib = page, c.partition.interleave_kib = chunk;
          CAPTURE(protocol);
          CAPTURE(chips);
          CAPTURE(chunk);
          CAPTURE(entries);
          const auto home = static_cast<std::uint8_t>(chips - 1);
          check_directory(c, home, [&](std::uint64_t n, auto&& see) { for_each_line_at(c, home, n, see); });
        }
      }
    }
  }
}

TEST_CASE("by first touch too: a home of every fourth page, or of every sixteenth chunk of 16 pages") {
  for (const auto& [run, stride] : {std::pair{1u, 4u}, {16u, 256u}, {1u, 512u}}) {
    SystemConfig c = read_system("rec-4gpu", {"coherence.protocol=rec", "partition.placement=first_touch"});
    CAPTURE(stride);
    check_directory(c, 1, [&](std::uint64_t n, auto&& see) {
      const std::uint64_t per_page = c.partition.page_bytes() / c.line_bytes;
      for (std::uint64_t k = 0; k < n; ++k) {
        const std::uint64_t page = k / per_page;
        see(LineAddr{(0x40000 + page / run * stride + page % run) * per_page + k % per_page});
      }
    });
  }
}

TEST_CASE("pages may be larger than `interleave_kib` where nothing rotates") {
  SystemConfig c = read_system("sac-4chip", {"partition.page_kib=2048"});
  REQUIRE(c.partition.interleave_kib < 2048);
  CHECK(HomeLines(c).local({123456789}) == 123456789);
  CHECK(AddressMap(c).channel({12345}) < c.dram.channels);
}

TEST_CASE("pages of 512 bytes in rotation: a home's lines follow each other, eight to a page, and back") {
  SystemConfig c = read_system("rec-4gpu", {"partition.page_kib=0.5", "partition.interleave_kib=0.5"});
  const HomeLines lines(c);
  for (std::uint64_t n = 0; n < 100; ++n) {
    const LineAddr line = lines.global(n, 3);
    CHECK(line.value == n / 8 * 32 + 24 + n % 8);
    CHECK(lines.local(line) == n);
    CHECK(StaticPlacement(c).home({line.value / 8}) == 3);
  }
}

TEST_CASE("pages at the end of the address space have frames and homes of their own") {
  SystemConfig c = read_system("rec-4gpu", {"partition.placement=first_touch"});
  HomePages pages(c, 2);
  const LineAddr last{(std::uint64_t{1} << 63) / c.line_bytes - 1}, near{last.value & 0xFFFF};
  CHECK(pages.local(near).value < 64);
  CHECK(pages.local(last).value / 64 == 1);
  CHECK(pages.local(last) == pages.local(last));
  CHECK(pages.global(pages.local(last)) == last);
  CHECK(pages.frames() == 2);
  pages.check_state();

  PageHomeCache homes;
  const PageAddr far{(std::uint64_t{1} << 63) / 512 - 1};  // the smallest pages
  homes.insert(far, 3);
  homes.insert({far.value & 0xFFFFFFFF}, 1);
  CHECK(homes.find(far) == 3);
  std::uint64_t seen = 0;
  homes.for_each([&](PageAddr page, std::uint8_t) { seen = std::max(seen, page.value); });
  CHECK(seen == far.value);
  homes.check_state();
}

TEST_CASE("a page keeps its frame, and one that was never asked for has none") {
  SystemConfig c = read_system("rec-4gpu", {"partition.placement=first_touch"});
  HomePages pages(c, 2);
  LineAddr local{};
  CHECK(!pages.find({64 * 9}, local));
  CHECK(pages.local({64 * 9 + 5}) == LineAddr{5});
  CHECK(pages.local({64 * 3}) == LineAddr{64});
  for (std::uint64_t page = 100; page < 5000; ++page) pages.local({64 * page});
  CHECK(pages.local({64 * 9 + 6}) == LineAddr{6});
  REQUIRE(pages.find({64 * 3 + 1}, local));
  CHECK(local == LineAddr{65});
  CHECK(pages.global({65}) == LineAddr{64 * 3 + 1});
}

}  // namespace
}  // namespace atl
