#include "core/chip/chip_halves.hpp"

#include "random_programs.hpp"

namespace atl::test {
namespace {

SystemConfig one_chip() {
  SystemConfig c = tiny(1);
  c.sm.count = 32, c.sm.schedulers = 2, c.noc.sms_per_cluster = 2;
  c.llc.slices = 8, c.dram.channels = 4;
  c.control.sample_cycles = 1500, c.control.latency_cycles = 300;
  return c;
}

RunResult run_on(const SystemConfig& config, unsigned threads, std::uint32_t seed, Cycle* apart = nullptr,
                 std::uint32_t warps = 2, std::uint32_t ops = 40) {
  validate(config);
  RandomShape shape;
  shape.kernels = 2, shape.ctas_per_chip = 100, shape.ops = ops, shape.lines = 3000, shape.warps = warps;
  if (config.llc.replication != Replication::shared) shape.read_only_lines = 500;
  ScriptedWorkload work = random_workload(config, shape, seed);
  SerialTransport transport;
  SimulationOptions options;
  options.chip_threads = {threads, true};
  options.inspect_chip = [&](Chip& chip) {
    CHECK(chip.drained());
    if (apart != nullptr) *apart += chip.cycles_apart();
  };
  return *simulate(transport, config, work, RankMap::spread(1, 1), options);
}

void check_same_chip(const RunResult& got, const RunResult& wanted) {
  CHECK(got.digest == wanted.digest);
  CHECK(got.cycles == wanted.cycles);
  CHECK(got.provenance.events == wanted.provenance.events);
  CHECK(got.chips[0].totals.value == wanted.chips[0].totals.value);
  CHECK(got.chips[0].latency == wanted.chips[0].latency);
  REQUIRE(got.samples.size() == wanted.samples.size());
  for (std::size_t s = 0; s < got.samples.size(); ++s)
    CHECK(got.samples[s].chips[0].value == wanted.samples[s].chips[0].value);
  REQUIRE(got.decisions.size() == wanted.decisions.size());
  for (std::size_t d = 0; d < got.decisions.size(); ++d) CHECK(got.decisions[d].choice == wanted.decisions[d].choice);
}

void check_both(const SystemConfig& config) {
  for (std::uint32_t seed = 1; seed <= 3; ++seed) {
    CAPTURE(seed);
    Cycle apart = 0;
    const RunResult one = run_on(config, 1, seed);
    check_same_chip(run_on(config, 2, seed, &apart), one);
    CHECK(apart > one.cycles / 3);
  }
}

}  // namespace

TEST_CASE("two threads that run one chip do what one does, to the last event") {
  SystemConfig c = one_chip();
  SUBCASE("as it is") {}
  SUBCASE("short queues, which are full most of the time") {
    c.noc.queue_packets = 1, c.llc.mshrs = 4, c.llc.write_buffer = 1, c.l1.mshrs = 2, c.dram.queue = 4;
  }
  SUBCASE("requests that take no more than halves need to be apart") {
    c.llc.latency_cycles = 1, c.l1.latency_cycles = 30, c.noc.request_latency_cycles = 1;
    c.noc.response_latency_cycles = 1;
  }
  SUBCASE("an L2 in front of the LLC, which writes back") { c.l2.slices = 4, c.l2.size_kib = 64, c.l2.ways = 4; }
  SUBCASE("an L2 in front of the LLC, which writes through") {
    c.l2.slices = 4, c.l2.size_kib = 64, c.l2.ways = 4, c.l2.writes = L2Writes::through;
  }
  SUBCASE("routers with virtual channels") { c.noc.virtual_channels = 2, c.noc.memory_routers = 2, c.noc.slice_gbps = 32; }
  SUBCASE("L1s that serve each other") { c.noc.sms_per_cluster = 4, c.cluster.sharing = ClusterShare::colab; }
  SUBCASE("stores that the end of a CTA waits for") { c.sm.exit_waits = true, c.l1.sectored = c.llc.sectored = true; }
  check_both(c);
}

TEST_CASE("two threads that run one chip have room for all requests that are on their way" * doctest::test_suite("stress")) {
  SystemConfig c = one_chip();
  c.sm.count = 128, c.sm.warps = 64, c.l1.mshrs = 256, c.llc.latency_cycles = 900, c.noc.queue_packets = 1000;
  c.noc.cluster_gbps = c.noc.slice_gbps = 2000;
  check_same_chip(run_on(c, 2, 1, nullptr, 32, 10), run_on(c, 1, 1, nullptr, 32, 10));
}

TEST_CASE("two threads that run one chip take every decision where one does") {
  SystemConfig c = one_chip();
  c.noc.sms_per_cluster = 4;
  SUBCASE("SelRep") {
    c.llc.replication = Replication::selrep, c.selrep.epoch_cycles = 1000;
    check_both(c);
  }
  SUBCASE("Adaptive") {
    c.llc.replication = Replication::adaptive, c.adaptive.window_cycles = 1000, c.adaptive.epoch_cycles = 2000;
    check_both(c);
  }
  SUBCASE("SAC, whose profiles concern both halves") {
    c.llc.organisation = LlcOrganisation::sac, c.sac.window_cycles = 1000;
    for (const std::uint32_t seed : {1u, 2u}) check_same_chip(run_on(c, 2, seed), run_on(c, 1, seed));
  }
}

/// Ends at some CTA, whichever thread decodes it.
class BreaksOff final : public Workload {
 public:
  BreaksOff(ScriptedWorkload& whole, std::uint64_t at) : whole_(whole), at_(at) {}
  const std::vector<KernelInfo>& kernels() const override { return whole_.kernels(); }
  void load_cta(std::size_t kernel, std::uint64_t cta, CtaProgram& out) override {
    if (cta == at_) throw InputError("trace", "breaks off");
    whole_.load_cta(kernel, cta, out);
  }

 private:
  ScriptedWorkload& whole_;
  std::uint64_t at_;
};

TEST_CASE("a workload that breaks off ends both threads that run a chip with its error") {
  const SystemConfig config = one_chip();
  RandomShape shape;
  shape.ctas_per_chip = 400, shape.ops = 12;
  ScriptedWorkload whole = random_workload(config, shape, 1);
  for (const std::uint64_t at : {0, 130, 200, 300, 399}) {
    CAPTURE(at);
    BreaksOff work(whole, at);
    SerialTransport transport;
    SimulationOptions options;
    options.chip_threads = {2, true};
    CHECK_THROWS_WITH_AS(simulate(transport, config, work, RankMap::spread(1, 1), options), "trace: breaks off", InputError);
  }
}

TEST_CASE("a chip of several and one whose requests take hardly any time are run by one thread") {
  CHECK(Chip::can_halve(Machine(one_chip())));
  CHECK(!Chip::can_halve(Machine(tiny(2))));
  SystemConfig c = one_chip();
  c.llc.latency_cycles = c.l1.latency_cycles = c.noc.request_latency_cycles = 1;
  CHECK(!Chip::can_halve(Machine(c)));
}

TEST_CASE("stamps order what two halves scheduled as one thread would have") {
  const auto stamp = [](std::uint64_t number, bool uncore, Cycle cycle, std::uint64_t place) {
    return Stamp{number * 2 + uncore, cycle << Stamp::kPlaceBits | place};
  };
  // Of one half: by number, whatever the parents.
  CHECK(before(stamp(1, false, 9, 5), stamp(2, false, 3, 0)));
  CHECK(before(stamp(1, true, 9, 5), stamp(2, true, 3, 0)));
  // Of two: by the parents' cycle, and in one cycle the cores' event comes after as many of the uncore as it had seen.
  for (const std::uint64_t seen : {0u, 1u, 2u, 3u}) {
    for (const std::uint64_t k : {0u, 1u, 2u}) {
      const Stamp core = stamp(7, false, 40, seen), uncore = stamp(1, true, 40, k);
      CHECK(before(uncore, core) == (k < seen));
      CHECK(before(core, uncore) != before(uncore, core));
    }
  }
  CHECK(before(stamp(9, false, 39, 9), stamp(1, true, 40, 0)));
  CHECK(before(stamp(9, true, 39, 9), stamp(1, false, 40, 0)));
}

}  // namespace atl::test
