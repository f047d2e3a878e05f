#include "core/stats/comparison.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "core/stats/metric.hpp"
#include "core/stats/text_table.hpp"
#include "sample_result.hpp"

using namespace atl;

TEST_CASE("the harmonic mean of 1, 2 and 4 is 3 / 1.75, and an empty list has none") {
  CHECK(*harmonic_mean(std::vector<double>{1, 2, 4}) == doctest::Approx(12.0 / 7));
  CHECK(*arithmetic_mean(std::vector<double>{1, 2, 4}) == doctest::Approx(7.0 / 3));
  CHECK(!harmonic_mean({}));
  CHECK(!arithmetic_mean({}));
  CHECK(!mean_speedup({}));
  CHECK(!ipc_first_speedup({}));
}

TEST_CASE("the two means of speed-ups differ where a slow workload gains most") {
  // 100 instructions in 100 cycles, then in 50; and 900 instructions in 100 cycles both times.
  const std::vector<Compared> runs{{50, 100, 2, 1}, {100, 100, 9, 9}};
  CHECK(runs[0].speedup() == 2);
  CHECK(*mean_speedup(runs) == doctest::Approx(4.0 / 3));  // 2 / (1/2 + 1)
  // 2 / (1/2 + 1/9) over 2 / (1 + 1/9)
  CHECK(*ipc_first_speedup(runs) == doctest::Approx((36.0 / 11) / (9.0 / 5)));
}

TEST_CASE("where clocks differ, the mean of rates is of instructions a second, of each side and each workload") {
  // 2 and 1 instructions a cycle at 1000 MHz; on the baseline 2 at 2000 MHz and 1 at 1000 MHz.
  const std::vector<Compared> runs{at_clocks({100, 100, 2, 2}, 1000, 2000), at_clocks({100, 100, 1, 1}, 1000, 1000)};
  CHECK(runs[0].speedup() == 0.5);
  CHECK(runs[1].speedup() == 1);
  // 2 / (1/2 + 1) over 2 / (1/4 + 1), in 1000 million a second; with rates of the baselines' clocks it would be 2/3.
  CHECK(*ipc_first_speedup(runs) == doctest::Approx(5.0 / 6));
}

TEST_CASE("half and double are the same error, ln 2") {
  CHECK(log_error(1, 2) == doctest::Approx(std::log(2.0)));
  CHECK(log_error(2, 1) == doctest::Approx(std::log(2.0)));
  CHECK(log_error(1.5, 1.5) == 0);
}

TEST_CASE("metrics are ratios of sums over chips, or counters") {
  RunResult r;
  r.cycles = 100;
  r.chips.resize(2);
  r.chips[0].totals[Counter::llc_accesses] = 30, r.chips[0].totals[Counter::llc_misses] = 3;
  r.chips[1].totals[Counter::llc_accesses] = 10, r.chips[1].totals[Counter::llc_misses] = 7;
  r.chips[0].totals[Counter::requests_local] = 1, r.chips[1].totals[Counter::requests_remote] = 3;
  r.chips[1].totals[Counter::warp_instructions] = 250;
  CHECK(value_of(*find_metric("llc.miss_rate"), r) == 0.25);  // 10 / 40, not the mean of 0.1 and 0.7
  CHECK(value_of(*find_metric("requests.local_share"), r) == 0.25);
  CHECK(value_of(*find_metric("ipc"), r) == 2.5);
  CHECK(value_of(*find_metric("cycles"), r) == 100);
  CHECK(value_of(*find_metric("llc.accesses"), r) == 40);
  r.chips[0].totals[Counter::coherence_invalidations] = 8;
  r.chips[1].totals[Counter::coherence_invalidation_hits] = 4,
  r.chips[1].totals[Counter::coherence_evict_invalidation_hits] = 3;
  r.chips[0].totals[Counter::directory_evictions] = 2, r.chips[0].totals[Counter::directory_evicted_lines] = 25;
  r.chips[0].totals[Counter::link_bytes] = 640, r.chips[0].totals[Counter::coherence_invalidation_bytes] = 64;
  CHECK(value_of(*find_metric("coherence.hit_rate"), r) == 0.5);
  CHECK(value_of(*find_metric("coherence.evict_share"), r) == 0.75);
  CHECK(value_of(*find_metric("coherence.link_share"), r) == 0.1);
  CHECK(value_of(*find_metric("directory.lines_per_entry"), r) == 12.5);
  CHECK(!value_of(*find_metric("l1.miss_rate"), r));  // of no accesses
  CHECK(!find_metric("llc.missrate"));
  for (const std::string& name : metric_names()) CHECK_MESSAGE(find_metric(name), name);
}

namespace {

TextTable small_table() {
  using Row = TextTable::Row;
  return {{{"", "workload"}, {"one", "one"}, {"paper", "one, |paper|", true}, {"two", "two"}},
          {Row{{"RN"}, {"1.00", "1.004"}, {"12.25"}, {"-"}}, Row{}, Row{{"mean"}, {"1.00"}, {"2"}, {"3"}}}};
}

}  // namespace

TEST_CASE("an aligned table has names left, numbers right, and a rule for an empty row") {
  CHECK(aligned(small_table()) ==
        "       one  paper  two\n"
        "----------------------\n"
        "RN    1.00  12.25    -\n"
        "----------------------\n"
        "mean  1.00      2    3\n");
}

TEST_CASE("a table that is too wide is broken between columns that do not belong together") {
  CHECK(aligned(small_table(), 12) ==
        "       one  paper\n"
        "-----------------\n"
        "RN    1.00  12.25\n"
        "-----------------\n"
        "mean  1.00      2\n"
        "\n"
        "      two\n"
        "---------\n"
        "RN      -\n"
        "---------\n"
        "mean    3\n");
}

TEST_CASE("for programs, a table has unique titles and no rules, and in CSV exact numbers") {
  CHECK(csv(small_table()) == "workload,one,\"one, |paper|\",two\nRN,1.004,12.25,-\nmean,1.00,2,3\n");
  CHECK(markdown(small_table()) ==
        "| workload | one | one, \\|paper\\| | two |\n|---|---:|---:|---:|\n"
        "| RN | 1.00 | 12.25 | - |\n| mean | 1.00 | 2 | 3 |\n");
}
