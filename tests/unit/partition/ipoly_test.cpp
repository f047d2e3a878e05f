#include "partition/ipoly.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "inputs/config/presets.hpp"
#include "inputs/config/reader.hpp"
#include "partition/address_map.hpp"

namespace atl {
namespace {

TEST_CASE("the remainders are those of the primitive polynomials: x^n - 1 has the first power that comes back to 1") {
  for (unsigned n = 1; n <= 8; ++n) {
    CAPTURE(n);
    unsigned order = 1;
    while (ipoly_remainder(order, n) != 1) ++order;
    CHECK(order == (1u << n) - 1);
  }
}

TEST_CASE("16 and 32 slices: x^n to x^(n + 3) modulo x^4 + x + 1 and x^5 + x^2 + 1, by hand") {
  const std::vector<std::uint32_t> sixteen{0b0011, 0b0110, 0b1100, 0b1011}, thirty_two{0b00101, 0b01010, 0b10100, 0b01101};
  for (unsigned i = 0; i < 4; ++i) {
    CHECK(ipoly_remainder(4 + i, 4) == sixteen[i]);
    CHECK(ipoly_remainder(5 + i, 5) == thirty_two[i]);
  }
}

/// Address bits of `rtx3070`: 7 sub-slice, 8 to 11 channel, 12 to 15 column, 16 to 18 bank, 19 row.
TEST_CASE("the map of rtx3070 divides addresses as its configuration says, and no two lines have one place") {
  const AddressMap map(read_system("rtx3070", {}));
  const auto line = [](std::uint64_t address) { return LineAddr{address / 128}; };
  CHECK(map.slice(line(0)) == 0);
  CHECK(map.slice(line(0x80)) == 1);
  CHECK(map.slice(line(0x100)) == 2);
  CHECK(map.slice(line(0xf80)) == 31);
  CHECK(map.slice(line(0x1000)) == 0);  // the bit above the slice's is left out
  CHECK(map.slice(line(0x2000)) == 0b00101);
  CHECK(map.bank(line(0x80)) == 1);
  CHECK(map.bank(line(0x50000)) == 0b1010);
  CHECK(map.row(line(0x7ffff)) == 0);
  CHECK(map.row(line(0x80000)) == 1);
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> rows;  // of 16 lines each
  for (std::uint64_t i = 0; i < 1 << 16; ++i) {
    REQUIRE(map.channel({i}) == map.slice({i}) / 2);
    rows.emplace(map.channel({i}), map.bank({i}), map.row({i}));
  }
  CHECK(rows.size() == (1 << 16) / 16);
}

TEST_CASE("as many slices as channels, more, or fewer: lines in a row and in strides meet all alike") {
  for (const auto& [slices, channels] : {std::pair{16u, 16u}, {64u, 32u}, {8u, 16u}, {2u, 1u}, {128u, 64u}}) {
    SystemConfig config = read_system("rtx3070", {});
    config.llc.slices = slices, config.dram.channels = channels;
    const AddressMap map(config);
    for (const std::uint64_t stride : {1u, 2u, 16u, 256u, 4096u}) {
      CAPTURE(slices);
      CAPTURE(stride);
      std::vector<unsigned> slice(slices), channel(channels);
      for (std::uint64_t i = 0; i < 8192; ++i) {
        const LineAddr line{i * stride};
        ++slice[map.slice(line)], ++channel[map.channel(line)];
        // The larger number has the smaller's bits at its top.
        REQUIRE(map.slice(line) / std::max(1u, slices / channels) == map.channel(line) / std::max(1u, channels / slices));
      }
      for (const unsigned n : slice) CHECK(n == 8192 / slices);
      for (const unsigned n : channel) CHECK(n == 8192 / channels);
    }
  }
}

TEST_CASE("every stride of a power of two uses all 32 slices alike") {
  const AddressMap map(read_system("rtx3070", {}));
  for (std::uint64_t stride = 1; stride <= 1 << 20; stride *= 2) {
    CAPTURE(stride);
    std::vector<unsigned> use(32);
    for (std::uint64_t i = 0; i < 1024; ++i) ++use[map.slice({i * stride})];
    for (const unsigned n : use) CHECK(n == 32);
  }
}

}  // namespace
}  // namespace atl
