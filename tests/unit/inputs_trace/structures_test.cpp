#include "inputs/trace/structures.hpp"

#include <doctest/doctest.h>

namespace atl {
namespace {

TEST_CASE("allocations become structures by address, with their name or their number") {
  const auto s = structures_of({{0x3000, 100, 2, ""}, {0x1000, 512, 0, "table"}, {0x2000, 0, 1, "empty"}});
  CHECK(s == std::vector<DataStructure>{{"table", 0x1000, 512}, {"#2", 0x3000, 100}});
}

TEST_CASE("allocations that overlap are one structure, neighbours are not") {
  const auto s = structures_of({{0x1000, 0x100, 0, ""},
                                {0x1100, 0x100, 1, ""},  // begins where the first one ends
                                {0x1180, 0x200, 7, ""},  // memory used again
                                {0x1100, 0x40, 3, ""},
                                {0x1200, 0x10, 4, "x"},
                                {0x1210, 0x10, 5, "x"}});
  CHECK(s == std::vector<DataStructure>{{"#0", 0x1000, 0x100}, {"x, #1, #3 and 1 more", 0x1100, 0x280}});
}

TEST_CASE("sizes that reach beyond all addresses end with them") {
  const auto s = structures_of({{0x1000, ~0ull, 0, ""}, {~0ull, ~0ull, 1, ""}});
  CHECK(s == std::vector<DataStructure>{{"#0", 0x1000, (1ull << 63) - 0x1000}});
}

}  // namespace
}  // namespace atl
