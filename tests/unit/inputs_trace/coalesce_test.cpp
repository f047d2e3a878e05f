#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <vector>

#include "inputs/trace/block_filter.hpp"
#include "inputs/trace/coalesce.hpp"

namespace atl {
namespace {

constexpr std::uint64_t kBase = 0x7fb0fc400000;

std::vector<std::uint64_t> strided(std::uint64_t base, std::int64_t stride, unsigned lanes = 32) {
  std::vector<std::uint64_t> out;
  for (unsigned i = 0; i < lanes; ++i) out.push_back(base + static_cast<std::uint64_t>(stride * i));
  return out;
}

std::vector<Access> coalesced(const std::vector<std::uint64_t>& address, unsigned width) {
  std::vector<Access> out(64);
  out.resize(coalesce(address.data(), static_cast<unsigned>(address.size()), width, out.data()));
  return out;
}

unsigned passes(const std::vector<std::uint64_t>& address, unsigned width) {
  return shared_passes(address.data(), static_cast<unsigned>(address.size()), width);
}

}  // namespace

TEST_CASE("32 lanes of 4 bytes at stride 4 are one access to all four sectors") {
  CHECK(coalesced(strided(kBase, 4), 4) == std::vector{Access::make(kBase, 0xF)});
}

TEST_CASE("stride 4 from the middle of a sector touches four sectors of one block and the first of the next") {
  CHECK(coalesced(strided(kBase + 16, 4), 4) == std::vector{Access::make(kBase, 0xF), Access::make(kBase + 128, 0x1)});
}

TEST_CASE("32 lanes at stride 128 are 32 accesses to one sector each") {
  const auto found = coalesced(strided(kBase + 32, 128), 4);
  REQUIRE(found.size() == 32);
  for (unsigned i = 0; i < 32; ++i) CHECK(found[i] == Access::make(kBase + 128 * i, 0x2));
}

TEST_CASE("32 lanes of 8 bytes fill two blocks and of 16 bytes four") {
  CHECK(coalesced(strided(kBase, 8), 8) == std::vector{Access::make(kBase, 0xF), Access::make(kBase + 128, 0xF)});
  const auto found = coalesced(strided(kBase, 16), 16);
  REQUIRE(found.size() == 4);
  for (unsigned i = 0; i < 4; ++i) CHECK(found[i] == Access::make(kBase + 128 * i, 0xF));
}

TEST_CASE("a filter of blocks knows those that it has, and takes few of the others for known at any stride") {
  std::mt19937_64 random(1);
  for (std::uint64_t stride = 1; stride <= std::uint64_t{1} << 24; stride = stride % 3 == 0 ? stride / 3 * 4 : stride * 3) {
    CAPTURE(stride);
    unsigned mistaken = 0;
    constexpr unsigned kRounds = 200, kBlocks = 32;
    for (unsigned round = 0; round < kRounds; ++round) {
      BlockFilter filter;
      const std::uint64_t first = random() >> 24;
      for (unsigned i = 0; i < kBlocks; ++i) {
        mistaken += filter.perhaps(first + i * stride) ? 1 : 0;
        filter.add(first + i * stride);
      }
      for (unsigned i = 0; i < kBlocks; ++i) CHECK(filter.perhaps(first + i * stride));
    }
    CHECK(mistaken < kRounds * kBlocks / 16);  // blocks that lie at random: 16 of 512 bits are set on average
  }
}

TEST_CASE("lanes that gather and come back to blocks of lanes before them add to what these touched") {
  std::mt19937_64 random(2);
  for (unsigned round = 0; round < 500; ++round) {
    const std::uint64_t blocks = 1 + random() % 64, pitch = std::uint64_t{128} << random() % 12;
    std::vector<std::uint64_t> address;
    for (unsigned lane = 0; lane < 32; ++lane)
      address.push_back(kBase + random() % blocks * pitch + random() % 31 * 4 + (random() % 8 == 0 ? 2 : 0));
    std::vector<Access> expected;  // one lane and one byte after the other
    for (const std::uint64_t first : address)
      for (std::uint64_t at = first; at < first + 4; ++at) {
        const Access one = Access::make(at, 1u << at % 128 / 32);
        const auto known =
            std::find_if(expected.begin(), expected.end(), [&](const Access& a) { return a.block() == one.block(); });
        if (known == expected.end())
          expected.push_back(one);
        else
          known->packed |= one.packed;
      }
    CHECK(coalesced(address, 4) == expected);
  }
}

TEST_CASE("one lane across a block boundary is two accesses, the lower block first") {
  CHECK(coalesced({kBase + 120}, 16) == std::vector{Access::make(kBase, 0x8), Access::make(kBase + 128, 0x1)});
}

TEST_CASE("accesses stand in the order in which the lanes first touch their blocks") {
  CHECK(coalesced({kBase + 256, kBase, kBase + 300, kBase + 128, kBase + 96}, 4) ==
        std::vector{Access::make(kBase + 256, 0x3), Access::make(kBase, 0x9), Access::make(kBase + 128, 0x1)});
}

TEST_CASE("32 lanes that all straddle blocks of their own are 64 accesses, the most there can be") {
  CHECK(coalesced(strided(kBase + 120, 4096), 16).size() == 64);
}

TEST_CASE("an access by no lane is no access and one pass") {
  CHECK(coalesced({}, 4).empty());
  CHECK(passes({}, 4) == 1);
}

TEST_CASE("shared memory serves 32 consecutive words in 1 pass, stride 8 in 2, stride 128 in 32") {
  CHECK(passes(strided(0, 4), 4) == 1);
  CHECK(passes(strided(0, 8), 4) == 2);
  CHECK(passes(strided(0, 128), 4) == 32);
}

TEST_CASE("lanes that read the same word share a pass, in whatever order they come") {
  CHECK(passes(strided(64, 0), 4) == 1);
  CHECK(passes({128, 0, 128, 4, 0}, 4) == 2);
}

TEST_CASE("32 consecutive 8-byte words take 2 passes and 16-byte words 4") {
  CHECK(passes(strided(0, 8), 8) == 2);
  CHECK(passes(strided(0, 16), 16) == 4);
}

TEST_CASE("lanes in a row, or at one place, are what the bytes are that they touch together") {
  for (const unsigned width : {1u, 2u, 4u, 8u, 16u, 32u})
    for (std::uint64_t offset = 0; offset < 300; ++offset)
      for (const unsigned step : {width, 0u}) {
        CAPTURE(width);
        CAPTURE(offset);
        CAPTURE(step);
        const std::vector<std::uint64_t> address = strided(kBase + offset, step);
        const std::uint64_t bytes = step == 0 ? width : 32 * width;
        const std::vector<Access> lanes = coalesced(address, width);
        Access found[64];
        const unsigned count = coalesce(address[0], bytes, found);
        REQUIRE(std::vector(found, found + count) == lanes);
        REQUIRE(touches_partly(address[0], bytes) == touches_partly(address.data(), 32, width, lanes.data(), count));
        REQUIRE(shared_passes(address[0], bytes) == passes(address, width));
      }
}

TEST_CASE("an access to shared memory takes as many passes as the most distinct words of a bank") {
  std::mt19937_64 random(5);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  unsigned conflicts = 0;
  for (unsigned round = 0; round < 20000; ++round) {
    // Few words or many, of few banks or all; aligned or not; sometimes in windows far apart, or at the end of a word's
    // range.
    const unsigned width = 1u << below(4), lanes = 1 + static_cast<unsigned>(below(32));
    const std::uint64_t span = std::uint64_t{1} << (3 + below(14)), step = std::uint64_t{4} << below(6);
    const bool far = below(8) == 0, end = below(8) == 0;
    std::vector<std::uint64_t> address;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      std::uint64_t at = below(span) * (below(8) == 0 ? 1 : step) + (end ? 0x3'FFFF'FFE0 : kBase);
      if (far) at += below(3) << 33;
      address.push_back(at);
    }
    std::array<std::set<std::uint64_t>, 32> words;
    for (const std::uint64_t at : address)
      for (std::uint64_t word = at / 4; word <= (at + width - 1) / 4; ++word) words[word % 32].insert(word);
    std::size_t most = 1;
    for (const auto& bank : words) most = std::max(most, bank.size());
    CAPTURE(round);
    REQUIRE(passes(address, width) == most);
    conflicts += width == 4 && most > 1;
  }
  CHECK(conflicts > 1000);
}

}  // namespace atl
