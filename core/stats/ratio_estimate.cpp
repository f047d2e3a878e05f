#include "core/stats/ratio_estimate.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

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
