#include "partition/fast_div.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <limits>

namespace atl {
namespace {

TEST_CASE("quotients and remainders are those of a division for all numbers below 2^63") {
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
  for (const std::uint32_t divisor : {1u, 2u, 3u, 7u, 64u, 96u, 1155u, 98'304u, 98'305u, 1u << 31, kMost}) {
    CAPTURE(divisor);
    const FastDiv div(divisor);
    for (unsigned bits = 0; bits <= 63; ++bits) {
      const std::uint64_t top = std::uint64_t{1} << bits;
      for (const std::uint64_t x : {top - 1, top - 1 - (top - 1) % divisor, top / divisor * divisor - 1}) {
        if (x >> 63 != 0) continue;
        CAPTURE(x);
        CHECK(div.quotient(x) == x / divisor);
        CHECK(div.remainder(x) == x % divisor);
      }
    }
  }
}

}  // namespace
}  // namespace atl
