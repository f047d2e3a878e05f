#include "partition/address_map.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "core/engine/error.hpp"

namespace atl {
namespace {

SystemConfig shape(Mapping mapping, std::uint32_t slices, std::uint32_t channels, std::uint32_t line_bytes = 128) {
  SystemConfig config;
  config.partition.mapping = mapping;
  config.llc.slices = slices;
  config.dram.channels = channels;
  config.line_bytes = line_bytes;
  return config;
}

/// How often each slice is used by 1024 accesses at a stride, with addresses wrapped to 32 bits.
std::vector<unsigned> slice_use(const AddressMap& map, const SystemConfig& config, std::uint64_t stride) {
  std::vector<unsigned> use(config.llc.slices);
  for (std::uint64_t i = 0; i < 1024; ++i) ++use.at(map.slice({(i * stride & 0xFFFFFFFF) / config.line_bytes}));
  return use;
}

TEST_CASE("every power-of-two stride from 128 B to 32 MB uses all 16 slices equally") {
  const SystemConfig config = shape(Mapping::pae, 16, 8);
  const AddressMap map(config);
  for (std::uint64_t stride = 128; stride <= 32 << 20; stride *= 2) {
    CAPTURE(stride);
    const auto use = slice_use(map, config, stride);
    CHECK(std::all_of(use.begin(), use.end(), [](unsigned n) { return n == 64; }));
    std::set<unsigned> banks;
    for (std::uint64_t i = 0; i < 1024; ++i) {
      const LineAddr line{(i * stride & 0xFFFFFFFF) / 128};
      banks.insert(map.channel(line) * 16 + map.bank(line));
    }
    CHECK(banks.size() >= 64);
  }
}

TEST_CASE("the 16-slice map computes the published masks, slice = 2 channel + b0") {
  const AddressMap map(shape(Mapping::pae, 16, 8));
  const auto parity = [](std::uint64_t a) { return static_cast<unsigned>(__builtin_parityll(a)); };
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const std::uint64_t a = (i * 0x9E3779B97F4A7C15ull) & 0xFFFFFFFFFF80;
    const unsigned channel = parity(a & 0x1fdd0300) | parity(a & 0xa0f90a00) << 1 | parity(a & 0xe52d8f00) << 2;
    const unsigned b0 = parity(a & 0xb59e8800);
    REQUIRE(map.channel({a / 128}) == channel);
    REQUIRE(map.slice({a / 128}) == 2 * channel + b0);
    REQUIRE(map.bank({a / 128}) ==
            (b0 | parity(a & 0x0efc8d00) << 1 | parity(a & 0xb2018000) << 2 | parity(a & 0x2caa8500) << 3));
    REQUIRE(map.row({a / 128}) == a >> 18);
  }
}

TEST_CASE("lines of 64 bytes map like the 128-byte block they lie in") {
  const AddressMap wide(shape(Mapping::pae, 16, 8)), narrow(shape(Mapping::pae, 16, 8, 64));
  for (std::uint64_t line = 0; line < 100000; line += 7) {
    REQUIRE(narrow.slice({line}) == wide.slice({line / 2}));
    REQUIRE(narrow.row({line}) == wide.row({line / 2}));
    REQUIRE(narrow.bank({line}) == wide.bank({line / 2}));
  }
}

TEST_CASE("SelRep's 64 slices: strides spread, the stack is the top of the slice and of the channel") {
  SystemConfig config = shape(Mapping::pae, 64, 32);
  config.noc.memory_routers = 4;
  const AddressMap map(config);
  for (std::uint64_t stride = 128; stride <= 4 << 20; stride *= 2) {
    CAPTURE(stride);
    const auto use = slice_use(map, config, stride);
    CHECK(*std::max_element(use.begin(), use.end()) == 16);
  }
  for (std::uint64_t line = 0; line < 10000; ++line) {
    REQUIRE(map.slice({line}) / 2 == map.channel({line}));
    REQUIRE(map.router_of_slice(map.slice({line})) == map.channel({line}) / 8);
  }
}

/// (slice, number in the slice) must name a line uniquely, and (channel, bank, row) at most one row of lines.
void check_bijection(const SystemConfig& config) {
  const AddressMap map(config);
  constexpr std::uint64_t kLines = 1 << 17;
  std::set<std::pair<std::uint32_t, std::uint64_t>> seen;
  std::vector<unsigned> in_slice(config.llc.slices);
  std::vector<std::uint64_t> row_use;
  std::vector<std::set<std::uint32_t>> channels(config.llc.slices);
  for (std::uint64_t i = 0; i < kLines; ++i) {
    const LineAddr line{0x100000000 / config.line_bytes + i};
    const std::uint32_t slice = map.slice(line), channel = map.channel(line), bank = map.bank(line);
    REQUIRE(slice < config.llc.slices);
    REQUIRE(channel < config.dram.channels);
    REQUIRE(bank < config.dram.timing.banks);
    ++in_slice[slice];
    channels[slice].insert(channel);
    seen.insert({slice, map.line_in_slice(line)});
    row_use.push_back((std::uint64_t{map.row(line)} * config.dram.timing.banks + bank) * config.dram.channels + channel);
  }
  CHECK(seen.size() == kLines);
  std::sort(row_use.begin(), row_use.end());
  std::size_t longest = 0, run = 0;
  for (std::size_t i = 0; i < row_use.size(); ++i) {
    run = i && row_use[i] == row_use[i - 1] ? run + 1 : 1;
    longest = std::max(longest, run);
  }
  CHECK(longest == config.dram.row_bytes / config.line_bytes);
  const double mean = static_cast<double>(kLines) / config.llc.slices;
  CHECK(*std::max_element(in_slice.begin(), in_slice.end()) <= mean * 1.01 + 16);
  for (const auto& c : channels) CHECK(c.size() == std::max(1u, config.dram.channels / config.llc.slices));
}

TEST_CASE("every map is a bijection, fills whole rows, and gives a slice the fewest channels" *
          doctest::test_suite("stress")) {
  for (const auto& [mapping, slices, channels] : std::vector<std::tuple<Mapping, std::uint32_t, std::uint32_t>>{
           {Mapping::pae, 16, 8},         {Mapping::pae, 64, 32},         {Mapping::pae, 16, 16},
           {Mapping::pae, 8, 16},         {Mapping::pae, 32, 8},          {Mapping::pae, 1, 1},
           {Mapping::pae, 32, 1},         {Mapping::pae, 64, 1},          {Mapping::ipoly, 16, 16},
           {Mapping::ipoly, 16, 8},       {Mapping::ipoly, 8, 16},        {Mapping::ipoly, 2, 8},
           {Mapping::ipoly, 1, 4},        {Mapping::ipoly, 1, 1},         {Mapping::interleaved, 22, 11},
           {Mapping::interleaved, 16, 8}, {Mapping::interleaved, 16, 16}, {Mapping::interleaved, 6, 12},
           {Mapping::interleaved, 9, 3},  {Mapping::hashed, 80, 80},      {Mapping::hashed, 80, 40},
           {Mapping::hashed, 36, 12},     {Mapping::hashed, 48, 96},      {Mapping::hashed, 7, 7},
           {Mapping::hashed, 16, 8}}) {
    CAPTURE(slices);
    CAPTURE(channels);
    CAPTURE(static_cast<int>(mapping));
    check_bijection(shape(mapping, slices, channels));
    check_bijection(shape(mapping, slices, channels, 64));
  }
}

TEST_CASE("the interleaved map puts 256-byte chunks in consecutive channels, modulo 11") {
  const AddressMap map(shape(Mapping::interleaved, 22, 11));
  for (std::uint64_t line = 0; line < 100000; ++line) {
    const std::uint64_t chunk = line / 2;
    REQUIRE(map.channel({line}) == chunk % 11);
    REQUIRE(map.slice({line}) == chunk % 11 * 2 + chunk / 11 % 2);
    REQUIRE(map.bank({line}) % 2 == chunk / 11 % 2);
  }
}

TEST_CASE("a shape that cannot be mapped is an error that names the key") {
  CHECK_THROWS_WITH_AS(AddressMap(shape(Mapping::pae, 12, 4)),
                       "llc.slices: 12 is not a power of two, as partition.mapping = pae and ipoly need; use hashed",
                       InputError);
  CHECK_THROWS_WITH_AS(
      AddressMap(shape(Mapping::ipoly, 32, 8)),
      "llc.slices: 32 slices of 8 channels: partition.mapping = ipoly has at most 2 for a channel here; use "
      "pae or hashed",
      InputError);
  SystemConfig c = shape(Mapping::pae, 128, 1);  // 16 banks of rows of 1 KiB hold the chunks of 64 slices
  c.dram.row_bytes = 1024;
  CHECK_THROWS_WITH_AS(AddressMap{c},
                       "llc.slices: 128 slices of 1 channels: partition.mapping = pae has at most one for each 256 bytes of "
                       "a row (dram.row_bytes) in each bank of a channel; use hashed",
                       InputError);
  CHECK_THROWS_WITH_AS(AddressMap(shape(Mapping::interleaved, 12, 8)),
                       "llc.slices: 12 slices and 8 channels: one must be a multiple of the other", InputError);
}

}  // namespace
}  // namespace atl
