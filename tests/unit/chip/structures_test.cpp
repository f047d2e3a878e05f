#include <random>

#include "random_programs.hpp"
#include "tests/unit/inputs_workload/footprint.hpp"

// Counts by data structure: each request and each answer belongs to exactly one, so that they add up to what the result
// counts without asking whose data it is.
namespace atl {
namespace {

using namespace test;

std::uint64_t of(const UseCounts& c, Use u) { return c[static_cast<std::size_t>(u)]; }

/// Everything that a chip did with all structures in all kernels.
UseCounts sum_of(const StructuresResult& r, std::size_t chip) {
  UseCounts sum{};
  for (const auto& row : r.use)
    for (std::size_t u = 0; u < kUses; ++u) sum[u] += row.chips[chip][u];
  return sum;
}

void check_sums(const RunResult& r) {
  REQUIRE(r.structures);
  const std::size_t chips = r.chips.size();
  for (std::size_t c = 0; c < chips; ++c) {
    CAPTURE(c);
    const UseCounts sum = sum_of(*r.structures, c);
    const Counters& totals = r.chips[c].totals;
    const std::uint64_t requests = of(sum, Use::reads) + of(sum, Use::writes) + of(sum, Use::atomics);
    CHECK(requests == totals[Counter::requests_local] + totals[Counter::requests_remote]);
    CHECK(of(sum, Use::remote) == totals[Counter::requests_remote]);
    std::uint64_t answers = 0, least = 0, most = 0;
    for (std::size_t o = 0; o < kOrigins; ++o) {
      std::uint64_t loads = 0;
      for (std::size_t b = 0; b < kLatencyBuckets; ++b) {
        const std::uint64_t n = r.chips[c].latency[o][b];
        loads += n, least += n << b, most += n << (b + 1);
      }
      CHECK(of(sum, answered_by(static_cast<DataOrigin>(o))) == loads);
      answers += loads;
    }
    CHECK(answers - of(sum, Use::neighbour_l1) == of(sum, Use::reads));
    CHECK(of(sum, Use::latency_cycles) >= least);
    CHECK(of(sum, Use::latency_cycles) <= most);
    std::uint64_t here = 0, elsewhere = 0;
    for (std::size_t s = 0; s < r.structures->structures.size(); ++s)
      for (std::size_t home = 0; home < chips; ++home)
        (home == c ? here : elsewhere) += r.structures->homes[(s * chips + c) * chips + home];
    CHECK(here == totals[Counter::requests_local]);
    CHECK(elsewhere == totals[Counter::requests_remote]);
  }
}

TEST_CASE("requests, answers and homes are counted by structure, kernel and chip") {
  constexpr std::uint64_t kA = 0x10000, kB = 0x20000, kNobodys = 0x30000;
  ScriptedWorkload w;
  w.structure("a", kA, 256), w.structure("b", kB, 1);
  w.kernel(2);
  w.warp(0).load(kA, 0).load(kA + 128, 1).after({0, 1}).load(kA).store(kB).atomic(kB).load(kNobodys);
  w.warp(1).pause(5000).load(kA, 0);
  w.kernel(2);
  w.warp(1).store(kB);
  const RunResult r = run(tiny(2), w);  // all pages live on chip 0
  check_sums(r);
  REQUIRE(r.structures->structures.size() == 3);
  CHECK(r.structures->structures[0] == DataStructure{"a", kA, 256});
  CHECK(r.structures->structures[2] == DataStructure{"other", 0, 0});
  const auto& use = r.structures->use;
  REQUIRE(use.size() == 4);
  const auto check = [&](std::size_t row, std::size_t kernel, std::size_t structure, std::size_t chip, UseCounts wanted) {
    CAPTURE(row);
    CHECK(use[row].kernel == kernel);
    CHECK(use[row].structure == structure);
    UseCounts got = use[row].chips[chip];
    got[static_cast<std::size_t>(Use::latency_cycles)] = 0;
    CHECK(got == wanted);
  };
  // Reads, writes, atomics, remote; LLC here, there; memory here, there; a neighbour; latency.
  check(0, 0, 0, 0, {2, 0, 0, 0, 0, 0, 2, 0, 0, 0});
  check(0, 0, 0, 1, {1, 0, 0, 1, 0, 1, 0, 0, 0, 0});
  check(1, 0, 1, 0, {0, 1, 1, 0, 0, 0, 0, 0, 0, 0});
  check(1, 0, 1, 1, {});
  check(2, 0, 2, 0, {1, 0, 0, 0, 0, 0, 1, 0, 0, 0});
  check(3, 1, 1, 0, {});
  check(3, 1, 1, 1, {0, 1, 0, 1, 0, 0, 0, 0, 0, 0});
  CHECK(r.structures->homes == std::vector<std::uint64_t>{2, 0, 1, 0, 2, 0, 1, 0, 1, 0, 0, 0});
}

TEST_CASE("the counts of all structures add up to the run's, under every organisation and protocol") {
  for (const auto organisation : {LlcOrganisation::memory_side, LlcOrganisation::sm_side, LlcOrganisation::fixed_split,
                                  LlcOrganisation::dynamic_split, LlcOrganisation::sac}) {
    for (const auto protocol : {CoherenceProtocol::software, CoherenceProtocol::rec, CoherenceProtocol::full_map}) {
      const bool own = organisation == LlcOrganisation::sm_side || organisation == LlcOrganisation::sac;
      if (protocol != CoherenceProtocol::software && !own) continue;
      CAPTURE(static_cast<int>(organisation));
      CAPTURE(static_cast<int>(protocol));
      SystemConfig config = tiny(3);
      config.llc.organisation = organisation, config.coherence.protocol = protocol;
      config.llc.local_ways = 2, config.sac.window_cycles = 500, config.sac.crd_sets = 8;
      config.partition.placement = Placement::first_touch;
      ScriptedWorkload w = random_workload(config, {.kernels = 3}, 7);
      for (std::uint64_t i = 0; i < 150; ++i) w.structure("s", 0x100000 + i * 4096, i % 3 == 0 ? 4096 : 64);
      const RunResult r = run(config, w);
      check_sums(r);
      CHECK(r.structures->use.back().structure == 150);  // accesses beyond the last structure
    }
  }
}

TEST_CASE("answers of neighbours' L1s are counted by structure") {
  SystemConfig config = tiny(2);
  config.sm.count = 4, config.noc.sms_per_cluster = 4;
  config.cluster.sharing = ClusterShare::colab;
  ScriptedWorkload w = random_workload(config, {.kernels = 2, .lines = 40}, 3);
  w.structure("all", 0x100000, 1 << 20);
  const RunResult r = run(config, w);
  check_sums(r);
  std::uint64_t neighbours = 0;
  for (std::size_t c = 0; c < 2; ++c) neighbours += of(sum_of(*r.structures, c), Use::neighbour_l1);
  CHECK(neighbours == total(r, Counter::cluster_served));
  CHECK(neighbours > 0);
}

TEST_CASE("a parametric workload's regions take all of its requests") {
  const auto w = open_text(R"({"kernels": [{"ctas": 32, "warps_per_cta": 4, "memory_instructions": 30, "regions": [
      {"name": "x", "kind": "private", "size_kib": 64}, {"name": "y", "kind": "false_shared", "size_kib": 3000},
      {"name": "z", "kind": "page_interleaved", "size_kib": 100, "write_fraction": 0.5}]}]})");
  SystemConfig config = tiny(4);
  config.partition.placement = Placement::first_touch;
  const RunResult r = run(config, *w);
  check_sums(r);
  std::string names;  // none of "other"
  for (const auto& row : r.structures->use) names += r.structures->structures[row.structure].name;
  CHECK(names == "xyz");
}

TEST_CASE("a workload that knows no structures has none in its result") {
  ScriptedWorkload w;
  w.kernel(1);
  w.warp(0).load(0x1000);
  CHECK_FALSE(run(tiny(1), w).structures);
}

TEST_CASE("a line is found in the structure that holds it, wherever structures lie") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 50; ++round) {
    std::vector<DataStructure> structures;
    std::uint64_t at = random() % 100000;
    for (std::uint64_t n = 1 + random() % 60; n-- > 0;) {
      structures.push_back({"", at, 1 + random() % (random() % 4 == 0 ? 1'000'000 : 700)});
      // Often in the line of the one before, now and then very far away.
      at += structures.back().bytes + random() % 300 + (random() % 20 == 0 ? random() % (1ull << 40) : 0);
    }
    const StructureCounter counter(structures, 128, 1, 0);
    const auto wanted = [&](std::uint64_t line) {
      for (std::uint32_t i = 0; i < structures.size(); ++i)
        if (line >= structures[i].address / 128 && line <= (structures[i].address + structures[i].bytes - 1) / 128) return i;
      return static_cast<std::uint32_t>(structures.size());
    };
    std::uint32_t wrong = 0;
    for (const DataStructure& s : structures)
      for (const std::uint64_t address :
           std::initializer_list<std::uint64_t>{s.address - 128, s.address, s.address + s.bytes / 2, s.address + s.bytes - 1,
                                                s.address + s.bytes + 127, random() % (1ull << 41), random()})
        wrong += counter.find({address / 128}) != wanted(address / 128);
    CHECK(wrong == 0);
  }
}

}  // namespace
}  // namespace atl
