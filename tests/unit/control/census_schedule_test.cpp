#include "core/chip/observe/census_schedule.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace atl;

TEST_CASE("looks are at the same times and stand for the same cycles however time is divided into calls") {
  constexpr Cycle kEnd = 2'000'000;
  CensusSchedule one;
  std::uint64_t looks = 0, weight = 0;
  while (one.next() < kEnd) weight += one.take(0), ++looks;
  CHECK(one.taken() == looks);
  CHECK(weight + CensusSchedule::kFirst == one.next());
  const Cycle sparse_from = CensusSchedule::kFirst * (1 + 128 * (1 + 2 + 4));
  CHECK(looks == 128 * 3 + (kEnd - 1 - sparse_from) / CensusSchedule::kLongest + 1);

  std::mt19937 random(3);
  CensusSchedule cut;
  std::uint64_t cut_weight = 0;
  while (cut.next() < kEnd) cut_weight += cut.take(std::min(kEnd, cut.next() + random() % 50'000));
  CHECK(cut.taken() == looks);
  CHECK(cut.next() == one.next());
  CHECK(cut_weight == weight);
}
