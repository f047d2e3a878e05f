#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "inputs/workload/even_share.hpp"

using namespace atl;

namespace {
std::uint64_t taken(const EvenShare& share, std::uint64_t from, std::uint64_t until) {
  return share.at(until).before - share.at(from).before;
}
}  // namespace

TEST_CASE("A share's members are counted without a gap") {
  for (const double s : {0.0, 0.01, 0.1, 1.0 / 3, 0.5, 0.77, 1.0}) {
    CAPTURE(s);
    const EvenShare share(s);
    std::uint64_t before = 0;
    for (std::uint64_t n = 0; n < 20000; ++n) {
      const EvenShare::Place at = share.at(n);
      REQUIRE(at.before == before);
      before += at.taken;
    }
    CHECK(std::abs(static_cast<double>(before) - s * 20000) <= 8);
    for (std::uint64_t n = 0; n <= 20 * 4096; n += 4096)
      CHECK(share.at(n).before == static_cast<std::uint64_t>(std::floor(s * static_cast<double>(n) + 1e-6)));
  }
}

TEST_CASE("Every 16 in a row have their share, to one member") {
  for (const double s : {0.01, 0.1, 1.0 / 3, 0.5, 0.77}) {
    const EvenShare share(s);
    for (std::uint64_t n = 0; n < 16000; n += 16) {
      const auto members = static_cast<double>(taken(share, n, n + 16));
      REQUIRE(std::abs(members - 16 * s) < 1);
    }
  }
}

TEST_CASE("No warp of a round is favoured") {
  // Members of `warps` warps in turn: with members at equal distances, half of the warps would have them all.
  for (const std::uint64_t warps : {2u, 3u, 8u, 16u, 24u, 64u, 96u, 512u}) {
    for (const double s : {0.1, 0.25, 1.0 / 3, 0.5, 0.75, 0.9}) {
      CAPTURE(warps);
      CAPTURE(s);
      const EvenShare share(s);
      constexpr std::uint64_t kRounds = 6400;
      double chi_square = 0;
      for (std::uint64_t w = 0; w < warps; ++w) {
        double members = 0;
        for (std::uint64_t r = 0; r < kRounds; ++r) members += share.at(r * warps + w).taken;
        const double off = members - kRounds * s;
        // No farther than independent draws would be: 4.5 standard deviations for each warp.
        CHECK(std::abs(off) <= 4.5 * std::sqrt(kRounds * s * (1 - s)));
        chi_square += off * off / (kRounds * s * (1 - s));
      }
      // Its mean is the number of warps. Positions of one 16 exclude each other, at most in pairs of one for one (a half):
      // that doubles its variance of twice that number.
      const auto degrees = static_cast<double>(warps);
      CHECK(chi_square <= degrees + 4.5 * std::sqrt(4 * degrees));
    }
  }
}

TEST_CASE("A warp's members do not come in long runs") {
  // With a half and eight warps, the longest run of rounds that a fair coin gives in 6,400 is about 13.
  const EvenShare share(0.5);
  for (std::uint64_t w = 0; w < 8; ++w) {
    int run = 0, longest = 0;
    for (std::uint64_t r = 0; r < 6400; ++r) {
      run = share.at(r * 8 + w).taken ? run + 1 : 0;
      longest = std::max(longest, run);
    }
    CHECK(longest <= 26);
  }
}
