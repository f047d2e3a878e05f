#include "core/stats/summary.hpp"
#include "core/stats/info_json.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "core/stats/human.hpp"
#include "core/stats/version.hpp"
#include "sample_result.hpp"

namespace atl::summary_test {

namespace {

RunResult two_chips() {
  RunResult r;
  r.provenance.system = "toy";
  r.provenance.workload = "stream";
  r.provenance.host_seconds = 2;
  r.provenance.events = 5'000'000;
  r.provenance.hosts = {"a", "a", "a"};
  r.provenance.wait_shares = {0.05, 0.1, 0.3};
  r.cycles = 1000;
  r.digest = 0xABC;
  r.kernels = {{"first", 8, 0, 10, 400}, {"second", 8, 400, 410, 1000}};
  r.chips.resize(2);
  for (auto& chip : r.chips) {
    chip.channel_reads = {1, 1};
    chip.totals[Counter::warp_instructions] = 1500;
    chip.totals[Counter::l1_accesses] = 200;
    chip.totals[Counter::l1_hits] = 50;
    chip.totals[Counter::llc_accesses] = 100;
    chip.totals[Counter::llc_hits] = 90;
    chip.totals[Counter::requests_local] = 60;
    chip.totals[Counter::requests_remote] = 20;
    chip.totals[Counter::dram_read_bytes] = 24'000;
    chip.totals[Counter::dram_write_bytes] = 8000;
    chip.totals[Counter::dram_bus_busy] = 500;
    chip.totals[Counter::link_bytes] = 1250;
    chip.totals[Counter::load_latency_cycles] = 30'000;
    chip.totals[Counter::loads_completed] = 200;
    chip.latency[0][5] = 30, chip.latency[0][7] = 10, chip.latency[1][8] = 30, chip.latency[2][9] = 20;
    chip.latency[3][kLatencyBuckets - 1] = 10;
  }
  return r;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("one chip is no \"chips\"") {
  auto result = two_chips();
  result.chips.resize(1);
  CHECK(contains(summary_table(result), "toy (1 chip)\n"));
}

TEST_CASE("the summary names organisation, protocol and replication, and the sharing of clusters if there is any") {
  auto result = two_chips();
  CHECK_FALSE(contains(summary_table(result), "caches"));
  result.provenance.effective_config = R"({"llc": {"organisation": "sac", "replication": "shared"},
    "coherence": {"protocol": "rec"}, "cluster": {"sharing": "none"}})";
  CHECK(contains(summary_table(result), "(2 chips)\n  caches       organisation sac, protocol rec, replication shared\n"));
  result.provenance.effective_config = R"({"llc": {"organisation": "sac"}, "cluster": {"sharing": "colab"}})";
  CHECK(contains(info_text(result), "  caches       organisation sac, cluster sharing colab\n"));
}

TEST_CASE("the summary forms its ratios over all chips and all cycles") {
  const auto text = summary_table(two_chips());
  CAPTURE(text);
  CHECK(contains(text, "toy (2 chips)"));
  CHECK(contains(text, "3.00 warp instructions per cycle"));
  CHECK(contains(text, "25.0 % hits of 400 loaded lines"));
  CHECK(contains(text, "90.0 % hits of 200 requests"));
  CHECK(contains(text, "25.0 % of 160 requests of L1s: read misses, stores, atomics"));
  CHECK(contains(text, "0.20 loads per cycle: 40.0 % local LLC, 30.0 % remote LLC, 20.0 % local memory, 10.0 % remote"));
  CHECK_FALSE(contains(text, "shared"));
  CHECK(contains(text, "64.00 bytes per cycle, 25.0 % busy"));
  CHECK(contains(text, "2.50 bytes per cycle"));
  CHECK(contains(text, "150.0 cycles on average"));
  CHECK(contains(text, "2 s on 3 ranks that wait 15.0 % of it; 2.50 M events/s, 80 requests/s, 500 cycles/s"));
  CHECK(contains(text, "0000000000000abc"));
  CHECK_FALSE(contains(text, "--max-cycles"));
}

TEST_CASE("of many names the first five are listed, of many lines the first") {
  CHECK(first_line("") == "");
  CHECK(first_line("a") == "a");
  CHECK(first_line("a\nb\nc") == "a; and 2 more");
  CHECK(listed(std::vector<std::string>{"a"}) == "a");
  CHECK(listed(std::vector<std::string>{"a", "b", "c", "d", "e"}) == "a, b, c, d, e");
  CHECK(listed(std::vector<std::string>{"a", "b", "c", "d", "e", "f", "g"}) == "a, b, c, d, e and 2 more");
}

TEST_CASE("the summary of an empty result has no numbers that would divide by zero") {
  const auto text = summary_table({});
  CHECK_FALSE(contains(text, "nan"));
  CHECK_FALSE(contains(text, "inf"));
}

TEST_CASE("the summary shows the first five kernels and says how many follow") {
  auto result = two_chips();
  result.kernels.assign(12, {"same", 1, 0, 1, 2});
  CHECK(contains(summary_table(result), "... and 7 more"));
  CHECK_FALSE(contains(info_text(result), "more"));
}

TEST_CASE("a long kernel name is cut in the summary and whole in info") {
  auto result = two_chips();
  result.kernels[0].name = std::string(300, 'k');
  CHECK_FALSE(contains(summary_table(result), std::string(29, 'k')));
  CHECK(contains(info_text(result), std::string(300, 'k')));
}

TEST_CASE("of a long kernel name the summary shows the function rather than the library") {
  auto result = two_chips();
  result.kernels[0].name = "_ZN11a_namespace12another_name10more_names6kernelIfLi16EEEvPT_";
  CHECK(contains(summary_table(result), "      0  more_names::kernel  "));
}

TEST_CASE("of a run that was stopped, the kernel under way is unfinished and those behind it were not started") {
  auto result = two_chips();
  result.complete = false;
  result.kernels[1].finished = kNever;
  result.kernels.push_back({"third", 8, kNever, kNever, kNever});
  CHECK(contains(summary_table(result), "  kernels      3  (2 started, 1 finished)\n"));
  CHECK(contains(summary_table(result), "    1  second                                   unfinished          8 CTAs\n"));
  CHECK(contains(summary_table(result), "    2  third                                   not started          8 CTAs\n"));
  CHECK(contains(summary_table(result), "stopped early"));
  CHECK(nlohmann::json::parse(info_json(result))["kernels"][1]["cycles"].is_null());
}

TEST_CASE("the JSON of info has the digest, the cycles of each kernel and every counter by name") {
  const auto json = nlohmann::json::parse(info_json(two_chips()));
  CHECK(json["digest"] == "0000000000000abc");
  CHECK(json["cycles"] == 1000);
  CHECK(json["kernels"][1]["cycles"] == 600);
  CHECK(json["totals"].size() == kCounters);
  CHECK(json["totals"]["llc.hits"] == 180);
}

TEST_CASE("the JSON of info has the loads that each origin served") {
  const auto json = nlohmann::json::parse(info_json(two_chips()));
  CHECK(json["responses"]["local_llc"] == 80);
  CHECK(json["responses"]["remote_memory"] == 20);
  CHECK_FALSE(json.contains("sharing"));
}

TEST_CASE("the footprint and the mean working sets of a run that watched the sharing are shown") {
  auto result = two_chips();
  result.sharing.emplace();
  result.sharing->epoch_cycles = 100'000;
  result.sharing->footprint = {3'000'000, 9'000'000, 2'000'000, 20'000'000};
  result.sharing->epochs.resize(4);  // the third without any access
  for (const std::size_t e : {0, 1, 3}) result.sharing->epochs[e].fill({300 * (e + 1), 900 * (e + 1), 0, 6000});
  const auto text = summary_table(result);
  CAPTURE(text);
  CHECK(contains(text, "whole run      25.0 MB      3.00 MB      2.00 MB      20.0 MB      31.0 MB\n"));
  CHECK(contains(text, "1.00 k cycles"));
  CHECK(contains(text, "100 k cycles   6.70 kB        700 B          0 B      6.00 kB      8.10 kB\n"));
  CHECK(contains(text, "mean of 3 epochs"));

  const auto json = nlohmann::json::parse(info_json(result))["sharing"];
  CHECK(json["footprint"]["true_shared_copies"] == 9'000'000);
  CHECK(json["epochs"] == 3);
  REQUIRE(json["mean_windows"].size() == 5);
  CHECK(json["mean_windows"][1]["cycles"] == 5000);
  CHECK(json["mean_windows"][1]["true_shared"] == 700);
}

TEST_CASE("several chips without a remote miss get a warning, one chip and a cut-off run without requests none") {
  auto result = two_chips();
  CHECK_FALSE(contains(summary_table(result), "warning"));
  for (auto& chip : result.chips) chip.totals[Counter::requests_remote] = 0;
  CHECK(contains(summary_table(result), "  warning      all requests of L1s stayed on their chip"));
  CHECK(contains(summary_table(result), "`partition.interleave_kib`"));
  for (auto& chip : result.chips) chip.totals[Counter::requests_local] = 0;
  CHECK_FALSE(contains(summary_table(result), "warning"));
  result = two_chips();
  result.chips.resize(1);
  result.chips[0].totals[Counter::requests_remote] = 0;
  CHECK_FALSE(contains(summary_table(result), "warning"));
}

TEST_CASE("a home of more than half of the requests gets a warning, of two chips one of more than three quarters") {
  auto result = two_chips();
  result.structures.emplace();
  const auto warns = [&](std::vector<std::uint64_t> homes) {  // [structure][chip that asked][home chip]
    result.structures->homes = std::move(homes);
    return contains(summary_table(result), "warning");
  };
  CHECK_FALSE(warns({10, 20, 5, 20, 0, 5, 10, 30}));  // 25 of 100 and 75
  CHECK(warns({10, 20, 5, 20, 0, 5, 9, 31}));
  CHECK(contains(summary_table(result), "  warning      chip 1 is the home of 76.0 % of the requests: see"));
  result.chips.resize(4, result.chips[0]);
  CHECK_FALSE(warns({10, 0, 5, 5, 10, 0, 5, 5, 10, 0, 5, 5, 20, 0, 5, 15}));
  CHECK(warns({10, 0, 5, 5, 10, 0, 5, 5, 10, 0, 5, 5, 21, 0, 5, 14}));
  CHECK(contains(summary_table(result), "chip 0 is the home of 51.0 % of the requests"));
}

TEST_CASE("requests to none of the data structures that a workload names get a warning") {
  auto result = two_chips();
  result.structures.emplace();
  result.structures->structures = {{"A", 4096, 4096}, {"B", 8192, 4096}, {"other", 0, 0}};
  const auto warns = [&](std::vector<std::uint64_t> homes) {  // [structure][chip that asked][home chip]
    result.structures->homes = std::move(homes);
    return contains(summary_table(result), "warning      no request is to any of the 2 data structures");
  };
  CHECK(warns({0, 0, 0, 0, 0, 0, 0, 0, 10, 10, 10, 10}));
  CHECK_FALSE(warns({0, 0, 0, 0, 0, 0, 1, 0, 10, 10, 10, 10}));
  CHECK_FALSE(warns(std::vector<std::uint64_t>(12)));
  result.structures->structures = {{"other", 0, 0}};  // a workload that names none
  CHECK_FALSE(contains(summary_table(result), "no request is to any"));
}

TEST_CASE("decisions are counted by choice, and those of SAC that rest on no sampled request are named") {
  RunResult r = two_chips();
  const auto decide = [&](const char* choice, double sampled) {
    r.decisions.push_back({0, 400, choice, {{"r_local", 0.5}, {"sm_side.sampled_requests", sampled}}});
  };
  decide("sm_side", 40), decide("memory_side", 1), decide("sm_side", 12);
  CHECK(contains(summary_table(r), "decisions    sm_side 2, memory_side 1\n"));
  decide("memory_side", 0), decide("sm_side", 0);
  CHECK(contains(summary_table(r), "sm_side 3, memory_side 2; 2 on no request that sac.crd_sets sampled"));
  r.decisions.push_back({0, 500, "degree_2", {{"degree_2.bandwidth", 0}}});  // of another mechanism
  CHECK(contains(summary_table(r), "degree_2 1; 2 on no request"));
}

TEST_CASE("the energy is shown as a whole, the share of each kind of event, and what was drawn at rest") {
  auto result = two_chips();
  CHECK_FALSE(contains(summary_table(result), "static"));
  for (auto& chip : result.chips) {
    chip.energy[EnergyComponent::core] = 0.003;
    chip.energy[EnergyComponent::link] = 0.001;
    chip.energy[EnergyComponent::sm_static] = 0.004;
    chip.energy[EnergyComponent::dram_static] = 0.002;
  }
  const auto text = summary_table(result);
  CAPTURE(text);
  CHECK(contains(text, "20 mJ: 30.0 % cores, 0.0 % L1, 0.0 % LLC, 0.0 % NoC, 10.0 % links, 0.0 % DRAM, 60.0 % static"));
  result.energy_prices = {{"warp_instruction_pj", 0.006, 2}, {"sm_static_w", 0.014, 1.4}};
  CHECK(contains(summary_table(result), "20 mJ (13 mJ to 31.6 mJ): 30.0 % cores"));
  const auto range = nlohmann::json::parse(info_json(result))["energy_range_joules"];
  CHECK(range["least"].get<double>() == doctest::Approx(0.013));
  CHECK(range["greatest"].get<double>() == doctest::Approx(0.0316));
  CHECK(contains(info_text(result), "energy.sm_static"));
  const auto json = nlohmann::json::parse(info_json(result))["energy_joules"];
  CHECK(json.size() == kEnergyComponents);
  CHECK(json["energy.core"] == 0.006);
}

TEST_CASE("the text of info lists every counter") {
  const auto text = info_text(two_chips());
  for (const auto& counter : counter_table()) CHECK(contains(text, std::string(counter.name)));
  CHECK_FALSE(contains(text, "not in this file"));
}

TEST_CASE("the text of info says of a counter that the file does not have why it is zero") {
  auto result = two_chips();
  result.not_in_file = {Counter::cluster_bytes};
  CHECK(contains(info_text(result), "    cluster.bytes                               0 bytes (not in this file)\n"));
  CHECK(contains(info_json(result), "\"cluster.bytes\": null"));
}

TEST_CASE("numbers for people are short") {
  CHECK(si(0) == "0");
  CHECK(si(999) == "999");
  CHECK(si(999.6) == "1.00 k");
  CHECK(si(12'345) == "12.3 k");
  CHECK(si(999'600) == "1.00 M");
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1'234'567) == "1,234,567");
  CHECK(percent(1, 0) == "-");
  CHECK(duration(59.4) == "59 s");
  CHECK(duration(200) == "3 min 20 s");
  CHECK(duration(7500) == "2 h 05 min");
  CHECK(duration(100'000) == "1 d 03 h");
}

TEST_CASE("version and commit are known or say that they are not") {
  CHECK(version().find('.') != std::string_view::npos);
  CHECK_FALSE(git_commit().empty());
}

}  // namespace atl::summary_test
