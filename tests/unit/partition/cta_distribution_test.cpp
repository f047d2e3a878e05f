#include "partition/cta_distribution.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <set>

namespace atl {
namespace {

using Slots = std::vector<std::uint32_t>;

TEST_CASE("contiguous ranges are [c N / C, (c + 1) N / C)") {
  for (std::uint64_t n : {0ull, 1ull, 3ull, 480ull, 4031ull, 1ull << 60}) {
    std::uint64_t next = 0;
    for (LpId chip = 0; chip < 4; ++chip) {
      const ChipCtas own(CtaToChip::contiguous, n, chip, 4, 16);
      if (own.count()) CHECK(own.nth(0) == next);
      next += own.count();
      CHECK(own.count() >= n / 4);
      CHECK(own.count() <= n / 4 + 1);
    }
    CHECK(next == n);
  }
  CHECK(ChipCtas(CtaToChip::contiguous, 10, 1, 4, 16).nth(0) == 2);
  CHECK(ChipCtas(CtaToChip::contiguous, 10, 1, 4, 16).count() == 3);
}

TEST_CASE("chips without SMs have no CTAs") {
  for (const CtaToChip kind : {CtaToChip::contiguous, CtaToChip::round_robin, CtaToChip::per_sm}) {
    CHECK(ChipCtas(kind, 100, 3, 4, 8).count() > 0);
    CHECK(ChipCtas(kind, 100, 4, 4, 8).count() == 0);
  }
}

TEST_CASE("round robin over chips covers every CTA once") {
  for (std::uint64_t n : {0, 1, 3, 4, 5, 481}) {
    std::set<std::uint64_t> seen;
    for (LpId chip = 0; chip < 4; ++chip) {
      const ChipCtas own(CtaToChip::round_robin, n, chip, 4, 16);
      for (std::uint64_t i = 0; i < own.count(); ++i) {
        CHECK(own.nth(i) % 4 == chip);
        CHECK(own.nth(i) < n);
        seen.insert(own.nth(i));
      }
    }
    CHECK(seen.size() == n);
  }
}

TEST_CASE("per_sm gives each chip consecutive CTAs, as many for each of its SMs as one needs for all to have a place") {
  const auto counts = [](std::uint64_t ctas) {  // on four chips of 16 SMs
    std::vector<std::uint64_t> of;
    std::uint64_t next = 0;
    for (LpId chip = 0; chip < 4; ++chip) {
      const ChipCtas own(CtaToChip::per_sm, ctas, chip, 4, 16);
      if (own.count() != 0) CHECK(own.nth(0) == next);
      if (own.count() != 0) CHECK(own.nth(own.count() - 1) == next + own.count() - 1);
      next += own.count();
      of.push_back(own.count());
    }
    CHECK(next == ctas);
    return of;
  };
  using Counts = std::vector<std::uint64_t>;
  CHECK(counts(0) == Counts{0, 0, 0, 0});
  CHECK(counts(12) == Counts{12, 0, 0, 0});  // one for each SM is enough
  CHECK(counts(23) == Counts{16, 7, 0, 0});
  CHECK(counts(64) == Counts{16, 16, 16, 16});
  CHECK(counts(65) == Counts{32, 32, 1, 0});  // two for each SM
  CHECK(counts(1000) == Counts{256, 256, 256, 232});
  constexpr std::uint64_t kMany = std::uint64_t{1} << 60;
  CHECK(counts(kMany) == Counts{kMany / 4, kMany / 4, kMany / 4, kMany / 4});
}

std::vector<std::uint32_t> fill(CtaDispatcher& d, Slots& free) {
  std::vector<std::uint32_t> order;
  while (const auto sm = d.next_sm(free)) --free[*sm], order.push_back(*sm);
  return order;
}

TEST_CASE("2L-RR puts CTA k on router k mod 16, SM k div 16 mod 4") {
  CtaDispatcher d(CtaToSm::two_level, 64, 4, 2);
  d.begin_kernel(1000, 2);
  Slots free(64, 2);
  const auto order = fill(d, free);
  REQUIRE(order.size() == 128);
  for (std::uint32_t k = 0; k < 128; ++k) CHECK(order[k] == k % 16 * 4 + k / 16 % 4);
  free[37] = 1;
  CHECK(d.next_sm(free) == 37);
}

TEST_CASE("2L-RR copes with a last router that has fewer SMs") {
  CtaDispatcher d(CtaToSm::two_level, 5, 2, 2);
  d.begin_kernel(100, 1);
  Slots free(5, 1);
  CHECK(fill(d, free) == std::vector<std::uint32_t>{0, 2, 4, 1, 3});
}

TEST_CASE("BCS puts blocks of two consecutive CTAs on one SM and refills when two slots are free") {
  CtaDispatcher d(CtaToSm::bcs, 4, 2, 2);
  d.begin_kernel(100, 3);
  Slots free(4, 3);
  CHECK(fill(d, free) == std::vector<std::uint32_t>{0, 0, 1, 1, 2, 2, 3, 3});
  CHECK(free == Slots{1, 1, 1, 1});
  free[2] = 2;
  CHECK(fill(d, free) == std::vector<std::uint32_t>{2, 2});
}

TEST_CASE("BCS shrinks its block to what an SM holds, and lets a short last block start") {
  CtaDispatcher one(CtaToSm::bcs, 2, 2, 4);
  one.begin_kernel(3, 1);
  Slots single(2, 1);
  CHECK(fill(one, single) == std::vector<std::uint32_t>{0, 1});
  CtaDispatcher d(CtaToSm::bcs, 2, 2, 2);
  d.begin_kernel(3, 2);
  Slots free{2, 1};
  CHECK(fill(d, free) == std::vector<std::uint32_t>{0, 0, 1});
}

TEST_CASE("round robin goes to the next SM with a free slot and starts anew with each kernel") {
  CtaDispatcher d(CtaToSm::round_robin, 4, 2, 2);
  d.begin_kernel(6, 2);
  Slots free{2, 0, 2, 1};
  CHECK(fill(d, free) == std::vector<std::uint32_t>{0, 2, 3, 0, 2});
  free[1] = 1, free[3] = 1;
  CHECK(d.next_sm(free) == 3);
  CHECK_FALSE(d.next_sm(free));  // the kernel has no more CTAs
  d.begin_kernel(1, 2);
  free = {1, 1, 1, 1};
  CHECK(d.next_sm(free) == 0);
}

TEST_CASE("every dispatcher places 100,000 CTAs on 64 SMs, each once") {
  for (const CtaToSm kind : {CtaToSm::two_level, CtaToSm::bcs, CtaToSm::round_robin}) {
    CtaDispatcher d(kind, 64, 4, 2);
    d.begin_kernel(100000, 8);
    Slots free(64, 8);
    std::deque<std::uint32_t> running;
    std::uint64_t placed = 0;
    do {
      while (const auto sm = d.next_sm(free)) {
        REQUIRE(free[*sm] > 0);
        --free[*sm], ++placed;
        running.push_back(*sm);
      }
      ++free[running.front()];
      running.pop_front();
    } while (!running.empty());
    CHECK(placed == 100000);
  }
}

}  // namespace
}  // namespace atl
