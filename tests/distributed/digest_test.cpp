#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <mutex>

#include "comm/serial_transport.hpp"
#include "comm/thread_transport.hpp"
#include "comm/worker_transport.hpp"
#include "digest_run.hpp"

namespace atl::test {
namespace {

RunResult run_on(const SystemConfig& config, const std::string& workload, int ranks, const std::string& map = "",
                 const SimulationOptions& options = {}) {
  RunResult result;
  std::mutex mutex;
  run_threads(ranks, [&](Transport& t) {
    const auto opened = open_workload(workload_file(workload));
    const auto n = static_cast<std::uint32_t>(ranks);
    auto mine = simulate(t, config, *opened,
                         map.empty() ? RankMap::spread(config.chips, n) : RankMap::parse(map, config.chips, n), options);
    const std::lock_guard lock(mutex);
    if (mine) result = std::move(*mine);
  });
  return result;
}

/// On two processes of two threads each, which are all threads of this one.
RunResult run_on_workers(const SystemConfig& config, const std::string& workload, const SimulationOptions& options) {
  RunResult result;
  std::mutex mutex;
  run_threads(2, [&](Transport& process) {
    const auto body = [&](Transport& t) {
      const auto opened = open_workload(workload_file(workload));
      auto mine = simulate(t, config, *opened, RankMap::spread(config.chips, 4), options);
      const std::lock_guard lock(mutex);
      if (mine) result = std::move(*mine);
    };
    run_workers(process, 2, body, [](const std::exception_ptr&) { FAIL("a rank failed for itself"); });
  });
  return result;
}

/// On 2 to 5 ranks, and on threads that share the chips.
void check_on_all(const SystemConfig& config, const std::string& workload, const RunResult& one) {
  for (int ranks = 2; ranks <= 5; ++ranks) {
    CAPTURE(ranks);
    check_same(run_on(config, workload, ranks), one);
  }
  SimulationOptions sharing;
  sharing.share_chips = true;
  for (int threads = 2; threads <= 3; ++threads) {
    CAPTURE(threads);
    check_same(run_on(config, workload, threads, "", sharing), one);
  }
}

TEST_CASE("every result is the same on 1 to 5 ranks, for each workload, organisation and topology") {
  on_matrix([](const SystemConfig& config, const std::string& workload) {
    const RunResult one = run_on(config, workload, 1);
    const Counters sum = sum_of_chips(one);
    REQUIRE(one.complete);
    CHECK(sum[Counter::link_packets] > 0);  // else the ranks had nothing to disagree about
    CHECK((workload == "hot" || sum[Counter::llc_atomics] > 0));
    check_on_all(config, workload, one);
  });
}

TEST_CASE("every result is the same on 1 to 5 ranks under hardware coherence") {
  for (const std::string organisation : {"sm_side", "sac"}) {
    CAPTURE(organisation);
    const SystemConfig config = small_system(organisation, "ring", "full_map");
    const RunResult one = run_on(config, "stores", 1);
    if (organisation == "sm_side") CHECK(sum_of_chips(one)[Counter::coherence_invalidations] > 0);
    if (organisation == "sac") CHECK(one.decisions.size() == one.kernels.size());
    check_on_all(config, "stores", one);
  }
}

TEST_CASE("every result is the same on 1 to 5 ranks with replication, on every organisation") {
  for (const std::string replication : {"degree_2", "private", "adaptive", "selrep"}) {
    for (const std::string organisation : {"memory_side", "sm_side", "static", "dynamic", "sac"}) {
      CAPTURE(replication);
      CAPTURE(organisation);
      SystemConfig config = small_system(organisation, "ring", "software", replication);
      config.selrep.epoch_cycles = config.adaptive.window_cycles = 1000;
      config.adaptive.epoch_cycles = 2000, config.adaptive.miss_margin = 0.5;
      const RunResult one = run_on(config, "hot", 1);
      CHECK(one.digest != run_on(small_system(organisation, "ring"), "hot", 1).digest);
      check_on_all(config, "hot", one);
    }
  }
}

TEST_CASE("every result is the same on 1 to 5 ranks while L1s serve each other") {
  for (const std::string workload : {"stores", "hot"}) {
    for (const std::string organisation : {"memory_side", "sm_side", "sac"}) {
      CAPTURE(workload);
      CAPTURE(organisation);
      SystemConfig config = small_system(organisation, "ring");
      const std::uint64_t without = run_on(config, workload, 1).digest;
      config.cluster.sharing = ClusterShare::colab;
      const RunResult one = run_on(config, workload, 1);
      CHECK(one.digest != without);
      CHECK(sum_of_chips(one)[Counter::cluster_served] > 0);
      check_on_all(config, workload, one);
    }
  }
}

TEST_CASE("every result is the same on 1 to 5 ranks under every home directory, and without remote caching") {
  const auto check = [](const std::string& organisation, const std::string& protocol) {
    CAPTURE(organisation);
    CAPTURE(protocol);
    SystemConfig config = small_system(organisation, "ring", protocol);
    config.coherence.directory_entries = 64;
    config.rec_adaptive.narrow_below = 0.5, config.rec_adaptive.widen_above = 0.51;  // so that the range changes
    if (organisation == "sac") {                                                     // so that SM-side wins once
      config.sac.window_cycles = 5000, config.sac.threshold = 0, config.link.bandwidth_gbps = 4;
      config.sac.crd_always = true, config.sac.crd_clear = CrdClear::change;
    }
    const RunResult one = run_on(config, "stores", 1);
    const Counters sum = sum_of_chips(one);
    CHECK(sum[Counter::link_packets] > 0);
    if (row_of(config.coherence.protocol).home.present) {
      CHECK(sum[Counter::coherence_invalidation_hits] > 0);
      CHECK((sum[Counter::directory_evictions] > 0) == (protocol != "ideal"));
    }
    const auto sm_side = [](const Decision& d) { return d.choice == "sm_side"; };
    CHECK(std::any_of(one.decisions.begin(), one.decisions.end(), sm_side) == (organisation == "sac"));
    if (protocol == "rec_adaptive") {
      const auto changed = [](const Decision& d) { return d.choice == "512 B" || d.choice == "2048 B"; };
      CHECK(std::any_of(one.decisions.begin(), one.decisions.end(), changed));
    }
    check_on_all(config, "stores", one);
  };
  for (const std::string protocol : {"directory", "hmg", "rec", "rec_adaptive", "ideal", "none_remote", "l1_only"})
    check("sm_side", protocol);
  check("static", "rec"), check("dynamic", "directory"), check("sac", "rec"), check("dynamic", "rec_adaptive");
}

TEST_CASE("every result is the same on 1 to 5 ranks with an L2 in front of the LLC, which writes back or through") {
  for (const std::string workload : {"stores", "hot"}) {
    for (const L2Writes writes : {L2Writes::back, L2Writes::through}) {
      CAPTURE(workload);
      SystemConfig config = small_system("memory_side", "ring");
      const std::uint64_t without = run_on(config, workload, 1).digest;
      config.l2.slices = 8, config.l2.size_kib = 64, config.l2.writes = writes;
      if (writes == L2Writes::through) config.cluster.sharing = ClusterShare::colab, config.l2.sectored = true;
      const RunResult one = run_on(config, workload, 1);
      CHECK(one.digest != without);
      CHECK(sum_of_chips(one)[Counter::l2_hits] > 0);
      CHECK((workload == "hot" || sum_of_chips(one)[Counter::l2_atomics] > 0));
      check_on_all(config, workload, one);
      check_same(run_on(config, workload, 3, "2,0,1,0,1"), one);
    }
  }
}

TEST_CASE("every result is the same for any map of chips and controller to ranks") {
  const SystemConfig config = small_system("sm_side", "ring");
  const RunResult one = run_on(config, "stores", 1);
  for (const std::string map : {"4,3,2,1,0", "1,0,1,0,2", "0,1,0,1,0", "2,2,2,1,0", "0,0,0,0,1"}) {
    CAPTURE(map);
    const int ranks = 1 + *std::max_element(map.begin(), map.end()) - '0';
    check_same(run_on(config, "stores", ranks, map), one);
  }
}

TEST_CASE("every result is the same on 2 to 4 threads between which chips move, whoever looks on") {
  SystemConfig config = small_system("sm_side", "ring");
  config.partition.placement = Placement::fixed;
  config.observe.sharing = true, config.observe.sharing_window_cycles = 1000;
  const RunResult one = run_on(config, "stores", 1);
  SimulationOptions moving;
  moving.moves = {.first = 1, .most = 1, .least_events = 1};
  for (int threads = 2; threads <= 4; ++threads) {
    const RunResult got = run_on(config, "stores", threads, "", moving);
    check_same(got, one);
    CHECK((got.provenance.moves > 0) == (threads < 4));  // of four each has a chip, and nothing to gain
  }
}

TEST_CASE("every result is the same on two processes of two threads each, within which chips move") {
  SystemConfig config = small_system("sm_side", "full");
  config.chips = 7, config.partition.placement = Placement::fixed;
  const RunResult one = run_on(config, "stores", 1);
  check_same(run_on_workers(config, "stores", {}), one);
  SimulationOptions moving;
  moving.moves = {.first = 1, .most = 1, .least_events = 1};
  const RunResult got = run_on_workers(config, "stores", moving);
  check_same(got, one);
  CHECK(got.provenance.moves > 0);
}

TEST_CASE("sharing statistics are the same on 1 to 5 ranks and any map, and the digest is that of a run without them") {
  SystemConfig config = small_system("sm_side", "ring");
  const std::uint64_t digest = run_on(config, "stores", 1).digest;
  config.observe.sharing = true;
  config.observe.sharing_window_cycles = 1000;
  const RunResult one = run_on(config, "stores", 1);
  CHECK(one.digest == digest);
  REQUIRE(one.sharing);
  CHECK(one.sharing->footprint.truly > 0);
  CHECK(one.sharing->footprint.falsely > 0);
  CHECK(one.sharing->footprint.unshared > 0);
  CHECK(one.sharing->epochs.size() > 3);
  check_on_all(config, "stores", one);
  check_same(run_on(config, "stores", 3, "2,0,1,0,1"), one);
  check_same(run_on(config, "stores", 3, "2,2,2,1,0"), one);
}

TEST_CASE("the same run twice gives the same digest, another organisation, topology or workload another") {
  const auto digest = [](const std::string& o, const std::string& t, const std::string& w) {
    return run_on(small_system(o, t), w, 1).digest;
  };
  const auto base = digest("memory_side", "ring", "hot");
  CHECK(digest("memory_side", "ring", "hot") == base);
  CHECK(digest("sm_side", "ring", "hot") != base);
  CHECK(digest("memory_side", "full", "hot") != base);
  CHECK(digest("memory_side", "ring", "stores") != base);
}

TEST_CASE("link and control latencies that are no multiples of each other change nothing across ranks") {
  SystemConfig config = small_system("memory_side", "ring");
  config.link.latency_cycles = 23;
  config.control.latency_cycles = 157;
  config.link.credit_cycles = 5;
  const RunResult one = run_on(config, "hot", 1);
  check_on_all(config, "hot", one);
}

}  // namespace
}  // namespace atl::test
