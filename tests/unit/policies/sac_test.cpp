#include "policies/llc/sac.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "inputs/config/reader.hpp"
#include "partition/bandwidth.hpp"

using namespace atl;

namespace {

/// A window in which one of four requests is local, and both organisations spread requests evenly.
std::vector<ChipEpoch> window(std::uint64_t llc_hits, std::uint64_t crd_hits) {
  std::vector<ChipEpoch> chips(4);
  for (ChipEpoch& c : chips) {
    LlcProfile& p = c.profile;
    p.local = 250, p.remote = 750, p.requests = 1000, p.hits = llc_hits;
    p.at_home.assign(16, 10), p.at_requester.assign(16, 10);
    p.crd_requests = 100, p.crd_hits = crd_hits;
  }
  return chips;
}

}  // namespace

TEST_CASE("the bandwidths of SAC's system are those of its tables: 16, 0.768, 16 and 1.75 TB/s") {
  const SystemBandwidth b = system_bandwidth(read_system("sac-4chip", {}));
  CHECK(b.intra == 16000);
  CHECK(b.inter == 768);
  CHECK(b.llc == 16000);
  CHECK(b.memory == doctest::Approx(1750.4));
}

TEST_CASE("profilers take 544 + 64 + 12 = 620 bytes per chip, and 736 + 64 + 12 = 812 with sectors") {
  SystemConfig c = read_system("sac-4chip", {});
  CHECK(sac_storage(c).crd == 544);
  CHECK(sac_storage(c).slice_counters == 64);
  CHECK(sac_storage(c).counters == 12);
  CHECK(sac_storage(c).total() == 620);
  c.llc.sectored = true;
  CHECK(sac_storage(c).crd == 736);
  CHECK(sac_storage(c).total() == 812);
  c.line_bytes = 64;
  CHECK(sac_storage(c).crd == 8 * 16 * (30 + 4 * 2) / 8);
}

TEST_CASE("slice uniformity is the mean over the maximum, over all slices of the system") {
  std::vector<ChipEpoch> chips(2);
  chips[0].profile.at_home = {4, 2}, chips[1].profile.at_home = {1, 1};
  CHECK(slice_uniformity(chips, &LlcProfile::at_home) == 0.5);
  chips[0].profile.at_home = chips[1].profile.at_home = {0, 0};
  CHECK(slice_uniformity(chips, &LlcProfile::at_home) == 1);
}

TEST_CASE("a kernel starts memory-side with a profile of 2,000 cycles, and goes SM-side if that promises 5 % more") {
  const auto policy = make_sac(read_system("sac-4chip", {"llc.organisation=sac"}));
  const Modes start = policy->at_kernel_start(0, 0).modes[0];
  CHECK(start == Modes{.llc = LlcRole::memory_side, .profile = true, .epoch_cycles = 2000});
  const auto chips = window(900, 85);
  const auto v = policy->at_epoch_end({0, 2000, 2000, chips});
  REQUIRE(v.has_value());
  CHECK(v->decisions[0].choice == "sm_side");
  REQUIRE(v->modes.size() == 4);
  for (const Modes& m : v->modes) CHECK(m == Modes{.llc = LlcRole::sm_side});
  CHECK(policy->at_kernel_start(1, 0).modes[0] == start);
}

TEST_CASE(
    "a decision is reported with hit rates, slice uniformities, every term of both organisations and what they rest on") {
  const auto policy = make_sac(read_system("sac-4chip", {"llc.organisation=sac"}));
  policy->at_kernel_start(0, 0);
  const auto chips = window(900, 85);
  const auto v = policy->at_epoch_end({3, 2000, 2000, chips});
  REQUIRE(v.has_value());
  REQUIRE(v->decisions.size() == 1);
  CHECK(v->decisions[0].kernel == 3);
  CHECK(v->decisions[0].cycle == 2000);
  constexpr double kUnlimited = std::numeric_limits<double>::infinity();
  // A quarter of the requests is local; GB/s of the whole system: 16,000 in crossbars and slices, 768 between chips,
  // 1750.4 of memory.
  const std::vector<std::pair<std::string, double>> wanted{
      {"r_local", 0.25},
      {"memory_side.hit", 0.9},
      {"memory_side.lsu", 1},
      {"sm_side.hit", 0.85},
      {"sm_side.lsu", 1},
      {"memory_side.local.b_sm_llc", 16000},
      {"memory_side.local.b_llc_hit", 3600},
      {"memory_side.local.b_llc_miss", 400},
      {"memory_side.local.b_llc_mem", kUnlimited},
      {"memory_side.local.b_mem", 437.6},
      {"memory_side.local.eab", 4000},
      {"memory_side.remote.b_sm_llc", 768},
      {"memory_side.remote.b_llc_hit", 10800},
      {"memory_side.remote.b_llc_miss", 1200},
      {"memory_side.remote.b_llc_mem", kUnlimited},
      {"memory_side.remote.b_mem", 1312.8},
      {"memory_side.remote.eab", 768},
      {"sm_side.local.b_sm_llc", 4000},
      {"sm_side.local.b_llc_hit", 3400},
      {"sm_side.local.b_llc_miss", 600},
      {"sm_side.local.b_llc_mem", kUnlimited},
      {"sm_side.local.b_mem", 437.6},
      {"sm_side.local.eab", 3837.6},
      {"sm_side.remote.b_sm_llc", 12000},
      {"sm_side.remote.b_llc_hit", 10200},
      {"sm_side.remote.b_llc_miss", 1800},
      {"sm_side.remote.b_llc_mem", 768},
      {"sm_side.remote.b_mem", 1312.8},
      {"sm_side.remote.eab", 10968},
      {"memory_side.eab", 4768},
      {"sm_side.eab", 14805.6},
      {"memory_side.requests", 4000},
      {"sm_side.sampled_requests", 400},
  };
  const auto& got = v->decisions[0].values;
  REQUIRE(got.size() == wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    CAPTURE(wanted[i].first);
    CHECK(got[i].first == wanted[i].first);
    if (wanted[i].second == kUnlimited) {
      CHECK(got[i].second == kUnlimited);
    } else {
      CHECK(got[i].second == doctest::Approx(wanted[i].second));
    }
  }
}

TEST_CASE("a kernel whose copies would not fit stays memory-side, and its profilers stop") {
  const auto policy = make_sac(read_system("sac-4chip", {"llc.organisation=sac"}));
  policy->at_kernel_start(0, 0);
  auto chips = window(900, 5);
  for (ChipEpoch& c : chips) c.profile.local = 9000;  // hardly anything is remote
  const auto v = policy->at_epoch_end({0, 2000, 2000, chips});
  REQUIRE(v.has_value());
  CHECK(v->decisions[0].choice == "memory_side");
  for (const Modes& m : v->modes) CHECK(m == Modes{});
}

TEST_CASE("requests that join a pending miss count as hits of the LLC, unless sac.merged_is_hit is off") {
  SystemConfig c = read_system("sac-4chip", {"llc.organisation=sac"});
  auto chips = window(500, 50);
  for (ChipEpoch& e : chips) e.profile.merges = 200;
  CHECK(eab_inputs(c, chips).memory_side.hit == doctest::Approx(0.7));
  c.sac.merged_is_hit = false;
  CHECK(eab_inputs(c, chips).memory_side.hit == doctest::Approx(0.5));
}

TEST_CASE("with sac.reprofile_cycles each decision is followed by a new profile, memory-side") {
  const auto policy = make_sac(read_system("sac-4chip", {"llc.organisation=sac", "sac.reprofile_cycles=100000"}));
  policy->at_kernel_start(0, 0);
  const auto chips = window(900, 85);
  const auto chosen = policy->at_epoch_end({0, 2000, 2000, chips});
  CHECK(chosen->modes[0] == Modes{.llc = LlcRole::sm_side, .epoch_cycles = 100000});
  const auto again = policy->at_epoch_end({0, 102000, 100000, chips});
  CHECK(again->modes[0] == Modes{.llc = LlcRole::memory_side, .profile = true, .epoch_cycles = 2000});
}

TEST_CASE("sac.confidence: the range of the SM-side EAB comes from the directory's hit rate and its sampling error") {
  const SystemConfig c = read_system("sac-4chip", {"llc.organisation=sac"});
  const EabInputs in = eab_inputs(c, window(900, 85));  // 340 of 400 sampled requests
  const auto [low, high] = eab_within(in, 400, 2);
  // 341/402 = 0.848 seen as a rate; an error of sqrt(0.848 x 0.152 / 400) = 0.018: hit rates from 0.814 to 0.886.
  EabInputs at = in;
  at.sm_side.hit = 0.85 - 2 * 0.017940;
  CHECK(low == doctest::Approx(eab_sm_side(at).total()).epsilon(1e-4));
  at.sm_side.hit = 0.85 + 2 * 0.017940;
  CHECK(high == doctest::Approx(eab_sm_side(at).total()).epsilon(1e-4));
}

TEST_CASE("sac.confidence: a choice within the error takes further windows, whose samples add up, and then the limit") {
  const auto policy =
      make_sac(read_system("sac-4chip", {"llc.organisation=sac", "sac.confidence=2", "sac.confidence_windows=3"}));
  const Modes profile{.llc = LlcRole::memory_side, .profile = true, .epoch_cycles = 2000};
  CHECK(policy->at_kernel_start(0, 0).modes[0] == profile);
  // 250 of 1,000 requests local and a hit rate of 0.9: memory-side 4768 GB/s (above); SM-side with a rate of 0.24: 5,046.
  auto chips = window(900, 24);
  const auto first = policy->at_epoch_end({0, 2000, 2000, chips});
  REQUIRE(first.has_value());
  CHECK(first->decisions[0].choice == "profile");
  CHECK(first->modes[0] == profile);
  const auto windows = [&](unsigned n) {  // the profilers' sums go on
    for (LlcProfile* p : {&chips[0].profile, &chips[1].profile, &chips[2].profile, &chips[3].profile})
      p->requests = n * 1000, p->hits = n * 900, p->crd_requests = n * 100, p->crd_hits = n * 24;
  };
  windows(2);
  const auto second = policy->at_epoch_end({0, 4000, 2000, chips});
  CHECK(second->decisions[0].choice == "profile");
  const auto& values = second->decisions[0].values;
  const auto value = [&](const std::string& name) {
    return std::find_if(values.begin(), values.end(), [&](const auto& v) { return v.first == name; })->second;
  };
  CHECK(value("memory_side.requests") == 8000);
  CHECK(value("sm_side.sampled_requests") == 800);
  windows(3);
  const auto last = policy->at_epoch_end({0, 6000, 2000, chips});
  CHECK(last->decisions[0].choice != "profile");
  CHECK_FALSE(last->modes[0].profile);
  // The next kernel begins with nothing: a clear choice is made after one window.
  policy->at_kernel_start(1, 0);
  CHECK(policy->at_epoch_end({1, 8000, 2000, window(900, 85)})->decisions[0].choice == "sm_side");
}
