#include "core/control/rate_watch.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/stats/ratio_estimate.hpp"

namespace atl {

void RateWatch::begin(std::uint64_t ctas, std::uint64_t resident, std::size_t chips) {
  ctas_ = ctas, resident_ = resident;
  ended_.assign(chips, 0);
  window_.clear();
}

bool RateWatch::first_wave_over() const {
  return std::ranges::all_of(ended_, [&](std::uint64_t n) { return n >= resident_; });
}

std::uint64_t RateWatch::ended_in_window() const {
  std::uint64_t n = 0;
  for (const RatePeriod& p : window_) n += p.counters[Counter::ctas];
  return n;
}

bool RateWatch::add(Cycle cycles, std::span<const Counters> chips, bool counts) {
  counts = counts && first_wave_over();  // before this period
  RatePeriod period{static_cast<double>(cycles), {}};
  for (std::size_t c = 0; c < chips.size(); ++c) {
    if (c < ended_.size()) ended_[c] += chips[c][Counter::ctas];
    period.counters += chips[c];
  }
  if (!counts) return false;
  window_.push_back(period);
  const std::uint64_t wave = resident_ * ended_.size(),
                      ended = std::accumulate(ended_.begin(), ended_.end(), std::uint64_t{0});
  while (window_.size() > kPeriods && ended_in_window() - window_.front().counters[Counter::ctas] >= 2 * wave)
    window_.erase(window_.begin());
  if (window_.size() < kPeriods || ended_in_window() < wave || ended + 2 * wave >= ctas_) return false;

  const std::size_t n = window_.size();
  const auto mean = [&](std::size_t from, std::size_t to) {
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) sum += window_[i].work() / window_[i].cycles;
    return sum / static_cast<double>(to - from);
  };
  const double rate = mean(0, n);
  double squares = 0;
  for (const RatePeriod& p : window_) squares += std::pow(p.work() / p.cycles - rate, 2);
  const double half = student_t(confidence_, static_cast<double>(n - 1)) *
                      std::sqrt(squares / static_cast<double>(n - 1) / static_cast<double>(n));
  return rate > 0 && half <= allowed_ * rate && std::abs(mean(0, n / 2) - mean(n / 2, n)) <= allowed_ * rate;
}

}  // namespace atl
