#include "partition/set_indexer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "partition/address_map.hpp"

namespace atl {
namespace {

/// Largest set population over the mean, for the lines of one slice among `lines` lines at `stride`.
double unevenness(const AddressMap& map, const SetIndexer& index, std::uint32_t sets, std::uint64_t lines,
                  std::uint64_t stride, std::uint32_t slice = 3) {
  std::vector<unsigned> use(sets);
  double total = 0;
  for (std::uint64_t i = 0; i < lines; ++i) {
    const LineAddr line{0x2000000 + i * stride};
    if (map.slice(line) != slice) continue;
    ++use[index(map.line_in_slice(line))];
    ++total;
  }
  if (total == 0) return 0;  // modulo interleaving: a stride of 11 lines need not reach this slice
  return *std::max_element(use.begin(), use.end()) / (total / sets);
}

TEST_CASE("linear takes the low bits, xor_fold folds all groups") {
  const SetIndexer linear(SetIndex::linear, 128), fold(SetIndex::xor_fold, 128);
  CHECK(linear(0x12345) == 0x45);
  CHECK(fold(0x7F) == 0x7F);
  CHECK(fold(1ull << 42) == 1);
  CHECK(fold(3ull << 7 | 5) == (3 ^ 5));
  CHECK(SetIndexer(SetIndex::xor_fold, 1)(12345) == 0);
}

TEST_CASE("where sets are no power of two linear is the remainder, and xor_fold a permutation of it in each round") {
  const SetIndexer linear(SetIndex::linear, 96), fold(SetIndex::xor_fold, 96);
  for (const std::uint64_t line : {0ull, 95ull, 96ull, 12345ull, (1ull << 43) - 1}) CHECK(linear(line) == line % 96);
  for (const std::uint64_t round : {0ull, 1ull, 1000ull, (1ull << 36)}) {
    std::vector<unsigned> use(96);
    for (std::uint64_t i = 0; i < 96; ++i) ++use[fold(round * 96 + i)];
    CHECK(std::all_of(use.begin(), use.end(), [](unsigned n) { return n == 1; }));
    CHECK(fold(round * 96 + 1) == (fold(round * 96) + 1) % 96);
  }
}

TEST_CASE(
    "ipoly: lines of a slice that are a power of two apart meet all sets, where the set's polynomial has the slice's too") {
  for (const auto& [slices, channels, sets, divides] :
       {std::tuple{2u, 2u, 64u, true}, std::tuple{2u, 4u, 64u, true}, std::tuple{2u, 8u, 128u, true},
        std::tuple{4u, 8u, 128u, true}, std::tuple{4u, 4u, 64u, true}, std::tuple{4u, 4u, 512u, true},
        std::tuple{8u, 8u, 128u, true}, std::tuple{8u, 4u, 128u, true}, std::tuple{8u, 8u, 64u, false},
        std::tuple{4u, 4u, 128u, false}, std::tuple{32u, 16u, 128u, false}}) {
    CAPTURE(slices);
    CAPTURE(channels);
    CAPTURE(sets);
    SystemConfig config;
    config.partition.mapping = Mapping::ipoly, config.llc.slices = slices, config.dram.channels = channels;
    const AddressMap map(config);
    REQUIRE(map.folds_to_slice(sets) == divides);
    const SetIndexer index(SetIndex::xor_fold, sets, divides);
    const std::uint64_t lines = std::uint64_t{slices} * sets * 64;
    for (std::uint32_t slice = 0; slice < slices; ++slice) {
      for (std::uint64_t stride = 1; stride <= 1 << 14; stride *= 2) {
        CAPTURE(stride);
        CHECK(unevenness(map, index, sets, lines, stride, slice) <= 1.25);
      }
    }
  }
}

TEST_CASE("lines of one slice spread evenly over its sets: streams, strides and random") {
  for (const auto& [mapping, slices, channels, line_bytes] :
       {std::tuple{Mapping::pae, 16u, 8u, 128u}, std::tuple{Mapping::pae, 16u, 8u, 64u},
        std::tuple{Mapping::pae, 64u, 32u, 128u}, std::tuple{Mapping::interleaved, 22u, 11u, 128u}}) {
    SystemConfig config;
    config.partition.mapping = mapping;
    config.llc.slices = slices;
    config.dram.channels = channels;
    config.line_bytes = line_bytes;
    const AddressMap map(config);
    const SetIndexer index(SetIndex::xor_fold, 128);
    CAPTURE(slices);
    CAPTURE(line_bytes);
    const std::uint64_t lines = std::uint64_t{slices} * 128 * 16;  // as many as the chip's LLC holds
    CHECK(unevenness(map, index, 128, lines, 1) <= 1.07);
    for (std::uint64_t stride = 2; stride <= 4096; stride *= 2) {
      CAPTURE(stride);
      CHECK(unevenness(map, index, 128, lines, stride) <= 2.0);
    }
    for (std::uint64_t stride : {3, 5, 7, 11, 33, 100, 1000, 1023, 1025}) {
      CAPTURE(stride);
      CHECK(unevenness(map, index, 128, lines, stride) <= 2.0);
    }
    // Random lines: about Poisson with mean 16 per set; the largest of 128 sets is below 16 + 5 sigma.
    CHECK(unevenness(map, index, 128, lines, 0x9E3779B9) <= 36.0 / 16);
  }
}

}  // namespace
}  // namespace atl
