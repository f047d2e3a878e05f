#include <doctest/doctest.h>

#include <limits>

#include "core/monitor/live_text.hpp"
#include "core/monitor/live_view.hpp"

namespace atl {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

/// Two chips whose samples are made by hand, and the view of them.
struct Watched {
  SystemConfig config = two_chips();
  LiveView::Clock::time_point start{};
  LiveView view;
  std::vector<Counters> chips{2};
  std::vector<ChipLook> looks{2};
  std::vector<KernelResult> kernels{
      {"_Z4gemmIfEvPT_", 100, 0, 1000, 51000}, {"plain", 300, 51000, 52000, kNever}, {"last", 100, kNever, kNever, kNever}};
  std::vector<Decision> decisions;
  std::vector<Modes> modes{2};
  ProgressState progress{2, 3, 60000, 200, 500, 4000};

  explicit Watched(bool resumed = false)
      : view(config, {.system = "pair", .workload = "w.json", .started_at = "2026-01-01T00:00:00Z", .ranks = 3}, resumed,
             start) {
    for (ChipLook& l : looks) l.kernel = 1, l.now = Span::running, l.ctas_done = 50, l.ctas = 150, l.census = WaitCensus(2);
  }
  static SystemConfig two_chips() {
    SystemConfig c;
    c.chips = 2;
    return c;
  }
  std::optional<json> at(std::chrono::milliseconds time) {
    const auto text = view.update({progress, chips, looks, kernels, decisions, modes}, start + time);
    return text ? std::optional(json::parse(*text)) : std::nullopt;
  }
};

TEST_CASE("before the first sample a state says what the run is, and the rest is null") {
  const Watched w;
  const json s = json::parse(w.view.state());
  CHECK(s.at("run").at("system") == "pair");
  CHECK(s.at("run").at("chips") == 2);
  CHECK(s.at("run").at("ranks") == 3);
  for (const char* part : {"progress", "rates", "chips", "kernels", "decisions", "ended"}) CHECK(s.at(part).is_null());
  CHECK(live_line(s) == "waiting for the run to begin");
}

TEST_CASE("progress has the kernel's name without parameters, CTAs, and the time left by CTAs so far") {
  Watched w;
  const json p = w.at(4s)->at("progress");
  CHECK(p.at("kernel") == 1);
  CHECK(p.at("kernels") == 3);
  CHECK(p.at("name") == "plain");
  CHECK(p.at("cycle") == 60000);
  CHECK(p.at("ctas_done") == 200);
  CHECK(p.at("ctas_total") == 500);
  CHECK(p.at("seconds") == 4.0);
  CHECK(p.at("seconds_left") == 6.0);  // 300 CTAs, 50 a second
}

TEST_CASE("of a sampled run the kernels that have ended are shown, and not those that it skips") {
  Watched w;
  w.kernels.assign(40, {"k", 10, kNever, kNever, kNever});
  for (const std::size_t k : {0u, 1u, 2u, 9u, 20u}) w.kernels[k] = {"k", 10, 1000 * k, 1000 * k, 1000 * k + 500};
  w.kernels[33].started = 50000;
  std::vector<std::size_t> shown;
  const json state = *w.at(1s);
  for (const json& k : state.at("kernels")) shown.push_back(k.at("kernel"));
  CHECK(shown == std::vector<std::size_t>{0, 1, 2, 9, 20});
  RunResult r;
  r.kernels = w.kernels, r.complete = true, r.chips.resize(2);
  r.chips[0].totals[Counter::ctas] = 50;
  const json end = json::parse(w.view.ended({"complete", "", 0, &r}, w.start + 2s)).at("progress");
  CHECK(end.at("kernel") == 33);
  CHECK(end.at("ctas_done") == 400);
  CHECK(end.at("ctas_total") == 400);
}

TEST_CASE("a run that was gone on with counts time, CTAs and rates from where it was resumed") {
  Watched w(true);
  w.chips[0][Counter::warp_instructions] = 900;
  CHECK_FALSE(w.at(1s));  // nothing has been simulated since then
  w.progress.cycle = 100000, w.progress.ctas_done = 300;
  const json s = *w.at(2s);
  CHECK(s.at("progress").at("seconds_left") == 4.0);  // 200 CTAs left, 100 done in 2 s
  CHECK(s.at("rates").at("mean").at("cycles") == 20000.0);
}

TEST_CASE("states come at intervals, and what happened in between is in the next one") {
  Watched w;
  w.chips[0][Counter::warp_instructions] = 600, w.chips[1][Counter::requests_local] = 30,
  w.chips[1][Counter::requests_remote] = 10;
  REQUIRE(w.at(1000ms));
  w.progress.cycle = 70000;
  CHECK_FALSE(w.at(1499ms));
  w.progress.cycle = 80000;
  const json s = *w.at(1500ms);
  CHECK(s.at("rates").at("now").at("instructions") == 2400.0);  // 1200 in half a second
  CHECK(s.at("rates").at("now").at("cycles") == 40000.0);
  CHECK(s.at("rates").at("now").at("requests") == 160.0);
  CHECK(s.at("rates").at("mean").at("instructions") == 1200.0);  // 1800 in 1.5 s
  CHECK(s.at("chips").at(1).at("remote") == 0.25);
}

TEST_CASE("a chip's cycles are shares of what it looked like since the state before, as in the stack of a result") {
  Watched w;
  WaitCensus& c = w.looks[0].census;
  c.span[0] = 1000;  // running
  c.slots[static_cast<std::size_t>(Wait::compute)] = 3 * WaitCensus::kSlot;
  c.slots[static_cast<std::size_t>(Wait::no_warp)] = WaitCensus::kSlot;
  w.looks[1].census.span = c.span;
  const json first = *w.at(1s);
  CHECK(first.at("chips").at(0).at("spent") == json({{"compute", 0.75}, {"no_warp", 0.25}}));
  CHECK(first.at("chips").at(0).at("limit") == "compute");
  CHECK(first.at("chips").at(0).at("does") == "running");
  CHECK(first.at("chips").at(0).at("ctas_done") == 50);
  CHECK(first.at("chips").at(0).at("ctas") == 150);
  // Then it waits for other chips, which go on.
  c.span[static_cast<std::size_t>(Span::waiting)] += 500, w.looks[1].census.span[0] += 500;
  w.looks[0].now = Span::waiting;
  w.progress.cycle += 500;
  const json second = *w.at(2s);
  CHECK(second.at("chips").at(0).at("spent") == json({{"balance", 1.0}}));
  CHECK(second.at("chips").at(0).at("does") == "waiting");
}

TEST_CASE("packets of a chip are counted where they wait, on average over the cycles since the state before") {
  Watched w;
  for (ChipLook& l : w.looks) l.census.span[0] = 1000;
  w.looks[1].census.packets[0][0][static_cast<std::size_t>(Wait::dram)] = 4000;  // chip 0's, in chip 1
  w.looks[1].census.packets[0][1][static_cast<std::size_t>(Wait::slice)] = 1000;
  CHECK(w.at(1s)->at("chips").at(0).at("packets_at") == json({0.0, 5.0}));
  for (ChipLook& l : w.looks) l.census.span[0] += 1000;
  w.looks[1].census.packets[0][0][static_cast<std::size_t>(Wait::dram)] += 2000;
  w.progress.cycle += 1000;
  CHECK(w.at(2s)->at("chips").at(0).at("packets_at") == json({0.0, 2.0}));
  // Of another kernel, all that it has.
  for (ChipLook& l : w.looks) l.kernel = 2, l.census = WaitCensus(2), l.census.span[0] = 100;
  w.looks[0].census.packets[1][0][static_cast<std::size_t>(Wait::link)] = 700;
  w.progress.cycle += 1000;
  CHECK(w.at(3s)->at("chips").at(1).at("packets_at") == json({7.0, 0.0}));
}

TEST_CASE("queues are entries on average over the cycles that were looked at") {
  Watched w;
  w.chips[0][Counter::queue_looked] = 500, w.chips[0][Counter::queue_dram] = 1500;
  const json s = *w.at(1s);
  CHECK(s.at("chips").at(0).at("queues").at("dram") == 3.0);
  CHECK(s.at("chips").at(0).at("queues").at("link_in") == 0.0);
  CHECK(s.at("chips").at(1).at("queues").at("dram") == 0.0);
}

TEST_CASE("modes and the latest decisions are those that the controller has, kernels counted from 0") {
  Watched w;
  w.modes[1] = {.llc = LlcRole::split, .local_ways = 5, .profile = true};
  w.modes[0].replication.level = 2;
  for (std::uint64_t i = 0; i < 10; ++i) w.decisions.push_back({1, 1000 * i, "sm_side", {{"gain", 0.5}}});
  const json s = *w.at(1s);
  CHECK(s.at("chips").at(0).at("modes") == json({{"llc", "memory_side"}, {"replication_degree", 4}}));
  CHECK(s.at("chips").at(1).at("modes") == json({{"llc", "split"}, {"local_ways", 5}, {"profiles", true}}));
  CHECK(s.at("decisions").at("number") == 10);
  CHECK(s.at("decisions").at("last").size() == 8);
  CHECK(s.at("decisions").at("last").back() ==
        json({{"kernel", 1}, {"cycle", 9000}, {"choice", "sm_side"}, {"values", {{"gain", 0.5}}}}));
  CHECK(s.at("kernels") == json({{{"kernel", 0}, {"name", "gemm<float>"}, {"ctas", 100}, {"cycles", 51000}}}));
}

TEST_CASE("what a decision saw is null where it is no finite number") {
  Watched w;
  w.decisions.push_back({0, 1000, "sm_side", {{"gain", std::numeric_limits<double>::infinity()}, {"least", 2}}});
  CHECK(w.at(1s)->at("decisions").at("last").at(0).at("values") == json({{"gain", nullptr}, {"least", 2.0}}));
}

TEST_CASE("chips that send no looks, after a checkpoint of a run that nobody watched, are shown without them") {
  Watched w;
  w.looks = std::vector<ChipLook>(2);
  const json chip = w.at(1s)->at("chips").at(0);
  CHECK(chip.at("limit").is_null());
  CHECK(chip.at("spent").empty());
  CHECK(chip.at("packets_at") == json({0.0, 0.0}));
}

TEST_CASE("chips of a run that has ended have done all of their CTAs") {
  Watched w;
  w.at(1s);
  RunResult r;
  r.kernels = w.kernels, r.chips.resize(2);
  r.chips[0].totals[Counter::ctas] = 300, r.chips[1].totals[Counter::ctas] = 200;
  const json chips = json::parse(w.view.ended({"complete", "", 0, &r}, w.start + 9s)).at("chips");
  REQUIRE(chips.size() == 2);
  for (const json& chip : chips) CHECK(chip.at("does") == "ended");
  CHECK(chips[0].at("ctas_done") == 300);
  CHECK(chips[1].at("ctas") == 200);
  CHECK(chips[1].at("spent") == json::parse(w.view.state()).at("chips")[1].at("spent"));
}

TEST_CASE("an end has how, message and exit code, and of a result what it says") {
  Watched w;
  w.at(1s);
  RunResult r;
  r.cycles = 99000, r.digest = 0xABC, r.kernels = w.kernels, r.chips.resize(2);
  r.chips[0].totals[Counter::ctas] = 300, r.chips[1].totals[Counter::ctas] = 200;
  const json s = json::parse(w.view.ended({"complete", "complete after 99,000 cycles", 0, &r}, w.start + 9s));
  CHECK(s.at("ended") == json({{"how", "complete"},
                               {"message", "complete after 99,000 cycles"},
                               {"exit_code", 0},
                               {"cycles", 99000},
                               {"digest", "0000000000000abc"}}));
  CHECK(s.at("progress").at("kernel") == 1);  // the last that began
  CHECK(s.at("progress").at("name") == "plain");
  CHECK(s.at("progress").at("cycle") == 99000);
  CHECK(s.at("progress").at("ctas_done") == 500);
  CHECK(s.at("progress").at("seconds") == 9.0);
  CHECK(s.at("progress").at("seconds_left").is_null());
  CHECK(live_line(s) == "the run has ended: complete after 99,000 cycles");
  const json failed = json::parse(Watched().view.ended({"failed", "it failed: \xFF", 3, nullptr}));
  CHECK(failed.at("ended").at("exit_code") == 3);  // and bytes of another encoding are no obstacle
}

TEST_CASE("a terminal gets a line, or a screen with a line for each chip") {
  Watched w;
  w.looks[0].census.span[0] = w.looks[1].census.span[0] = 1000;
  w.looks[0].census.slots[static_cast<std::size_t>(Wait::compute)] =
      w.looks[1].census.slots[static_cast<std::size_t>(Wait::no_warp)] = 1;
  w.chips[0][Counter::llc_accesses] = 8, w.chips[0][Counter::llc_hits] = 2;
  w.decisions.push_back({1, 1000, "sm_side", {}});
  const json s = *w.at(4s);
  CHECK(
      live_line(s) ==
      "kernel 2/3 | cycle 60.0 k | CTAs 200/500 | 15.0 k cycles/s | 0 requests/s | 6 s left | 50 % computes, 50 % no warps");
  const std::vector<std::string> screen = live_screen(s);
  REQUIRE(screen.size() == 11);
  CHECK(screen[0] == "w.json on pair, memory_side, 2 chips in 3 ranks");
  CHECK(screen[2] == "kernel 1: plain");
  CHECK(screen[4] == "chip 0   running      CTAs        50/150  LLC  25.0 %  100 % computes");
  CHECK(screen[5] == "chip 1   running      CTAs        50/150  LLC   0.0 %  100 % no warps");
  CHECK(screen[6] == "packets that wait      in 0     in 1");
  CHECK(screen[7] == "  of chip 0             0.0      0.0");
  CHECK(screen[9] == "policy: memory_side");
  CHECK(screen[10] == "  kernel 1, cycle 1,000: sm_side");
}

}  // namespace
}  // namespace atl
