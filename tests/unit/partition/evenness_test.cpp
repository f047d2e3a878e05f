#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <vector>

#include "partition/address_map.hpp"
#include "partition/set_indexer.hpp"

/// With mapping = hashed every slice, channel, bank and set of a machine is met equally often by the addresses that can
/// come, whatever their number. The measure is chi-square: of n places that lines meet at random it has mean n - 1 and
/// variance 2 (n - 1). No pattern below may exceed 1.1 times that mean (1.3 for sets: where these are a power of two their
/// index is linear) by more than six standard deviations: rounds of lines rather than lines are turned at random, so that
/// the measure varies more than of single draws. Streams stay far below it.
namespace atl {
namespace {

struct Shape {
  std::uint32_t slices, channels, ways, sets;
};
constexpr std::array kShapes{Shape{36, 36, 16, 128}, Shape{40, 40, 16, 256},  Shape{80, 80, 16, 320},
                             Shape{96, 96, 16, 320}, Shape{80, 160, 16, 320}, Shape{96, 48, 16, 336},
                             Shape{7, 7, 16, 100},   Shape{64, 64, 16, 128}};

SystemConfig machine(const Shape& s) {
  SystemConfig c;
  c.chips = 1;
  c.partition.mapping = Mapping::hashed;
  c.llc.slices = s.slices, c.llc.ways = s.ways;
  c.llc.size_kib = s.slices * s.ways * s.sets / 8;
  c.dram.channels = s.channels, c.dram.row_bytes = 1024;
  return c;
}

double chi_square(const std::vector<std::uint64_t>& use) {
  double total = 0, sum = 0;
  for (const std::uint64_t n : use) total += static_cast<double>(n);
  const double mean = total / static_cast<double>(use.size());
  for (const std::uint64_t n : use) sum += (static_cast<double>(n) - mean) * (static_cast<double>(n) - mean) / mean;
  return sum;
}
double bound(std::size_t places, double factor = 1.1) {
  const double free = static_cast<double>(places) - 1;
  return factor * free + 6 * std::sqrt(2 * free);
}

struct SetUse {
  explicit SetUse(const Shape& s)
      : slice(s.slices), channel(s.channels), bank(std::size_t{s.channels} * 16), set(std::size_t{s.slices} * s.sets) {}
  void check() const {
    for (const auto* use : {&slice, &channel, &bank}) {
      CAPTURE(use->size());
      CHECK(chi_square(*use) < bound(use->size()));
    }
    CHECK(chi_square(set) < bound(set.size(), 1.3));
  }
  std::vector<std::uint64_t> slice, channel, bank, set;
};

/// Lines first, first + stride, ...: as many as four for every set of the chip. `owned`: chips take chunks in turn, and only
/// those of chip 1 come to it.
SetUse use_of(const SystemConfig& c, const Shape& s, std::uint64_t first, std::uint64_t stride, bool owned = false) {
  const AddressMap map(c);
  const SetIndexer index(SetIndex::xor_fold, s.sets);
  SetUse use(s);
  const std::uint64_t wanted = std::uint64_t{4} * s.slices * s.sets;
  const std::uint64_t page_lines = c.partition.page_bytes() / c.line_bytes;
  for (std::uint64_t line = first, met = 0; met < wanted; line += stride) {
    if (owned && line / page_lines / c.partition.chunk_pages() % c.chips != 1) continue;
    ++met;
    const std::uint32_t slice = map.slice({line}), channel = map.channel({line});
    ++use.slice[slice], ++use.channel[channel];
    ++use.bank[std::size_t{channel} * 16 + map.bank({line})];
    ++use.set[std::size_t{slice} * s.sets + index(map.line_in_slice({line}))];
  }
  return use;
}

TEST_CASE("hashed: a stream meets every slice, channel, bank and set alike, within the bound of chi-square") {
  for (const Shape& s : kShapes) {
    CAPTURE(s.slices);
    CAPTURE(s.channels);
    use_of(machine(s), s, 0x2000000, 1).check();
    use_of(machine(s), s, 0x123456789, 1).check();
  }
}

TEST_CASE("hashed: strides of powers of two and of the machine's own numbers meet all alike") {
  for (const Shape& s : kShapes) {
    CAPTURE(s.slices);
    CAPTURE(s.channels);
    const std::uint64_t channels = s.channels, sets = s.sets;
    for (const std::uint64_t stride :
         {std::uint64_t{2}, std::uint64_t{8}, std::uint64_t{64}, std::uint64_t{1024}, std::uint64_t{8192}, 2 * channels,
          2 * channels * 5, 2 * channels * sets, 2 * channels - 2, 2 * channels + 2, 4 * channels * 64}) {
      CAPTURE(stride);
      use_of(machine(s), s, 0x2000000, stride).check();
    }
  }
}

TEST_CASE("hashed: the lines of one home of several meet all alike, in chunks of a page and of 2 MB") {
  for (const Shape& s : {kShapes[2], kShapes[5]}) {
    for (const std::uint32_t chips : {2u, 3u, 8u}) {
      for (const double interleave_kib : {4.0, 2048.0}) {
        SystemConfig c = machine(s);
        c.chips = chips, c.partition.placement = Placement::interleaved, c.partition.interleave_kib = interleave_kib;
        CAPTURE(s.slices);
        CAPTURE(chips);
        CAPTURE(interleave_kib);
        use_of(c, s, 0x2000000, 1, true).check();
      }
    }
  }
}

TEST_CASE("hashed: without the hash a stride of as many chunks as there are channels meets a single one") {
  SystemConfig c = machine(kShapes[1]);
  c.partition.mapping = Mapping::interleaved;
  const AddressMap plain(c);
  c.partition.mapping = Mapping::hashed;
  const AddressMap hashed(c);
  std::vector<std::uint64_t> seen(40), spread(40);
  for (std::uint64_t i = 0; i < 4000; ++i) ++seen[plain.channel({i * 80})], ++spread[hashed.channel({i * 80})];
  CHECK(seen[0] == 4000);
  CHECK(chi_square(spread) < bound(40));
}

}  // namespace
}  // namespace atl
