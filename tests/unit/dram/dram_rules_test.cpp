#include "dram_rules.hpp"

#include <doctest/doctest.h>

/// The rule checker itself, on commands written by hand: each rule is kept to the clock, and broken by one.
namespace atl {
namespace {

using namespace test;
using Commands = std::vector<DramCommand>;
using enum DramCommand::Kind;

constexpr DramTiming kTiming{.clock_mhz = 1000,
                             .burst_bytes = 32,
                             .banks = 16,
                             .bank_groups = 4,
                             .ccd = 2,
                             .ccdl = 5,
                             .rrd = 6,
                             .rcd = 12,
                             .ras = 28,
                             .rp = 12,
                             .rc = 45,
                             .cl = 12,
                             .wl = 4,
                             .cdlr = 9,
                             .wr = 16,
                             .rtp = 7,
                             .faw = 31};

std::string violated(Commands commands) {
  DramRules rules(kTiming);
  rules.check(std::move(commands));
  return rules.violated();
}

/// The last command breaks this rule alone if it comes one clock earlier.
void check_bound(Rule rule, Commands commands) {
  CAPTURE(name(rule));
  CHECK(violated(commands) == "");
  commands.back().at -= 1;
  CHECK(violated(commands) == name(rule));
}

TEST_CASE("a command that comes at the moment its rule allows is right, and one clock earlier breaks that rule alone") {
  const Commands open{{activate, 0, 7, 0, 0}, {activate, 1, 7, 0, 10}, {activate, 4, 7, 0, 20}};
  const auto then = [&](Commands more) {
    more.insert(more.begin(), open.begin(), open.end());
    return more;
  };
  check_bound(Rule::rcd, {{activate, 0, 7, 0, 0}, {read, 0, 7, 1, 12}});
  check_bound(Rule::ras, {{activate, 0, 7, 0, 0}, {precharge, 0, 0, 0, 28}});
  check_bound(Rule::rp, {{activate, 0, 7, 0, 0}, {precharge, 0, 0, 0, 40}, {activate, 0, 8, 0, 52}});
  check_bound(Rule::rc, {{activate, 0, 7, 0, 0}, {precharge, 0, 0, 0, 28}, {activate, 0, 8, 0, 45}});
  check_bound(Rule::rrd, {{activate, 0, 7, 0, 0}, {activate, 1, 7, 0, 6}});
  check_bound(Rule::faw, {{activate, 0, 7, 0, 0},
                          {activate, 1, 7, 0, 6},
                          {activate, 2, 7, 0, 12},
                          {activate, 3, 7, 0, 18},
                          {activate, 4, 7, 0, 31}});
  check_bound(Rule::ccdl, then({{read, 0, 7, 1, 100}, {read, 4, 7, 1, 105}}));
  check_bound(Rule::ccdl, then({{read, 0, 7, 1, 100}, {read, 1, 7, 1, 102}, {read, 4, 7, 1, 105}}));
  check_bound(Rule::ccdl, then({{read, 0, 7, 3, 100}, {read, 0, 7, 1, 109}}));
  check_bound(Rule::bus, then({{read, 0, 7, 1, 100}, {write, 1, 7, 1, 110}}));   // data from 112 to 114, and from 114
  check_bound(Rule::cdlr, then({{write, 0, 7, 2, 100}, {read, 1, 7, 1, 117}}));  // data until 108
  check_bound(Rule::wr, then({{write, 0, 7, 2, 100}, {precharge, 0, 0, 0, 124}}));
  check_bound(Rule::rtp, then({{read, 0, 7, 2, 100}, {precharge, 0, 0, 0, 109}}));
}

TEST_CASE("column commands of one direction that are too close break the burst distance and overlap on the bus") {
  const Commands commands{{activate, 0, 7, 0, 0}, {activate, 1, 7, 0, 6}, {read, 0, 7, 3, 100}, {read, 1, 7, 1, 105}};
  CHECK(violated(commands) == "ccd bus");
}

TEST_CASE("a column command needs the row that it names open, an activate a closed bank, a precharge an open one") {
  CHECK(violated({{read, 0, 7, 1, 0}}) == "state");
  CHECK(violated({{activate, 0, 7, 0, 0}, {read, 0, 8, 1, 50}}) == "state");
  CHECK(violated({{activate, 0, 7, 0, 0}, {activate, 0, 7, 0, 50}}) == "state");
  CHECK(violated({{precharge, 0, 0, 0, 0}}) == "state");
  CHECK(violated({{activate, 0, 7, 0, 0}, {precharge, 0, 0, 0, 50}, {read, 0, 7, 1, 60}}) == "state");
}

TEST_CASE("commands may be told in another order than that of time, and the first violation is told in full") {
  DramRules rules(kTiming);
  rules.check({{activate, 1, 9, 0, 5}, {activate, 0, 7, 0, 0}});
  CHECK(rules.commands() == 2);
  CHECK(rules.violations() == 1);
  CHECK(rules.what() == "rrd: activate of bank 1, row 9, at 5.00 clocks, allowed 1.00 clocks later");
}

TEST_CASE("commands that come on time are counted by rule") {
  DramRules rules(kTiming);
  rules.check({{activate, 0, 7, 0, 0}, {activate, 1, 7, 0, 6}, {read, 0, 7, 1, 12}, {read, 1, 7, 1, 19}});
  CHECK(rules.on_time(Rule::rrd) == 1);
  CHECK(rules.on_time(Rule::rcd) == 1);
  CHECK(rules.on_time(Rule::ccd) == 0);
}

}  // namespace
}  // namespace atl
