#include "core/chip/profile/sampled_sets.hpp"

#include <doctest/doctest.h>

#include <set>
#include <utility>

namespace atl {
namespace {

constexpr std::uint32_t kSlices = 16, kSets = 128;  // of a slice: 4 MB, 16 ways, lines of 128 bytes

SystemConfig sampling(std::uint32_t sets, std::uint32_t choice) {
  SystemConfig c;
  c.llc.slices = kSlices, c.llc.size_kib = 4096, c.llc.ways = 16, c.line_bytes = 128;
  c.sac.crd_sets = sets, c.sac.crd_choice = choice;
  return c;
}

using Places = std::set<std::pair<std::uint32_t, std::uint32_t>>;

/// The sampled sets; each must have a number of the directory's own.
Places places(const SystemConfig& c) {
  const SampledSets sampled(c);
  Places found;
  std::set<std::uint32_t> numbers;
  for (std::uint32_t slice = 0; slice < kSlices; ++slice) {
    for (std::uint32_t set = 0; set < kSets; ++set) {
      const std::uint32_t number = sampled.find(slice, set);
      if (number == SampledSets::kNone) continue;
      CHECK(number < c.sac.crd_sets);
      numbers.insert(number);
      found.insert({slice, set});
    }
  }
  CHECK(numbers.size() == c.sac.crd_sets);
  return found;
}

TEST_CASE("8 sets lie in 8 slices, in each pair of slices one; 256 are 16 of every slice, 8 sets apart") {
  for (const std::uint32_t choice : {0u, 1u, 5u}) {
    const Places few = places(sampling(8, choice));
    CHECK(few.size() == 8);
    std::set<std::uint32_t> pairs;
    for (const auto& [slice, set] : few) pairs.insert(slice / 2);
    CHECK(pairs.size() == 8);
    const Places many = places(sampling(256, choice));
    CHECK(many.size() == 256);
    for (const auto& [slice, set] : many) CHECK(many.count({slice, (set + 8) % kSets}) == 1);
  }
}

TEST_CASE("choice 0 samples set 37 i + 5, modulo 128, of every even slice i") {
  Places wanted;
  for (std::uint32_t i = 0; i < kSlices; i += 2) wanted.insert({i, (i * 37 + 5) % kSets});
  CHECK(places(sampling(8, 0)) == wanted);
}

TEST_CASE("eight choices are eight different ones") {
  std::set<Places> all;
  for (std::uint32_t choice = 0; choice < 8; ++choice) all.insert(places(sampling(8, choice)));
  CHECK(all.size() == 8);
}

TEST_CASE("who does not profile may have fewer sets than the directory would sample") {
  SystemConfig c = sampling(8, 0);
  c.llc.slices = 2, c.llc.size_kib = 4, c.llc.ways = 16;  // one set a slice, four sampled ones
  CHECK(SampledSets(c).find(0, 0) != SampledSets::kNone);
}

}  // namespace
}  // namespace atl
