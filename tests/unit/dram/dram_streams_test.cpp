#include <doctest/doctest.h>

#include <random>

#include "channel_alone.hpp"

/// The rule checker over the commands of a channel under random streams: every preset keeps every rule, and a channel that
/// is wrong by one clock in one timing is found out by that timing's rule.
namespace atl {
namespace {

using namespace test;

/// What a stream of requests looks like; drawn anew for each.
struct Mix {
  double gap, writes, same_row, same_bank;  ///< mean cycles between requests; probabilities
  std::uint32_t banks, rows;                ///< so many are asked for
};

std::vector<DramRequest> random_stream(std::mt19937_64& random, std::uint32_t banks, std::uint32_t requests) {
  const auto pick = [&](auto... choices) {
    const std::array all{choices...};
    return all[random() % all.size()];
  };
  const Mix mix{pick(0.5, 2.0, 8.0, 40.0), pick(0.0, 0.1, 0.5, 0.9), pick(0.0, 0.5, 0.9),
                pick(0.0, 0.3, 0.9),       pick(2u, 5u, banks),      pick(2u, 64u, 4096u)};
  std::uniform_real_distribution<double> chance(0, 1);
  std::exponential_distribution<double> gap(1 / mix.gap);
  std::vector<DramRequest> all(requests);
  double at = 0;
  DramRequest before;
  for (DramRequest& r : all) {
    at += gap(random);
    r.at = static_cast<Cycle>(at);
    r.bank = chance(random) < mix.same_bank ? before.bank : static_cast<std::uint32_t>(random() % mix.banks);
    r.row = chance(random) < mix.same_row ? before.row : static_cast<std::uint32_t>(random() % mix.rows);
    r.write = chance(random) < mix.writes;
    r.sectors = static_cast<std::uint8_t>(1 + random() % 15);
    before = r;
  }
  return all;
}

/// Random streams through a channel of timing `built`, held against `promised`, until so many commands were seen.
DramRules run_streams(const DramTiming& built, const DramTiming& promised, double core_clock_mhz, std::uint64_t commands,
                      std::uint64_t seed) {
  DramRules rules(promised);
  std::mt19937_64 random(seed);
  for (std::uint64_t seen = 0; seen < commands;) {
    SystemConfig config = one_channel(built, core_clock_mhz);
    config.dram.queue = std::array{4u, 16u, 64u}[random() % 3];
    config.dram.row_hit_cap = std::array{1u, 4u, 16u}[random() % 3];
    DramRules one(promised);  // a stream begins on a channel that nobody has used
    one.check(ChannelAlone(config, random_stream(random, built.banks, 2000)).commands());
    rules.add(one);
    seen += one.commands();
  }
  return rules;
}

TEST_CASE("10^7 random commands over all presets, at the memory's clock and at another, keep every rule" *
          doctest::test_suite("stress")) {
  constexpr std::uint64_t kCommands = 10'000'000;
  std::uint64_t commands = 0;
  for (const auto& preset : words<DramPreset>()) {
    const DramTiming t = dram_timing(preset.value);
    for (const double clock : {t.clock_mhz, 1410.0}) {
      CAPTURE(std::string(preset.word));
      CAPTURE(clock);
      const DramRules rules = run_streams(t, t, clock, kCommands / 2 / words<DramPreset>().size() + 1, 7);
      CHECK(rules.what() == "");
      commands += rules.commands();
      // The streams press on the rules: most hold a command back to the clock. RAS and RTP cannot where the way from the
      // activate to the last data is longer.
      if (clock == t.clock_mhz) {
        for (const Rule r : {Rule::rcd, Rule::rp, Rule::rrd, Rule::ccd, Rule::bus, Rule::cdlr, Rule::wr}) {
          CAPTURE(std::string(name(r)));
          CHECK(rules.on_time(r) > 1000);
        }
        if (t.ccdl > t.ccd) CHECK(rules.on_time(Rule::ccdl) > 1000);
        if (t.faw > 4 * t.rrd) CHECK(rules.on_time(Rule::faw) > 1000);
      }
    }
  }
  CHECK(commands >= kCommands);
}

TEST_CASE("a channel that is one clock short in one timing breaks that timing's rule") {
  struct Fault {
    Rule rule;
    std::uint32_t DramTiming::*timing;
    std::int32_t by;
  };
  // Data begin WL after a write's command: a channel that takes WL for longer sends the command too soon after a read's
  // data.
  constexpr std::array kFaults{Fault{Rule::rcd, &DramTiming::rcd, -1}, Fault{Rule::ras, &DramTiming::ras, -1},
                               Fault{Rule::rp, &DramTiming::rp, -1},   Fault{Rule::rc, &DramTiming::rc, -1},
                               Fault{Rule::rrd, &DramTiming::rrd, -1}, Fault{Rule::faw, &DramTiming::faw, -1},
                               Fault{Rule::ccd, &DramTiming::ccd, -1}, Fault{Rule::ccdl, &DramTiming::ccdl, -1},
                               Fault{Rule::bus, &DramTiming::wl, 1},   Fault{Rule::cdlr, &DramTiming::cdlr, -1},
                               Fault{Rule::wr, &DramTiming::wr, -1},   Fault{Rule::rtp, &DramTiming::rtp, -1}};
  // Every timing decides at times: RC exceeds RAS + RP, RAS what a first read takes, FAW four activates. Accesses take one
  // burst or two.
  DramTiming kept = kPrimes;
  kept.burst_bytes = 64;
  CHECK(run_streams(kept, kept, 1000, 50'000, 11).what() == "");
  for (const Fault& f : kFaults) {
    CAPTURE(std::string(name(f.rule)));
    DramTiming promised = kept;
    if (f.rule == Rule::ras) promised.rc = 0;  // or it would hold the activate, which is what a precharge is made for
    DramTiming built = promised;
    built.*f.timing = static_cast<std::uint32_t>(static_cast<std::int32_t>(built.*f.timing) + f.by);
    CHECK(run_streams(built, promised, 1000, 50'000, 11).violations(f.rule) > 0);
  }
}

}  // namespace
}  // namespace atl
