#include "partition/pae.hpp"

#include <doctest/doctest.h>

#include <chrono>

namespace atl {
namespace {

using Rows = std::vector<std::uint64_t>;

std::uint64_t output_positions(const PaeShape& shape) {
  std::uint64_t mask = 0;
  for (unsigned i = 0; i < shape.outputs(); ++i) mask |= 1ull << shape.position(i);
  return mask;
}

TEST_CASE("the published masks are a bijection and their slice rows are invertible on bits 8-11") {
  const PaeMasks masks = pae_masks(PaeShape{});
  CHECK(output_positions(masks.shape) == 0x38F00);
  CHECK(masks.shape.row_shift() == 18);
  CHECK(gf2_rank(masks.rows, output_positions(masks.shape)) == 7);
  CHECK(gf2_rank(masks.slice(), 0xF00) == 4);
  CHECK(masks.slice() == std::vector<std::uint64_t>{0xb59e8800, 0x1fdd0300, 0xa0f90a00, 0xe52d8f00});
}

TEST_CASE("rank counts independent rows") {
  CHECK(gf2_rank(std::vector<std::uint64_t>{1, 2, 3}) == 2);
  CHECK(gf2_rank(std::vector<std::uint64_t>{5, 6, 3, 8}) == 3);
  CHECK(gf2_rank(std::vector<std::uint64_t>{0xF0, 0x1F}, 0x0F) == 1);
  CHECK(gf2_rank({}) == 0);
}

TEST_CASE("the search finds an invertible map with droppable slice bits for every shape, the same each time") {
  for (unsigned channels = 0; channels <= 6; ++channels) {
    for (unsigned slices = 0; slices <= 8; slices += 2) {
      for (unsigned banks : {0u, 2u, 4u, 6u}) {
        const PaeShape shape{channels, slices > channels ? slices - channels : 0, banks, 3, slices};
        const PaeMasks masks = search_pae_masks(shape, 200);
        REQUIRE(masks.rows.size() == shape.outputs());
        CHECK(gf2_rank(masks.rows, output_positions(shape)) == shape.outputs());
        CHECK(masks.slice().size() == slices);
        CHECK(gf2_rank(masks.slice(), ((1ull << slices) - 1) << 8) == slices);
        CHECK(search_pae_masks(shape, 200).rows == masks.rows);
        for (const std::uint64_t row : masks.rows) CHECK((row & 0xFF) == 0);
      }
    }
  }
}

TEST_CASE("the search finds these masks for 16 banks and rows of 2 KiB: results rest on every bit of them") {
  // channel, sub-slice, bank, column and slice bits
  CHECK(pae_masks({4, 0, 4, 3, 4}).rows ==
        Rows{0x97f48100, 0x377c0e00, 0x116d0d00, 0xee520b00, 0xd33b8200, 0x4ebf0b00, 0x828f8600, 0x1f868300});
  CHECK(pae_masks({3, 2, 4, 3, 5}).rows ==
        Rows{0xb2611500, 0x1f0d0300, 0xe7f10500, 0xee2a0e00, 0xbdee1a00, 0x52a91400, 0x449f1000});
  CHECK(pae_masks({4, 1, 4, 3, 5}).rows ==
        Rows{0xef291500, 0x05e60200, 0xd4b40c00, 0xfc8a0a00, 0x8c2e1c00, 0x676b0600, 0x79a20100, 0xd7ee0f00});
  CHECK(pae_masks({5, 1, 4, 3, 6}).rows ==
        Rows{0x26f02700, 0xa8ea0a00, 0x6ea21c00, 0x3a440b00, 0xaf041000, 0x59823200, 0x5bc20500, 0xa6442b00, 0xf90c3000});
}

TEST_CASE("the full search for SelRep's nine outputs takes less than 50 ms and covers every ten-bit stride") {
  const PaeShape shape{5, 1, 4, 3, 6};
  CHECK(shape.outputs() == 9);
  const auto start = std::chrono::steady_clock::now();
  const PaeMasks masks = pae_masks(shape);
  const auto taken = std::chrono::steady_clock::now() - start;
  MESSAGE("search: " << std::chrono::duration<double, std::milli>(taken).count() << " ms");
#ifdef NDEBUG
  CHECK(taken < std::chrono::milliseconds(50));
#endif
  for (unsigned low = 7; low <= 22; ++low) {
    CAPTURE(low);
    CHECK(gf2_rank(masks.slice(), 1023ull << low) == 6);
  }
}

}  // namespace
}  // namespace atl
