#include <fmt/format.h>

#include "../../plugins/alternating.hpp"
#include "../../plugins/random_modes.hpp"
#include "chip_test_access.hpp"
#include "coherence_stress.hpp"
#include "core/engine/file_digest.hpp"

// Whatever sequence of modes a policy returns, no read is stale: chips write back, invalidate and drain as it takes.
namespace atl {
namespace {

using namespace test;

struct Sequence {
  RunResult result;
  ConsistencyChecker::Counts counts;
};

Sequence checked(const SystemConfig& system, ScriptedWorkload& w, std::function<LoadedPolicy(const SystemConfig&)> policy) {
  validate(system);
  ConsistencyChecker checker;
  SerialTransport transport;
  SimulationOptions options;
  options.policy = std::move(policy);
  options.prepare_chip = [&](Chip& chip) { checker.watch(chip); };
  options.inspect_chip = [&](Chip& chip) {
    CHECK(chip.drained());
    if (system.llc.write_back_at_end) CHECK(ChipTestAccess::dirty_lines(chip) == 0);
  };
  Sequence s;
  REQUIRE_NOTHROW(s.result = *simulate(transport, system, w, RankMap::spread(system.chips, 1), options));
  CHECK_NOTHROW(checker.check_final_image());
  CHECK(s.result.complete);
  s.counts = checker.counts();
  return s;
}

SystemConfig with_plugin(SystemConfig c) {
  c.llc.organisation = LlcOrganisation::plugin;
  c.llc.policy = "in the test";
  c.l2 = {};  // no other role than memory_side goes with it
  c.partition.compute_chips = c.partition.memory_chips = 0;
  return c;
}

TEST_CASE("random legal modes, for every kernel and every epoch, read nothing stale under every protocol" *
          doctest::test_suite("stress")) {
  std::array<std::uint64_t, kProtocols.size()> decisions{};
  std::uint64_t checked_sectors = 0;
  for (std::uint32_t seed = 1; seed <= 135; ++seed) {
    StressCase s = stress_case(seed);
    SystemConfig c = with_plugin(s.system);
    c.coherence.protocol = kProtocols[seed % kProtocols.size()].value;
    c.llc.remote_writes =
        seed % 4 == 0 && !row_of(c.coherence.protocol).home.present ? RemoteWrites::back : RemoteWrites::through;
    if (c.llc.remote_writes == RemoteWrites::back) c.llc.write_back_at_end = false;
    const bool replicates = s.system.llc.replication != Replication::shared && !row_of(c.coherence.protocol).full_map &&
                            c.llc.remote_writes == RemoteWrites::through;
    c.llc.replication = replicates ? Replication::policy : Replication::shared;
    c.coherence.directory_entries = 64, c.coherence.directory_ways = 4, c.coherence.range_bytes = 1024;
    s.shape.ops = 40, s.shape.kernels = 4;
    CAPTURE(seed);
    CAPTURE(row_of(c.coherence.protocol).word);
    ScriptedWorkload w = stress_workload(c, s.shape, seed);
    const Sequence q =
        checked(c, w, [&](const SystemConfig& config) { return RandomModes::load(config, seed, seed % 4 != 1); });
    checked_sectors += q.counts.checked;
    decisions[seed % kProtocols.size()] += q.result.decisions.size();
  }
  CHECK(checked_sectors > 500000);
  for (std::size_t p = 0; p < decisions.size(); ++p) {
    CAPTURE(kProtocols[p].word);
    CHECK(decisions[p] > 20);
  }
}

TEST_CASE("random levels of replication, of read-only lines and of all lines, read nothing stale under any role") {
  std::size_t decisions = 0;
  for (std::uint32_t seed = 1; seed <= 24; ++seed) {
    CAPTURE(seed);
    SystemConfig c = with_plugin(tiny(1 + seed % 3));
    c.llc.replication = Replication::policy, c.llc.remote_writes = RemoteWrites::through;
    c.llc.slices = 8, c.sm.count = 8, c.dram.channels = 4, c.llc.size_kib = 64, c.l1.size_kib = 1;
    c.control.latency_cycles = 100;
    // Each line has one writer, whose chip's replicas may not outlive what it writes: races would excuse them.
    StressShape shape{.writers = Writers::one_per_line, .kernels = 3, .ops = 120, .lines = 40, .read_only_lines = 20};
    ScriptedWorkload w = stress_workload(c, shape, seed);
    const Sequence q =
        checked(c, w, [&](const SystemConfig& config) { return RandomModes::load(config, seed, seed % 2 == 0); });
    decisions += q.result.decisions.size();
  }
  CHECK(decisions > 100);
}

TEST_CASE("a policy that alternates memory_side and sm_side reads nothing stale, and its decisions stand in the result") {
  for (const ProtocolRow& protocol : kProtocols) {
    CAPTURE(protocol.word);
    StressCase s = stress_case(5);
    SystemConfig c = with_plugin(s.system);
    c.llc.replication = Replication::shared;
    c.coherence.protocol = protocol.value;
    c.coherence.directory_entries = 64, c.coherence.directory_ways = 4, c.coherence.range_bytes = 1024;
    s.shape.kernels = 5, s.shape.ops = 60, s.shape.lines = 40, s.shape.stores = 3;
    ScriptedWorkload w = stress_workload(c, s.shape, 5);
    const Sequence q = checked(c, w, [](const SystemConfig& config) {
      return LoadedPolicy{std::make_unique<Alternating>(config), kAlternating, "alternating", {}};
    });
    REQUIRE(q.result.decisions.size() == 5);
    CHECK(q.result.decisions[0].choice == "memory_side");
    CHECK(q.result.decisions[1].choice == "sm_side");
  }
}

TEST_CASE("a policy has the same digest compiled in and as a plug-in") {
  SystemConfig c = with_plugin(tiny(3));
  const auto digest = [&](std::function<LoadedPolicy(const SystemConfig&)> policy) {
    ScriptedWorkload w = stress_workload(c, {.kernels = 4, .lines = 40}, 9);
    return checked(c, w, std::move(policy)).result.digest;
  };
  const std::uint64_t inside = digest([](const SystemConfig& config) {
    return LoadedPolicy{std::make_unique<Alternating>(config), kAlternating, "alternating", {}};
  });
  c.llc.policy = ATOLL_PLUGIN;
  CHECK(digest(load_policy) == inside);
}

TEST_CASE("a plug-in is known by the name that it gives itself, and by the digest of its file") {
  SystemConfig c = with_plugin(tiny(2));
  c.llc.policy = ATOLL_PLUGIN;
  const LoadedPolicy p = load_policy(c);
  CHECK(p.name == "alternating");
  CHECK(p.digest == fmt::format("{:016x}", digest_of_file(ATOLL_PLUGIN)));
  CHECK(p.traits.switches);
}

TEST_CASE("before a kernel turns SM-side, the homes' dirty lines are written back, and the kernel starts later by that") {
  SystemConfig c = with_plugin(tiny(2));
  ScriptedWorkload w;
  for (int k = 0; k < 2; ++k) {
    w.kernel(2, 1);
    for (int line = 0; line < 6; ++line) w.warp(0).store(0x100000 + static_cast<std::uint64_t>(line) * 128);
  }
  const Sequence q = checked(c, w, [](const SystemConfig& config) {
    return LoadedPolicy{std::make_unique<Alternating>(config), kAlternating, "alternating", {}};
  });
  const auto& kernels = q.result.kernels;
  // A round trip to the controller more than the launch takes, and the way of six write-backs.
  CHECK(kernels[1].started - kernels[1].launched >= 3 * c.control.latency_cycles);
  CHECK(total(q.result, Counter::llc_writebacks) == 12);  // the second kernel's lines leave at its end
}

}  // namespace
}  // namespace atl
