#include "core/control/kernel_sampler.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <numeric>
#include <set>

#include "partition/scatter.hpp"

using namespace atl;
using doctest::Approx;

namespace {

/// `cluster`, all of the same work.
SamplingPlan plan_of(std::vector<std::uint32_t> cluster, double error = 0.03) {
  SamplingPlan plan;
  plan.options.error = error;
  plan.work.assign(cluster.size(), 100), plan.work_error.assign(cluster.size(), 0);
  for (const std::uint32_t c : cluster) plan.clusters = std::max(plan.clusters, c + 1);
  plan.cluster = std::move(cluster);
  return plan;
}

constexpr Cycle kOverhead = 100;

struct SamplerOutcome {
  std::vector<std::size_t> simulated;
  RunResult run;
  SamplingResult result;
  double cycles() const { return result.find("cycles")->value; }
};

/// Runs a workload whose launch k takes `cycles(k)`, and reads ten times as many sectors.
SamplerOutcome sample(const SamplingPlan& plan, const std::function<Cycle(std::size_t)>& cycles) {
  KernelSampler sampler(plan, kOverhead);
  SamplerOutcome out;
  out.run.chips.resize(1);
  for (std::size_t k = 0; k < plan.cluster.size(); ++k) {
    if (!sampler.wanted(k)) continue;
    out.simulated.push_back(k);
    Counters counters;
    counters[Counter::llc_accesses] = 10 * cycles(k), counters[Counter::llc_hits] = 4 * cycles(k);
    out.run.cycles += cycles(k), out.run.chips[0].totals += counters;
    sampler.ended(k, cycles(k), counters);
  }
  SystemConfig config;
  config.chips = 1;
  out.result = sampler.extrapolate(config, out.run);
  return out;
}

}  // namespace

TEST_CASE("launches that all take as long: the first three, the last, and between them so many as to see that it stays so") {
  const SamplerOutcome o = sample(plan_of(std::vector<std::uint32_t>(100, 0)), [](std::size_t) { return 1000; });
  CHECK(std::set(o.simulated.begin(), o.simulated.begin() + 3) == std::set<std::size_t>{0, 1, 2});
  CHECK(o.simulated.back() == 99);
  for (std::size_t n = 3; n < o.simulated.size(); ++n) {
    const std::size_t step = o.simulated[n] - o.simulated[n - 1];
    CHECK(step <= KernelSampler::kGap * n);
    CHECK((step >= KernelSampler::kGap * n / 2 || o.simulated[n] == 99));
  }
  CHECK(o.cycles() == Approx(100'000));
  CHECK(o.result.find("cycles")->half_width == Approx(0).scale(1));
  CHECK(o.result.find("llc.accesses")->value == Approx(1'000'000));
  CHECK(o.result.find("llc.hit_rate")->value == Approx(0.4));
  CHECK(o.result.simulated() == 7);
  CHECK(o.result.work == 10'000);
  CHECK(o.result.simulated_work == 700);
  CHECK(o.result.launches[3].cycles == Approx(1000));
  CHECK_FALSE(o.result.launches[3].simulated);
}

TEST_CASE("the first launch of a cluster stands for itself alone") {
  const SamplerOutcome o =
      sample(plan_of(std::vector<std::uint32_t>(100, 0)), [](std::size_t k) { return k == 0 ? 5000 : 1000; });
  CHECK(o.cycles() == Approx(104'000));
}

TEST_CASE("clusters of up to three launches are simulated whole, and nothing is extrapolated") {
  const SamplerOutcome o = sample(plan_of({0, 1, 1, 2, 2, 2}), [](std::size_t k) { return 1000 + 700 * k; });
  CHECK(o.simulated.size() == 6);
  CHECK(o.cycles() == static_cast<double>(o.run.cycles));
  CHECK(o.result.find("cycles")->half_width == 0);
}

TEST_CASE("launches that differ more need more of them, until the interval is within the error") {
  const auto uneven = [](std::size_t k) { return 1000 + 37 * (k * k % 11); };  // about 10 % around the mean
  const SamplerOutcome coarse = sample(plan_of(std::vector<std::uint32_t>(400, 0), 0.10), uneven),
                       fine = sample(plan_of(std::vector<std::uint32_t>(400, 0), 0.02), uneven);
  CHECK(fine.simulated.size() > 2 * coarse.simulated.size());
  for (const SamplerOutcome* o : {&coarse, &fine}) {
    const SampledFigure& f = *o->result.find("cycles");
    double truth = 0;
    for (std::size_t k = 0; k < 400; ++k) truth += static_cast<double>(uneven(k));
    CHECK(std::abs(f.value - truth) <= f.half_width);
  }
  const SampledFigure& f = *fine.result.find("cycles");
  CHECK(f.half_width / f.value < 0.025);
}

TEST_CASE("launches that still fill the caches stand for themselves, and not for those behind them") {
  const auto settling = [](std::size_t k) { return k < 8 ? 3000 - 200 * k : 1000 + 10 * (k % 3); };
  const SamplerOutcome o = sample(plan_of(std::vector<std::uint32_t>(200, 0)), settling);
  double truth = 0;
  for (std::size_t k = 0; k < 200; ++k) truth += static_cast<double>(settling(k));
  CHECK(o.simulated.size() < 50);
  CHECK(o.result.launches[0].cycles == Approx(3000));
  CHECK(o.result.launches[100].cycles == Approx(1010).epsilon(0.01));
  CHECK(std::abs(o.cycles() / truth - 1) < 0.05);  // half of the gap in which they settle
}

TEST_CASE("what a launch that ended early left out comes from its window") {
  KernelSampler sampler(plan_of({0}), kOverhead);
  CHECK(sampler.wanted(0));
  // 60 of 100 CTAs ran in 1300 cycles with 6000 instructions: 4000 are left, at 4 and 6 per cycle: 800 cycles.
  const auto period = [](std::uint64_t instructions, std::uint64_t hits) {
    RatePeriod p{100, {}};
    p.counters[Counter::warp_instructions] = instructions, p.counters[Counter::llc_hits] = hits;
    return p;
  };
  Counters counters;
  counters[Counter::warp_instructions] = 6000, counters[Counter::ctas] = 60, counters[Counter::llc_hits] = 600;
  RunResult run;
  run.chips.resize(1), run.chips[0].totals = counters, run.cycles = 1400;
  sampler.ended(0, 1400, counters, {{40, 4000, 0, 1, 0}, {period(400, 30), period(600, 70)}});
  SystemConfig config;
  config.chips = 1;
  const SamplingResult r = sampler.extrapolate(config, run);
  CHECK(r.find("cycles")->value == Approx(1400 + 800));
  CHECK(r.find("warp.instructions")->value == Approx(10'000));
  CHECK(r.find("llc.hits")->value == Approx(600 + 400));
  REQUIRE(r.find("link.bytes") != nullptr);
  CHECK(r.find("link.busiest_bytes") == nullptr);  // another port in each period, and periods move
  CHECK(r.find("link.busiest_received_bytes") == nullptr);
  CHECK(r.find("cycles")->half_width > 0);
  CHECK(r.find("warp.instructions")->half_width == Approx(0).scale(1));
  CHECK(r.launches[0].simulated);
  CHECK(r.launches[0].cycles == Approx(2200));
  CHECK(r.simulated_work == Approx(60));
}

TEST_CASE("a cluster whose launches change in the middle is noticed, and cut there") {
  const auto doubled = [](std::size_t k) { return k < 200 ? 1000 : 2000; };
  const SamplerOutcome o = sample(plan_of(std::vector<std::uint32_t>(400, 0)), doubled);
  CHECK(o.simulated.size() < 40);
  CHECK(o.result.launches[100].cycles == Approx(1000));
  CHECK(o.result.launches[300].cycles == Approx(2000));
  CHECK(std::abs(o.cycles() / 600'000 - 1) < 0.05);  // half of the gap in which it changed: at most 28 launches
  CHECK(o.result.find("cycles")->half_width > std::abs(o.cycles() - 600'000));
  CHECK(o.result.find("llc.accesses")->half_width == Approx(10 * o.result.find("cycles")->half_width).epsilon(0.001));
}

TEST_CASE("launches are reached evenly, whatever they repeat in") {
  std::vector<std::uint32_t> clusters;
  for (std::uint32_t k = 0; k < 200 * 400; ++k) clusters.push_back(k % 200);  // 400 launches of each
  const SamplerOutcome o = sample(plan_of(clusters), [](std::size_t) { return 1000; });
  for (std::size_t period = 2; period <= 12; ++period) {
    std::vector<std::size_t> reached(period);
    for (const std::size_t k : o.simulated)
      if (const std::size_t at = k / 200; at > 2 && at < 399) ++reached[at % period];
    const auto all = static_cast<double>(std::accumulate(reached.begin(), reached.end(), std::size_t{0}));
    CHECK(all > 1000);
    for (const std::size_t n : reached)
      CHECK(static_cast<double>(n) * static_cast<double>(period) / all == Approx(1).epsilon(0.25));
  }
}

TEST_CASE(
    "where one in two, three or four launches differs, it is found, and the interval holds the truth in 8 of 9 cases") {
  std::size_t held = 0;
  for (std::size_t period = 2; period <= 4; ++period) {
    for (std::size_t phase = 0; phase < period; ++phase) {
      const auto beat = [&](std::size_t k) { return k % period == phase ? 3000 : 1000; };
      const SamplerOutcome o = sample(plan_of(std::vector<std::uint32_t>(240, 0)), beat);
      double truth = 0;
      for (std::size_t k = 0; k < 240; ++k) truth += static_cast<double>(beat(k));
      held += std::abs(o.cycles() - truth) <= o.result.find("cycles")->half_width;
    }
  }
  CHECK(held >= 8);  // with equal steps 2
}

TEST_CASE("a change that lasts to the end, and begins behind what the steps alone would reach, is in the interval") {
  const auto late = [](std::size_t k) { return k < 210 ? 1000 : 4000; };
  const SamplerOutcome o = sample(plan_of(std::vector<std::uint32_t>(230, 0)), late);
  REQUIRE(o.simulated.size() > 3);
  CHECK(o.simulated[o.simulated.size() - 2] < 210);
  CHECK(o.simulated.back() == 229);
  CHECK(o.result.find("cycles")->half_width > std::abs(o.cycles() - 290'000));
  CHECK_FALSE(o.result.as_certain_as_asked());
}

TEST_CASE("instructions that are not known exactly make all figures of a launch that ended early uncertain") {
  KernelSampler sampler(plan_of({0}), kOverhead);
  CHECK(sampler.wanted(0));
  RatePeriod period{100, {}};
  period.counters[Counter::warp_instructions] = 500;
  Counters counters;
  counters[Counter::warp_instructions] = 6000, counters[Counter::ctas] = 60;
  RunResult run;
  run.chips.resize(1), run.chips[0].totals = counters, run.cycles = 1400;
  sampler.ended(0, 1400, counters, {{40, 4000, 100 * 100, 1e6, 0}, {period, period}});
  SystemConfig config;
  config.chips = 1;
  const SamplingResult r = sampler.extrapolate(config, run);
  CHECK(r.find("warp.instructions")->half_width == Approx(196).epsilon(0.01));  // 1.96 standard deviations
  CHECK(r.find("cycles")->half_width == Approx(196.0 / 5).epsilon(0.01));       // at 5 instructions per cycle
}

TEST_CASE("work that grows is followed by the ratio, the overhead of a launch aside") {
  SamplingPlan plan = plan_of(std::vector<std::uint32_t>(200, 0));
  double truth = 0;
  for (std::size_t k = 0; k < 200; ++k)
    plan.work[k] = 100 + static_cast<double>(k % 7), truth += kOverhead + 10 * plan.work[k];
  const SamplerOutcome o = sample(plan, [&](std::size_t k) { return kOverhead + static_cast<Cycle>(10 * plan.work[k]); });
  CHECK(o.simulated.size() < 12);
  CHECK(o.cycles() == Approx(truth));
}

TEST_CASE("a cluster with little of the work is allowed a larger error of its own") {
  // Cluster 1 has one part in a hundred: its allowance is 3 % / sqrt(0.01) = 30 %.
  std::vector<std::uint32_t> cluster(800, 0);
  for (std::size_t k = 1; k < 800; k += 2) cluster[k] = 1;
  SamplingPlan plan = plan_of(cluster), alone = plan_of(std::vector<std::uint32_t>(400, 0));
  for (std::size_t k = 0; k < 800; ++k) plan.work[k] = cluster[k] == 1 ? 1 : 99;
  const auto uneven = [](std::size_t k) { return 1000 + 37 * (k * k % 11); };
  const SamplerOutcome o = sample(plan, [&](std::size_t k) { return cluster[k] == 1 ? uneven(k / 2) : Cycle{1000}; });
  const auto small = std::ranges::count_if(o.simulated, [&](std::size_t k) { return cluster[k] == 1; });
  CHECK(static_cast<std::size_t>(small) < sample(alone, uneven).simulated.size() / 2);
}

TEST_CASE("what launches that were not simulated have to do is known from a part of their CTAs: so are all figures") {
  SamplingPlan plan = plan_of(std::vector<std::uint32_t>(100, 0));
  plan.work_error.assign(100, 1);
  const SamplerOutcome o = sample(plan, [](std::size_t) { return 1000; });
  REQUIRE(o.simulated.size() == 7);
  // 93 launches, each 1 % off, by 900 cycles without the overhead. All may be off to the same side.
  CHECK(o.result.find("cycles")->half_width == Approx(1.97 * 93 * 9).epsilon(0.001));
  CHECK(o.result.find("llc.accesses")->half_width == Approx(1.97 * 93 * 100).epsilon(0.001));
  CHECK(o.result.launches[3].half_width == Approx(1.97 * 9).epsilon(0.001));
  CHECK(o.result.launches[0].half_width == 0);
}

TEST_CASE("launches of two modes that come at random are not cut where a few of one mode follow each other") {
  std::size_t held = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto modes = [&](std::size_t k) -> Cycle { return scatter(seed * 1000 + k + 1, 2) == 0 ? 130'000 : 100'000; };
    const SamplerOutcome o = sample(plan_of(std::vector<std::uint32_t>(100, 0)), modes);
    double truth = 0;
    for (std::size_t k = 0; k < 100; ++k) truth += static_cast<double>(modes(k));
    held += std::abs(o.cycles() - truth) <= o.result.find("cycles")->half_width;
  }
  CHECK(held >= 88);  // of 100; with the cut of the least error, without a test, 81
}
