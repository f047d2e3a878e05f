#include "core/stats/result_comparison.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/stats/unlike_work.hpp"
#include "sample_result.hpp"

using namespace atl;

namespace {

RunResult whole_result(std::size_t chips = 4, std::size_t samples = 200) {
  RunResult r = test::sample_result(chips, samples);
  r.complete = true;
  return r;
}

const Effect* find(const std::vector<Effect>& effects, const std::string& name) {
  const auto e = std::ranges::find(effects, name, &Effect::name);
  return e == effects.end() ? nullptr : &*e;
}

}  // namespace

TEST_CASE("a result does not differ from itself") {
  const RunResult r = whole_result();
  const ResultComparison c = compare(r, r);
  CHECK(c.same_simulation);
  CHECK(c.configuration.empty());
  CHECK(c.inputs.empty());
  CHECK(c.results.empty());
  CHECK(c.kernels.empty());
}

TEST_CASE("runs of a policy that differ where nothing that they got does are named as such") {
  RunResult a = whole_result(), b = a;
  ++b.digest;
  const auto said = [&] {
    return comparison_text(compare(a, b), a, b, 5).find("simulation     not equal, though") != std::string::npos;
  };
  CHECK_FALSE(said());
  a.provenance.policy = b.provenance.policy = "mine";
  CHECK(said());
  b.complete = false;
  CHECK_FALSE(said());
  b.complete = true, b.provenance.git_commit += "x";
  CHECK_FALSE(said());
}

TEST_CASE("a text that is empty in one configuration and that the other lacks is no difference") {
  RunResult a = whole_result(), b = a;
  a.provenance.effective_config = R"({"llc": {"ways": 16}})";
  b.provenance.effective_config = R"({"llc": {"ways": 16, "policy": ""}})";
  CHECK(compare(a, b).configuration.empty());
  b.provenance.effective_config = R"({"llc": {"ways": 16, "policy": "mine.py"}})";
  CHECK(compare(a, b).configuration.size() == 1);
}

TEST_CASE("keys that differ or that one configuration lacks are listed with both values") {
  RunResult a = whole_result(), b = a;
  a.provenance.effective_config = R"({"name": "x", "llc": {"ways": 16, "slices": 4}, "old": true})";
  b.provenance.effective_config = R"({"name": "x", "llc": {"ways": 8, "slices": 4}, "new": "word"})";
  const auto keys = compare(a, b).configuration;
  REQUIRE(keys.size() == 3);
  CHECK(keys[0].name == "llc.ways");
  CHECK(keys[0].a == "16");
  CHECK(keys[0].b == "8");
  CHECK(keys[1].name == "old");
  CHECK_FALSE(keys[1].b);
  CHECK(keys[2].name == "new");
  CHECK_FALSE(keys[2].a);
  CHECK(keys[2].b == "word");
}

TEST_CASE("figures are listed by relative size from 1 % on, those that began or ended last, rare events not at all") {
  RunResult a = whole_result(1, 1), b;
  a.chips[0].totals = {};
  Counters& count = a.chips[0].totals;
  count[Counter::ctas] = 1000, count[Counter::l1_stores] = 1000, count[Counter::dram_writes] = 1000;
  count[Counter::page_touches] = 3;
  b = a;
  b.digest = 1;
  b.chips[0].totals[Counter::ctas] = 1009;
  b.chips[0].totals[Counter::l1_stores] = 500;
  b.chips[0].totals[Counter::dram_writes] = 1500;
  b.chips[0].totals[Counter::page_touches] = 90;
  b.chips[0].totals[Counter::link_packets] = 100;
  const auto c = compare(a, b);
  CHECK_FALSE(c.same_simulation);
  CHECK(find(c.results, "sm.ctas") == nullptr);
  CHECK(find(c.results, "mmu.page_touches") == nullptr);
  REQUIRE(c.results.size() == 3);
  CHECK(c.results[0].name == "l1.stores");
  CHECK(c.results[0].size() == doctest::Approx(std::log(2)));
  CHECK(c.results[1].name == "dram.writes");
  CHECK(c.results[2].name == "link.packets");
  CHECK(compare(a, b, {.relative = 0.6}).results.size() == 2);
}

TEST_CASE("the parts of the run times are compared in cycles of a chip, and add up to what separates the runs") {
  RunResult a = whole_result(2, 1), b = a;
  for (auto* r : {&a, &b}) r->stack = {std::vector<Stack>(2), std::vector<Stack>(2)};
  for (std::size_t chip = 0; chip < 2; ++chip) {
    a.stack[0][chip][StackPart::issue] = 500, b.stack[0][chip][StackPart::issue] = 250;
    a.stack[1][chip][StackPart::dram] = 499, b.stack[1][chip][StackPart::dram] = 400 + 100.0 * static_cast<double>(chip);
    a.stack[1][chip][StackPart::flush] = 1, b.stack[1][chip][StackPart::flush] = 226;
    a.stack[1][chip][StackPart::launch] = b.stack[1][chip][StackPart::launch] = 1000;
  }
  b.digest = 1;
  const auto c = compare(a, b);
  REQUIRE(c.cycles.size() == 3);
  CHECK(c.cycles[0].name == "issue");  // not flush, of which there is 226 times as much
  CHECK(c.cycles[1].name == "flush");
  CHECK(c.cycles[2].name == "dram");
  CHECK(c.cycles[2].b == doctest::Approx(450));
  CHECK(find(c.results, "stack.issue") == nullptr);
  CHECK(comparison_text(c, a, b, 2)
            .find("    issues                                            500                250       -250\n"
                  "    flush                                               1                226       +225\n"
                  "    ... and 1 more (--top)\n") != std::string::npos);
  a.stack.clear();  // of an old file
  CHECK(compare(a, b).cycles.empty());
}

TEST_CASE("the speeds of runs that did unlike work are not compared, and what is unlike is named") {
  RunResult a = whole_result(), b = a;
  b.digest ^= 1, b.cycles = a.cycles / 2;
  const auto text = [&] { return comparison_text(compare(a, b), a, b, 10); };
  CHECK(text().find("B is 2.0") != std::string::npos);
  b.provenance.workload = "the same file";
  CHECK(text().find("B is 2.0") != std::string::npos);
  b.complete = !a.complete;
  CHECK(text().find("no speed-up, of unlike work (complete)") != std::string::npos);
  a.complete = b.complete = false;  // two that were stopped did what they came to
  CHECK(text().find("no speed-up, of unlike work (complete)") != std::string::npos);
  CHECK(compare(a, b).inputs.back() == Setting{"complete", "no", "no"});
  a.complete = b.complete = true;
  a.provenance.effective_config = R"({"scale": 1})", b.provenance.effective_config = R"({"scale": 2})";
  CHECK(text().find("no speed-up, of unlike work (scale)") != std::string::npos);
}

TEST_CASE("chips and pages that a profile is laid out for are other work only where other things are done") {
  RunResult a = whole_result(), b = a;
  b.digest ^= 1;
  a.provenance.effective_config = R"({"partition": {"page_kib": 4}})";
  b.provenance.effective_config = R"({"partition": {"page_kib": 64}})";
  CHECK(unlike_work(a, b).empty());
  ++b.chips[0].totals[Counter::l1_stores];  // of lines, which another machine may have longer
  CHECK(unlike_work(a, b).empty());
  for (const Counter done : {Counter::warp_instructions, Counter::l1_sector_accesses, Counter::l1_store_sectors}) {
    ++b.chips[0].totals[done];
    CHECK(unlike_work(a, b) == std::vector<std::string>{"partition.page_kib"});
    --b.chips[0].totals[done];
  }
  const double instructions = static_cast<double>(a.chips[0].totals[Counter::warp_instructions]) * 2;
  b.sampling.emplace().figures = {{"warp.instructions", instructions, 10}};  // the others are not known
  a.sampling.emplace().figures = {{"warp.instructions", instructions + 40, 10}};
  CHECK(unlike_work(a, b).empty());  // no further apart than twice the intervals reach
  a.sampling->figures[0].value += 1;
  CHECK(unlike_work(a, b) == std::vector<std::string>{"partition.page_kib"});
  a.sampling.reset(), b.sampling.reset();
  ++b.chips[0].totals[Counter::warp_instructions];
  a.provenance.effective_config = R"({"chips": 4, "partition": {"page_kib": 4, "compute_chips": 2}})";
  b.provenance.effective_config = R"({"chips": 8, "partition": {"page_kib": 4, "compute_chips": 4}})";
  CHECK(unlike_work(a, b) == std::vector<std::string>{"chips", "partition.compute_chips"});
}

TEST_CASE("lines that caches hold, which are added up at samples, are compared with as many looks alone") {
  RunResult a = whole_result(1, 1), b = a;
  b.digest ^= 1;
  a.chips[0].totals[Counter::llc_local_lines] = 1000, b.chips[0].totals[Counter::llc_local_lines] = 9000;
  CHECK(find(compare(a, b).results, "llc.local_lines") != nullptr);
  a.provenance.effective_config = b.provenance.effective_config = R"({"control": {"sample_cycles": 1000}})";
  b.cycles = a.cycles + 999, b.samples.emplace_back();  // the same, kept in more samples
  CHECK(find(compare(a, b).results, "llc.local_lines") != nullptr);
  b.cycles = a.cycles + 1000;
  CHECK(find(compare(a, b).results, "llc.local_lines") == nullptr);
  b.cycles = a.cycles;
  b.provenance.effective_config = R"({"control": {"sample_cycles": 2000}})";
  CHECK(find(compare(a, b).results, "llc.local_lines") == nullptr);
}

TEST_CASE("where no kernel has one name in both runs, nothing is said to be equal") {
  RunResult a = whole_result(), b = a;
  b.digest ^= 1;
  a.kernels = {{"f", 1, 0, 10, 1000}, {"g", 1, 1000, 1010, 9000}};
  b.kernels = {{"u", 1, 0, 10, 1000}, {"v", 1, 1000, 1010, 9000}};
  CHECK(comparison_text(compare(a, b), a, b, 10).find("none that both ended has one name in both") != std::string::npos);
  b.kernels[1].name = "g";
  CHECK(comparison_text(compare(a, b), a, b, 10)
            .find("  cycles of the 1 of 2 kernels that both ended under one name equal, within 1 %") != std::string::npos);
  b.kernels[0].name = "f";
  CHECK(comparison_text(compare(a, b), a, b, 10).find("  cycles of kernels equal, within 1 %") != std::string::npos);
}

TEST_CASE("kernels are compared where both runs finished one of the same name, by the cycles between them") {
  RunResult a = whole_result(), b;
  a.kernels = {{"f", 1, 0, 10, 1000}, {"g", 1, 1000, 1010, 9000}, {"h", 1, 9000, 9010, 9500}, {"i", 1, 9500, 9510, kNever}};
  b = a;
  b.kernels[0].finished = 2000;
  b.kernels[1] = {"g", 1, 2000, 2010, 14000};
  b.kernels[2].name = "other";
  const auto c = compare(a, b);
  REQUIRE(c.kernels.size() == 2);
  CHECK(c.kernels[0].name == "1 g");
  CHECK(c.kernels[0].b == 12000);
  CHECK(c.kernels[1].name == "0 f");
}

TEST_CASE("where clocks differ, parts and kernels are compared in cycles of A's clock") {
  RunResult a = whole_result(1, 1), b = a;
  b.digest ^= 1;
  a.kernels = b.kernels = {{"f", 1, 0, 10, 1000}};
  for (auto* r : {&a, &b}) r->stack = {std::vector<Stack>(1)}, r->stack[0][0][StackPart::issue] = 1000;
  a.provenance.effective_config = R"({"core_clock_mhz": 1000})";
  CHECK(compare(a, b).cycles.empty());
  CHECK(comparison_text(compare(a, b), a, b, 10).find("counted at A's") == std::string::npos);
  b.provenance.effective_config = R"({"core_clock_mhz": 2000})";
  const auto c = compare(a, b);
  REQUIRE(c.cycles.size() == 1);
  CHECK(c.cycles[0].b == 500);
  REQUIRE(c.kernels.size() == 1);
  CHECK(c.kernels[0].b == 500);
  CHECK(c.speedup == 2);
  CHECK(comparison_text(c, a, b, 10).find("counted at A's") != std::string::npos);
}

TEST_CASE("for programs nothing that differs is left out, and unlike work has no ratio of cycles") {
  RunResult a = whole_result(1, 1), b = a;
  b.digest ^= 1;
  a.chips[0].totals = {}, b.chips[0].totals = {};
  a.chips[0].totals[Counter::page_touches] = 3, b.chips[0].totals[Counter::page_touches] = 4;
  a.stack = b.stack = {std::vector<Stack>(1)};
  b.stack[0][0][StackPart::issue] = 0.25;
  CHECK(compare(a, b).results.empty());
  CHECK(compare(a, b).cycles.empty());
  const LeastDifference none{.relative = 0, .count = 0, .cycles = 0};
  CHECK(find(compare(a, b, none).results, "mmu.page_touches") != nullptr);
  CHECK(compare(a, b, none).cycles.size() == 1);
  b.cycles = a.cycles / 2;
  const auto json = [&] { return comparison_json(compare(a, b, none)); };
  CHECK(json().find("\"speedup\": 2.0,") != std::string::npos);
  CHECK(json().find("\"ratio\": 0.5") != std::string::npos);
  b.provenance.workload_digest = "another";
  CHECK(json().find("\"speedup\": null,") != std::string::npos);
  CHECK(json().find("\"workload_digest\"\n  ]") != std::string::npos);
  CHECK(json().find("\"ratio\": 0.5") == std::string::npos);
  CHECK(json().find("\"ratio\": 1.3") != std::string::npos);  // of page touches
}

TEST_CASE("scale, part, gaps and warnings of runs are said of both at once where they are the same") {
  RunResult a = whole_result();
  a.provenance.effective_config = R"({"scale": 8})";
  a.provenance.selection = "kernels 0: 1 of 2", a.provenance.incomplete = "kernel 1 lacks CTAs\nkernel 2, too";
  a.provenance.warnings = "first\nsecond";
  RunResult b = a;
  const auto text = [&] { return comparison_text(compare(a, b), a, b, 10); };
  CHECK(text().find("  A and B        scale      8: LLC and footprints are divided by it\n"
                    "  A and B        selection  kernels 0: 1 of 2\n"
                    "  A and B        incomplete kernel 1 lacks CTAs; and 1 more\n"
                    "  A and B        warning    first\n"
                    "  A and B        warning    second\n") != std::string::npos);
  b.provenance.warnings.clear();
  CHECK(text().find("  A              warning    second\n  B              scale      8") != std::string::npos);
}

TEST_CASE("what a sampled run cannot say is no figure of it, and no zero") {
  RunResult a = whole_result(), b = a;
  b.digest = 1;
  b.sampling = SamplingResult{0.03, 0.95, {{"cycles", static_cast<double>(b.cycles), 0}}, {}, 1, 1};
  const ResultComparison c = compare(a, b);
  const Effect* wait = find(c.results, "load.mean_latency");
  REQUIRE(wait != nullptr);
  CHECK(std::isnan(wait->b));
  CHECK(comparison_text(c, a, b, 1000).find("gone") == std::string::npos);
}

TEST_CASE("names of kernels that are too long keep their numbers and their ends") {
  RunResult a = whole_result();
  a.kernels = {{"first", 8, 0, 10, 400},
               {"_ZN11a_namespace12another_name10more_names6kernelIfLi16EEEvPT_", 8, 400, 410, 1000}};
  RunResult b = a;
  b.kernels[1].finished = 2000, ++b.digest;
  const std::string text = comparison_text(compare(a, b), a, b, 5);
  CHECK_MESSAGE(text.find("    1 another_name::more_names::kernel  ") != std::string::npos, text);
}
