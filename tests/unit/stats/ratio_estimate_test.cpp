#include "core/stats/ratio_estimate.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace atl;
using doctest::Approx;

TEST_CASE("Student's t is as in printed tables") {
  CHECK(student_t(0.95, 1) == Approx(12.706).epsilon(1e-4));
  CHECK(student_t(0.95, 2) == Approx(4.3027).epsilon(1e-4));
  CHECK(student_t(0.95, 10) == Approx(2.2281).epsilon(1e-4));
  CHECK(student_t(0.90, 4) == Approx(2.1318).epsilon(1e-4));
  CHECK(student_t(0.95, 1e9) == Approx(1.95996).epsilon(1e-4));
}

TEST_CASE("with equal work the prediction is the mean, and its variance that of a simple random sample") {
  // 3 of N = 10: mean 11, s^2 = ((-1)^2 + 0 + 1^2) / 2 = 1; sum of the other 7: 77.
  const std::vector<double> work{5, 5, 5}, value{10, 11, 12};
  Prediction p;
  p.add(work, value, 7 * 5);
  CHECK(p.value() == Approx(77));
  CHECK(p.variance() == Approx(10.0 * 10 * (1 - 0.3) * 1 / 3));  // N^2 (1 - n/N) s^2 / n
  CHECK(p.half_width(0.95) == Approx(4.3027 * std::sqrt(70.0 / 3)).epsilon(1e-4));
}

TEST_CASE("a value that is proportional to work is predicted without error") {
  const std::vector<double> work{1, 2, 5}, value{3, 6, 15};
  Prediction p;
  p.add(work, value, 100);
  CHECK(p.value() == Approx(300));
  CHECK(p.half_width(0.99) == Approx(0).scale(1));
}

TEST_CASE("unequal work: Royall's variance, worked by hand") {
  // r = 6 / 3 = 2; e = 2.5 - 2, 3.5 - 4; sum(e^2 / x) = 0.25 + 0.125; s^2 = 0.375; left 6: 0.375 x 6 x 9 / 3 = 6.75.
  const std::vector<double> work{1, 2}, value{2.5, 3.5};
  Prediction p;
  p.add(work, value, 6);
  CHECK(p.value() == Approx(12));
  CHECK(p.variance() == Approx(6.75));
}

TEST_CASE("variances of clusters add up, with Satterthwaite's degrees of freedom") {
  const std::vector<double> work{1, 1, 1}, value{10, 11, 12};
  Prediction p;
  p.add(work, value, 7);
  p += Prediction(p);
  CHECK(p.value() == Approx(77 + 77));
  CHECK(p.variance() == Approx(2 * 70.0 / 3));
  CHECK(p.half_width(0.95) == Approx(student_t(0.95, 4) * std::sqrt(140.0 / 3)));  // equal variances: 2 + 2 degrees
}

TEST_CASE("what was simulated whole adds no error, however few launches") {
  Prediction p;
  p.add(std::vector<double>{3}, std::vector<double>{7}, 0);
  CHECK(p.value() == 0);
  CHECK(p.half_width(0.95) == 0);
}

TEST_CASE("the least sample is the first whose interval is within the error") {
  // spread 1 %, of very many: n = 3: 4.30 x 1 / sqrt(3) = 2.48 %; n = 2: 12.7 x 1 / sqrt(2) = 8.98 %.
  CHECK(sample_size(1'000'000, 2, 0.01, 0.0249, 0.95) == 3);
  CHECK(sample_size(1'000'000, 2, 0.01, 0.0248, 0.95) == 4);
  CHECK(sample_size(1'000'000, 2, 0.01, 0.09, 0.95) == 2);
  CHECK(sample_size(1'000'000, 5, 0, 0.01, 0.95) == 5);
  CHECK(sample_size(4, 2, 10, 0.01, 0.95) == 4);  // all
}

TEST_CASE("the rank test says how likely it is that two samples of one distribution lie as far apart") {
  const auto test = [](std::vector<double> a, std::vector<double> b) { return rank_test(a, b); };
  // U = 0 of 21 pairs: (10.5 - 0.5) / sqrt(3 x 7 x 11 / 12) = 2.279 standard deviations.
  CHECK(test({1, 2, 3}, {4, 5, 6, 7, 8, 9, 10}) == doctest::Approx(0.02265).epsilon(0.001));
  CHECK(test({4, 5, 6, 7, 8, 9, 10}, {1, 2, 3}) == doctest::Approx(0.02265).epsilon(0.001));
  // U = 2 of 8, ties of 4 and 2: (4 - 2 - 0.5) / sqrt(8 / 12 x (7 - 66 / 30)) = 0.839.
  CHECK(test({1, 1}, {1, 1, 2, 2}) == doctest::Approx(0.4017).epsilon(0.001));
  CHECK(test({1}, {3, 3, 3, 3, 3}) > 0.05);  // the first of six may be the one that differs
  CHECK(test({5, 5}, {5, 5, 5}) == 1);
}
