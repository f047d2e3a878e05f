#include "coverage.hpp"

#include "comm/synchroniser.hpp"
#include "inputs/config/walk.hpp"

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

struct Seen {
  int meetings = 0, changed = 0;
  std::string first{};
};
Seen watch_run(const StressCase& c, std::uint32_t seed) {
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
  return {watch.meetings, watch.changed, watch.first};
}

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
    const Seen watch = watch_run(c, seed);
    CHECK(watch.meetings > 32);
    CAPTURE(watch.first);
    CHECK(watch.changed == 0);
  }
}

/// Another value of a key: the next word, the other truth value, twice the number or half of it.
template <class T> std::vector<T> others(const T& value, const Field& field) {
  std::vector<T> list;
  if constexpr (std::is_enum_v<T>) {
    for (const Word<T>& w : words<T>())
      if (w.value != value) list.push_back(w.value);
  } else if constexpr (std::is_same_v<T, bool>) {
    list.push_back(!value);
  } else if constexpr (ConfigNumber<T>) {
    const Range range = legal_range<T>(field);
    for (const double n : {value == T{} ? 1 : 2 * static_cast<double>(value), static_cast<double>(value) / 2})
      if (range.holds(n) && static_cast<T>(n) != value) return {static_cast<T>(n)};
  }
  return list;
}

TEST_CASE("what changes during a run is listed as state with any key at another value, new ones included" *
          doctest::test_suite("stress")) {
  std::size_t runs = 0;
  for (const std::uint32_t seed : {101u, 104u, 107u}) {
    StressCase c = stress_case(seed);
    c.system.chips = std::min(c.system.chips, 3u), c.system.link.latency_cycles = 2;
    c.shape.lines = std::min<std::uint64_t>(c.shape.lines, 60);
    CAPTURE(c.name);
    std::size_t number = 0;
    for_each_leaf(c.system, "", [&]<class T>(T& value, const Field& field, const std::string& key) {
      if (key.starts_with("energy.") || key == "chips" || key == "scale") return;
      if (ConfigNumber<T> && ++number % 3 != seed % 3) return;
      const T was = value;
      for (const auto& other : others(was, field)) {
        value = other;
        CAPTURE(key);
        if constexpr (std::is_enum_v<T>) CAPTURE(word_of(other));
        try {
          validate(c.system);
        } catch (const InputError&) {
          continue;
        }
        const Seen watch = watch_run(c, seed);
        CAPTURE(watch.first);
        CHECK(watch.changed == 0);
        ++runs;
      }
      value = was;
    });
  }
  CHECK(runs > 150);
}

}  // namespace
}  // namespace atl::test
