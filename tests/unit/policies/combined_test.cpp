#include "policies/combined.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

#include "core/chip/base/epoch_clock.hpp"

using namespace atl;

namespace {

/// What a policy was told at the end of an epoch.
struct Told {
  Cycle end, length;
  std::uint64_t instructions;
  bool operator==(const Told&) const = default;
};

/// Has epochs of one length, notes what it is told, and says something every so often.
class Clock final : public Policy {
 public:
  Clock(std::uint32_t cycles, std::vector<Told>& told, std::size_t says_every = 0, bool degrees = false)
      : cycles_(cycles), told_(told), says_every_(says_every), degrees_(degrees) {}
  Verdict at_kernel_start(std::size_t, Cycle) override { return {{}, {modes()}}; }
  std::optional<Verdict> at_epoch_end(const Epoch& e) override {
    told_.push_back({e.end, e.length, e.chips[0].count[Counter::warp_instructions]});
    if (says_every_ == 0 || told_.size() % says_every_ != 0) return std::nullopt;
    ++level_;
    return Verdict{{}, {modes()}};
  }

 private:
  Modes modes() const {
    Modes m{.epoch_cycles = cycles_};
    if (degrees_) m.replication = {.level = level_ % 2, .profile = true};
    return m;
  }
  std::uint32_t cycles_, level_ = 0;
  std::vector<Told>& told_;
  std::size_t says_every_;
  bool degrees_;
};

/// One instruction in a cycle, reports as a chip makes them, from cycle `now` up to `end`. What it decided, and when.
std::vector<std::pair<Cycle, Modes>> drive(Policy& policy, Modes m, Cycle now, Cycle end) {
  std::vector<std::pair<Cycle, Modes>> decided;
  EpochClock one, other;
  one.start(now, m.epoch_cycles, m.epoch_gone), other.start(now, m.beside_cycles, m.beside_gone);
  for (;;) {
    const Cycle next = std::min(one.end(), other.end());
    if (next > end) return decided;
    ChipEpoch chip;
    chip.count[Counter::warp_instructions] = next - now;
    const auto v = policy.at_epoch_end({0, next, next - now, {&chip, 1}});
    now = next;
    one.pass(now), other.pass(now);
    if (!v || v->modes[0] == m) continue;
    decided.emplace_back(now, m = v->modes[0]);
    one.start(now, m.epoch_cycles, m.epoch_gone), other.start(now, m.beside_cycles, m.beside_gone);
  }
}

}  // namespace

TEST_CASE("epochs of an organisation and of replication each keep their own length, and nothing is counted twice or lost") {
  std::vector<Told> of_a, of_b;
  const auto both = combine(std::make_unique<Clock>(700, of_a), std::make_unique<Clock>(1000, of_b, 0, true));
  const Modes first = both->at_kernel_start(0, 0).modes[0];
  CHECK(drive(*both, first, 0, 3000).empty());  // no new modes, which would begin epochs anew
  CHECK(of_a == std::vector<Told>{{700, 700, 700}, {1400, 700, 700}, {2100, 700, 700}, {2800, 700, 700}});
  CHECK(of_b == std::vector<Told>{{1000, 1000, 1000}, {2000, 1000, 1000}, {3000, 1000, 1000}});
}

TEST_CASE("a decision of one leaves the other's epoch where it is") {
  std::vector<Told> of_a, of_b;
  const auto both = combine(std::make_unique<Clock>(600, of_a), std::make_unique<Clock>(1000, of_b, 1, true));
  const auto decided = drive(*both, both->at_kernel_start(0, 0).modes[0], 0, 3000);
  REQUIRE(decided.size() == 3);
  for (std::size_t n = 0; n < 3; ++n) {
    CHECK(decided[n].first == 1000 * (n + 1));
    CHECK(decided[n].second.replication.level == (n + 1) % 2);
  }
  CHECK(of_a == std::vector<Told>{{600, 600, 600}, {1200, 600, 600}, {1800, 600, 600}, {2400, 600, 600}, {3000, 600, 600}});
}

TEST_CASE("one without epochs leaves those of the other as they are") {
  std::vector<Told> of_a, of_b;
  const auto both = combine(std::make_unique<Clock>(0, of_a), std::make_unique<Clock>(1000, of_b, 0, true));
  const Modes first = both->at_kernel_start(0, 0).modes[0];
  CHECK(std::pair(first.epoch_cycles, first.beside_cycles) == std::pair(0u, 1000u));
  drive(*both, first, 0, 2000);
  CHECK(of_a.empty());
  CHECK(of_b.size() == 2);
}

TEST_CASE("a verdict that leaves all as it is begins no epoch anew") {
  std::vector<Told> of_a, of_b;
  const auto both = combine(std::make_unique<Clock>(700, of_a, 1), std::make_unique<Clock>(1000, of_b, 0, true));
  CHECK(drive(*both, both->at_kernel_start(0, 0).modes[0], 0, 10'000).empty());
  CHECK(of_a.size() == 14);
  CHECK(of_b.size() == 10);
}
