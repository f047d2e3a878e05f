#include "core/stats/ratio_estimate.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>
#include <vector>

namespace atl {

void Prediction::add(std::span<const double> work, std::span<const double> value, double left, Uncertainty of_left) {
  if (left <= 0) return;
  const double worked = std::accumulate(work.begin(), work.end(), 0.0);
  const double ratio = std::accumulate(value.begin(), value.end(), 0.0) / worked;
  const auto freedom = static_cast<double>(work.size()) - 1;
  double spread = 0;
  for (std::size_t i = 0; i < work.size(); ++i) {
    const double e = value[i] - ratio * work[i];
    spread += e * e / work[i];
  }
  const double variance = spread / freedom * left * (left + worked) / worked;
  value_ += ratio * left;
  variance_ += variance;
  squares_ += variance * variance / freedom;
  add_error({ratio * ratio * of_left.variance, of_left.freedom});
}

double Prediction::half_width(double confidence) const {
  if (variance_ == 0) return 0;
  return student_t(confidence, variance_ * variance_ / squares_) * std::sqrt(variance_);
}

double student_t(double confidence, double freedom) {
  return boost::math::quantile(boost::math::students_t(freedom), (1 + confidence) / 2);
}

double rank_test(std::span<const double> a, std::span<const double> b) {
  std::vector<double> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  std::ranges::sort(all);
  const auto n_a = static_cast<double>(a.size()), n_b = static_cast<double>(b.size()), n = n_a + n_b;
  double above = 0, ties = 0;  // pairs of which a's is larger, equal ones half
  for (const double x : a) {
    const auto [first, last] = std::ranges::equal_range(all, x);
    above += static_cast<double>(first - all.begin() + last - all.begin()) / 2;
  }
  above -= n_a * n_a / 2;  // those of a among themselves
  for (auto at = all.begin(); at != all.end();) {
    const auto last = std::ranges::upper_bound(at, all.end(), *at);
    const auto t = static_cast<double>(last - at);
    ties += t * t * t - t, at = last;
  }
  const double variance = n_a * n_b / 12 * (n + 1 - ties / (n * (n - 1)));
  if (variance <= 0) return 1;
  const double off = std::max(0.0, std::abs(above - n_a * n_b / 2) - 0.5);
  return std::erfc(off / std::sqrt(2 * variance));
}

std::size_t sample_size(std::size_t all, std::size_t least, double spread, double error, double confidence) {
  std::size_t n = least;
  for (; n < std::min(all, least + kSampleHorizon); ++n) {
    const double part = static_cast<double>(n) / static_cast<double>(all);
    const double half =
        student_t(confidence, static_cast<double>(n) - 1) * spread * std::sqrt((1 - part) / static_cast<double>(n));
    if (half <= error) break;
  }
  return n;
}

}  // namespace atl
