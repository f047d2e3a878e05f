#include "coverage.hpp"

#include "comm/synchroniser.hpp"

#include "resumable.hpp"
#include "tests/unit/chip/chip_test_access.hpp"

namespace atl::test {
namespace {

/// Looks at chips and controller where ranks would meet: bytes that no list of state has, and that changed.
class Watch final : public Meeting {
 public:
  Watch(std::vector<std::unique_ptr<Chip>>& chips, Controller& controller) : chips_(chips), controller_(controller) {
    last_ = unlisted();
  }
  std::uint32_t request() override { return 0; }
  bool meet(Cycle, Cycle, std::uint32_t) override {
    if (++meetings % 16 != 0) return true;
    auto now = unlisted();
    for (const auto& [where, bytes] : now) {
      const auto before = last_.find(where);
      if (before == last_.end() || before->second == bytes) continue;
      ++changed;
      note(where);
    }
    last_ = std::move(now);
    return true;
  }
  int meetings = 0, changed = 0;
  std::string first{};  ///< where the first one lies

 private:
  std::map<Coverage::Bytes, std::string> unlisted() {
    Coverage c;
    for (const auto& chip : chips_) {
      carry(c, *chip);
      c.listed(chip->outbox());  // empty where ranks meet
      ChipTestAccess::for_each_wait(*chip, [&](Gate*& g) { c.listed(g); });
      ChipTestAccess::for_each_derived(*chip, [&](const auto& member) { c.listed(member); });
    }
    carry(c, controller_);
    c.listed(controller_.outbox());
    return c.rest();
  }
  void note(const Coverage::Bytes& where) {
    if (!first.empty()) return;
    const auto in = [&](const auto& owner) {
      return where.first >= reinterpret_cast<const char*>(&owner) && where.first < reinterpret_cast<const char*>(&owner + 1);
    };
    first = "in an element of a vector";
    for (const auto& chip : chips_)
      if (in(*chip)) first = fmt::format("byte {} of a chip", where.first - reinterpret_cast<const char*>(chip.get()));
    if (in(controller_))
      first = fmt::format("byte {} of the controller", where.first - reinterpret_cast<const char*>(&controller_));
    first += fmt::format(", {} bytes", where.second - where.first);
  }

  std::vector<std::unique_ptr<Chip>>& chips_;
  Controller& controller_;
  std::map<Coverage::Bytes, std::string> last_;
};

TEST_CASE("what changes during a run is listed as state, in every component of every organisation" *
          doctest::test_suite("stress")) {
  for (std::uint32_t seed = 100; seed < 130; ++seed) {
    StressCase c = stress_case(seed);
    if (seed % 3 == 0 && c.system.llc.replication == Replication::shared) share_l1s(c.system, seed);
    if (seed % 10 == 3) {
      c.system.llc = {}, c.system.coherence = {}, c.system.llc.size_kib = 16, c.system.control.latency_cycles = 3;
      route_responses(c.system, seed);
    }
    c.system.observe.neighbours = seed % 4 == 0;
    c.system.link.latency_cycles = 1 + seed % 3;  // meetings follow each other closely
    CAPTURE(seed);
    CAPTURE(c.name);
    validate(c.system);
    ScriptedWorkload w = stress_workload(c.system, c.shape, seed);
    const Machine machine(c.system);
    const auto edges = system_edges(c.system);
    std::vector<std::unique_ptr<Chip>> chips;
    std::vector<LogicalProcess*> local;
    for (LpId lp = 0; lp < c.system.chips; ++lp) {
      chips.push_back(std::make_unique<Chip>(machine, lp, edges[lp], w));
      local.push_back(chips.back().get());
    }
    Controller controller(machine, edges[c.system.chips], w.kernels(), kNever, load_policy(c.system));
    local.push_back(&controller);
    SerialTransport alone;
    Synchroniser synchroniser(alone, local, std::vector<int>(local.size()), edges);
    Watch watch(chips, controller);
    REQUIRE(synchroniser.run(&watch));
    CHECK(watch.meetings > 32);
    CAPTURE(watch.first);
    CHECK(watch.changed == 0);
  }
}

}  // namespace
}  // namespace atl::test
