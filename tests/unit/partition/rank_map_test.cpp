#include "partition/rank_map.hpp"

#include <doctest/doctest.h>

#include "core/engine/error.hpp"

namespace atl {
namespace {

std::vector<std::uint32_t> ranks_of(const RankMap& map) {
  std::vector<std::uint32_t> out;
  for (LpId lp = 0; lp < map.lps(); ++lp) out.push_back(map.rank_of(lp));
  return out;
}

using Ranks = std::vector<std::uint32_t>;

TEST_CASE("N + 1 ranks: chip k in rank k, the controller in rank N") {
  CHECK(ranks_of(RankMap::spread(4, 5)) == Ranks{0, 1, 2, 3, 4});
}

TEST_CASE("fewer ranks take contiguous chips, the controller joins the last of the least loaded") {
  CHECK(ranks_of(RankMap::spread(4, 1)) == Ranks{0, 0, 0, 0, 0});
  CHECK(ranks_of(RankMap::spread(4, 2)) == Ranks{0, 0, 1, 1, 1});
  CHECK(ranks_of(RankMap::spread(4, 3)) == Ranks{0, 0, 1, 2, 2});
  CHECK(ranks_of(RankMap::spread(4, 4)) == Ranks{0, 1, 2, 3, 3});
  CHECK(RankMap::spread(4, 3).lps_of(0) == std::vector<LpId>{0, 1});
}

TEST_CASE("every rank has work for all sizes") {
  for (std::uint32_t chips = 1; chips <= 16; ++chips)
    for (std::uint32_t ranks = 1; ranks <= chips + 1; ++ranks) {
      const RankMap map = RankMap::spread(chips, ranks);
      std::size_t least = chips + 1, most = 0;
      for (std::uint32_t r = 0; r < ranks; ++r) {
        least = std::min(least, map.lps_of(r).size());
        most = std::max(most, map.lps_of(r).size());
      }
      CHECK(least >= 1);
      CHECK(most - least <= 1 + (ranks == 1));
    }
}

TEST_CASE("more ranks than logical processes are refused with the largest number") {
  CHECK_THROWS_WITH_AS(RankMap::spread(4, 6),
                       "6 ranks: a system of 4 chips runs on 1 to 5 ranks, one per chip and one for the controller",
                       InputError);
}

TEST_CASE("an explicit map is taken as it is") {
  CHECK(ranks_of(RankMap::parse("0,0,1,1,2", 4, 3)) == Ranks{0, 0, 1, 1, 2});
  CHECK(ranks_of(RankMap::parse("1,0,1,0,0", 4, 2)) == Ranks{1, 0, 1, 0, 0});
}

TEST_CASE("a faulty map says what is wrong") {
  CHECK_THROWS_WITH_AS(RankMap::parse("0,0,1,1", 4, 2), doctest::Contains("4 entries, but 5 are needed"), InputError);
  CHECK_THROWS_WITH_AS(RankMap::parse("0,0,1,1,2", 4, 2), doctest::Contains("rank 2 does not exist"), InputError);
  CHECK_THROWS_WITH_AS(RankMap::parse("0,0,0,0,2", 4, 3), doctest::Contains("rank 1 has nothing to do"), InputError);
  CHECK_THROWS_WITH_AS(RankMap::parse("0,x,0,0,0", 4, 1), doctest::Contains("'x' is not a rank"), InputError);
  CHECK_THROWS_WITH_AS(RankMap::parse("0,,0,0,0", 4, 1), doctest::Contains("'' is not a rank"), InputError);
}

}  // namespace
}  // namespace atl
