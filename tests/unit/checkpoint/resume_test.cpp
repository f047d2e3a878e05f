#include <cstdlib>

#include "resumable.hpp"
#include "tests/unit/chip/chip_test_access.hpp"

namespace atl::test {
namespace {

/// ATOLL_RESUME_SEEDS=300 for a long test by hand.
std::uint32_t seeds() {
  const char* text = std::getenv("ATOLL_RESUME_SEEDS");
  return text != nullptr ? static_cast<std::uint32_t>(std::atoi(text)) : 16;
}

TEST_CASE("a run that goes on from any of its checkpoints, on 1, 2, 3 or 5 ranks, ends as if it had never stopped" *
          doctest::test_suite("stress")) {
  for (std::uint32_t seed = 1; seed <= seeds(); ++seed) {
    const StressCase c = resume_case(seed);
    CAPTURE(seed);
    CAPTURE(c.name);
    CAPTURE(c.system.chips);
    validate(c.system);
    ScriptedWorkload w = stress_workload(c.system, c.shape, seed);
    Resumable plain;
    const RunResult wanted = run_on(c.system, w, 1, plain);
    REQUIRE(wanted.complete);
    const auto most = static_cast<int>(c.system.chips + 1);
    Resumable first{.every = std::max<Cycle>(1, wanted.cycles / 9)};
    check_same(run_on(c.system, w, std::min(most, static_cast<int>(1 + seed % 4)), first), wanted);
    REQUIRE(first.states.size() >= 2);
    for (const int ranks : {1, 2, 3, 5}) {
      const SystemState& from = first.states[(seed * 7 + static_cast<unsigned>(ranks)) % first.states.size()];
      CAPTURE(ranks);
      CAPTURE(from.boundary);
      Resumable again{.from = &from};
      check_same(run_on(c.system, w, std::min(most, ranks), again), wanted);
    }
  }
}

TEST_CASE("every organisation, with and without L1s that serve each other, goes on from the middle on two ranks" *
          doctest::test_suite("stress")) {
  std::uint32_t seed = 0;
  std::vector<SystemConfig> systems = machines(tiny(3));
  for (const std::uint32_t kind : {2u, 6u, 9u}) {
    separate_dies(systems.emplace_back(tiny(4)), kind);
    link_as_graph(systems.back(), kind);
  }
  for (const SystemConfig& base : systems) {
    SystemConfig c = base;
    c.llc.size_kib = 16, c.l1.size_kib = 1, c.sac.crd_sets = 32, c.sac.threshold = 0, c.control.latency_cycles = 100;
    c.partition.placement = Placement::first_touch;
    if (++seed % 2 == 0) share_l1s(c, seed);
    CAPTURE(seed);
    CAPTURE(word_of(c.llc.organisation));
    CAPTURE(word_of(c.coherence.protocol));
    validate(c);
    ScriptedWorkload w = stress_workload(c, {.lines = 60, .atomics = 10}, seed);
    Resumable plain;
    const RunResult wanted = run_on(c, w, 1, plain);
    Resumable first{.every = wanted.cycles / 2};
    check_same(run_on(c, w, 1, first), wanted);
    REQUIRE(!first.states.empty());
    Resumable again{.from = &first.states[0]};
    check_same(run_on(c, w, 2, again), wanted);
  }
}

TEST_CASE("a run whose addresses are the highest that a trace may have can be gone on from") {
  const StressCase c = stress_case(3);
  ScriptedWorkload w;
  w.kernel(4);
  for (std::uint64_t cta = 0; cta < 4; ++cta)
    for (std::uint64_t line = 1; line <= 40; ++line) w.warp(cta).load((std::uint64_t{1} << 63) - 128 * line, 0).pause(50);
  Resumable plain;
  const RunResult wanted = run_on(c.system, w, 1, plain);
  Resumable first{.every = wanted.cycles / 3};
  run_on(c.system, w, 1, first);
  REQUIRE(!first.states.empty());
  Resumable again{.from = &first.states.front()};
  check_same(run_on(c.system, w, 1, again), wanted);
}

TEST_CASE("a run that goes on ends at its limit of cycles, also if that is the checkpoint's own; an earlier one is over") {
  const StressCase c = stress_case(3);
  ScriptedWorkload w = stress_workload(c.system, c.shape, 3);
  Resumable whole;
  const RunResult wanted = run_on(c.system, w, 1, whole);
  Resumable first{.every = wanted.cycles / 3};
  run_on(c.system, w, 1, first);
  REQUIRE(!first.states.empty());
  const SystemState& from = first.states.front();
  REQUIRE(from.boundary + 1 < wanted.cycles);
  for (const Cycle limit : {from.boundary, from.boundary + 1, wanted.cycles - 1}) {
    CAPTURE(limit);
    Resumable plain{.max_cycles = limit}, again{.from = &from, .max_cycles = limit};
    const RunResult cut = run_on(c.system, w, 1, again);
    CHECK_FALSE(cut.complete);
    CHECK(cut.cycles == limit + c.system.control.latency_cycles);
    check_same(cut, run_on(c.system, w, 1, plain));
  }
  Resumable again{.from = &from, .max_cycles = from.boundary - 1};
  check_same(run_on(c.system, w, 1, again), wanted);
}

TEST_CASE("a chip and a controller that are loaded and saved again give the same bytes") {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    const StressCase c = resume_case(seed * 1000);
    CAPTURE(seed);
    CAPTURE(c.name);
    ScriptedWorkload w = stress_workload(c.system, c.shape, seed);
    Resumable first{.every = 3000};
    run_on(c.system, w, 1, first);
    REQUIRE(!first.states.empty());
    const SystemState& state = first.states[first.states.size() / 2];
    const Machine machine(c.system);
    const auto edges = system_edges(c.system);
    const auto again = [&](auto& process, const std::string& bytes) {
      std::istringstream in(bytes, std::ios::binary);
      boost::archive::binary_iarchive input(in, boost::archive::no_header);
      process.load(input, state.boundary);
      std::ostringstream out(std::ios::binary);
      boost::archive::binary_oarchive output(out, boost::archive::no_header);
      process.save(output);
      const std::string text = out.str();
      return text.size() > 1000 && bytes.compare(0, text.size(), text) == 0;  // observers and messages follow
    };
    for (LpId lp = 0; lp < c.system.chips; ++lp) {
      Chip chip(machine, lp, edges[lp], w);
      CHECK(again(chip, state.processes[lp]));
    }
    Controller controller(machine, edges[c.system.chips], w.kernels(), kNever, load_policy(c.system));
    CHECK(again(controller, state.processes[c.system.chips]));
  }
}

TEST_CASE("a chip with a CTA that its kernel does not have is refused, and no workload is asked for it") {
  const StressCase c = resume_case(3000);
  struct Strict : ScriptedWorkload {
    explicit Strict(ScriptedWorkload w) : ScriptedWorkload(std::move(w)) {}
    void load_cta(std::size_t kernel, std::uint64_t cta, CtaProgram& out) override {
      CHECK(cta < kernels()[kernel].ctas());
      ScriptedWorkload::load_cta(kernel, cta, out);
    }
  } w(stress_workload(c.system, c.shape, 3));
  Resumable first{.every = 1000};
  run_on(c.system, w, 1, first);
  const Machine machine(c.system);
  const auto edges = system_edges(c.system);
  std::size_t renamed = 0;
  for (const SystemState& state : first.states) {
    const auto load = [&](Chip& chip, const std::string& bytes) {
      std::istringstream in(bytes, std::ios::binary);
      boost::archive::binary_iarchive input(in, boost::archive::no_header);
      chip.load(input, state.boundary);
    };
    Chip chip(machine, 0, edges[0], w), again(machine, 0, edges[0], w);
    load(chip, state.processes[0]);
    if (!ChipTestAccess::rename_cta(chip)) continue;
    ++renamed;
    std::ostringstream out(std::ios::binary);
    boost::archive::binary_oarchive output(out, boost::archive::no_header);
    chip.save(output);
    CHECK_THROWS_WITH_AS(load(again, out.str()), "a checkpoint does not fit the system that it names", SimulationError);
  }
  CHECK(renamed > 0);
}

TEST_CASE("a state that does not fit the system is refused, and its file is named") {
  StressCase c = stress_case(3);
  c.system.link.latency_cycles = 50;  // windows of that length
  ScriptedWorkload w = stress_workload(c.system, c.shape, 3);
  Resumable first{.every = 1000};
  run_on(c.system, w, 1, first);
  REQUIRE(!first.states.empty());
  const auto refusal = [&](auto&& damage) -> std::string {
    SystemState state = first.states.front();
    state.file = "o.h5.1.ckpt";
    damage(state);
    Resumable again{.from = &state};
    try {
      run_on(c.system, w, 1, again);
      return "none";
    } catch (const InputError& e) {
      return e.what();
    }
  };
  CHECK(refusal([](SystemState&) {}) == "none");
  const std::string said =
      "o.h5.1.ckpt: cannot be gone on from: a checkpoint does not fit the system that it names; resume an older checkpoint "
      "of the run";
  CHECK(refusal([](SystemState& s) { s.processes.pop_back(); }) == said);
  CHECK(refusal([](SystemState& s) { s.processes.emplace_back(); }) == said);
  CHECK(refusal([](SystemState& s) { s.processes[0].pop_back(); }) == said);
  CHECK(refusal([](SystemState& s) { s.processes[1].push_back('x'); }) == said);
  CHECK(refusal([](SystemState& s) { s.processes[0].clear(); }) == said);
  CHECK(refusal([](SystemState& s) { std::swap(s.processes.front(), s.processes.back()); }) == said);
  CHECK(refusal([](SystemState& s) { ++s.boundary; }).starts_with("o.h5.1.ckpt: cannot be gone on from: no window of "));
}

}  // namespace
}  // namespace atl::test
