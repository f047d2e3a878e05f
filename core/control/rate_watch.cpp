#include "core/control/rate_watch.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/stats/ratio_estimate.hpp"
#include "inputs/sampling/sampling_plan.hpp"

namespace atl {

void RateWatch::begin(CtaProfile ctas, std::uint64_t resident) {
  ctas_ = std::move(ctas), resident_ = resident;
  ended_.assign(ctas_.chips(), 0), work_.assign(ctas_.chips(), 0);
  cycles_ = 0;
  window_.clear();
}

LaunchCut RateWatch::cut(std::span<const std::uint64_t> ctas, double instructions) const {
  LaunchCut cut{ctas_.behind(ctas), {}};
  // What was looked at is off by as much for the CTAs that ended, at least, where every one was counted.
  const double looked = ctas_.before(ctas).instructions;
  const double off = looked > 0 ? (instructions / looked - 1) * cut.left.instructions : 0;
  cut.left.variance += off * off;
  for (const Period& p : window_) cut.window.push_back(p.all);
  return cut;
}

bool RateWatch::first_wave_over() const {
  return std::ranges::all_of(ended_, [&](std::uint64_t n) { return n >= resident_; });
}

std::uint64_t RateWatch::ended_in_window() const {
  std::uint64_t n = 0;
  for (const Period& p : window_) n += p.all.counters[Counter::ctas];
  return n;
}

bool RateWatch::done_together() const {
  double window = 0, last = 0, left = 0, rate = 0;
  for (const Period& p : window_) window += p.all.cycles;
  for (std::size_t c = 0; c < ctas_.chips(); ++c) {
    double mine = 0;
    for (const Period& p : window_) mine += p.work[c];
    const double to_do = std::max(0.0, ctas_.sum(c, 0, ctas_.ctas(c)).instructions - work_[c]);
    if (to_do > 0 && mine == 0) return false;
    if (to_do > 0) last = std::max(last, to_do / mine * window);
    left += to_do, rate += mine / window;
  }
  return last - left / rate <= allowed_ * (cycles_ + last);
}

bool RateWatch::others_known() const {
  const CtaSum done = ctas_.before(ended_), left = ctas_.behind(ended_);
  const double half = left.variance > 0 ? student_t(confidence_, left.freedom) * std::sqrt(left.variance) : 0;
  const double to_one = done.sectors / std::max(1.0, done.instructions);
  const double longer = left.instructions * done.ctas / (done.instructions * left.ctas);
  return longer <= kAlikeFactor && longer >= 1 / kAlikeFactor &&
         half <= allowed_ * (done.instructions + left.instructions) &&
         std::abs(left.sectors - to_one * left.instructions) <= allowed_ * to_one * left.instructions;
}

/// CTAs that have begun have issued a part of their instructions. If what was looked at is off by a part of what was
/// counted, it is taken to be off by the same part for the rest.
bool RateWatch::counted_agrees() const {
  std::vector<std::uint64_t> begun = ended_;
  for (std::uint64_t& n : begun) n += resident_;
  const CtaSum done = ctas_.before(ended_), left = ctas_.behind(ended_);
  const double counted = std::accumulate(work_.begin(), work_.end(), 0.0);
  const double slack = allowed_ * (done.instructions + left.instructions) / left.instructions;
  return counted >= done.instructions * (1 - slack) && counted <= ctas_.before(begun).instructions * (1 + slack);
}

bool RateWatch::add(Cycle cycles, std::span<const Counters> chips, bool counts) {
  counts = counts && first_wave_over();  // before this period
  Period period{{static_cast<double>(cycles), {}}, {}};
  for (std::size_t c = 0; c < chips.size(); ++c) {
    period.all.counters += chips[c];
    if (c >= ended_.size()) continue;
    period.work.push_back(static_cast<double>(chips[c][Counter::warp_instructions]));
    ended_[c] += chips[c][Counter::ctas], work_[c] += period.work[c];
  }
  cycles_ += period.all.cycles;
  if (!counts) return false;
  window_.push_back(std::move(period));
  const std::uint64_t wave = resident_ * ended_.size();
  const auto sum = [](const auto& of) { return std::accumulate(of.begin(), of.end(), std::uint64_t{0}); };
  std::uint64_t all = 0;
  for (std::size_t c = 0; c < ctas_.chips(); ++c) all += ctas_.ctas(c);
  while (window_.size() > kPeriods && ended_in_window() - window_.front().all.counters[Counter::ctas] >= 2 * wave)
    window_.erase(window_.begin());
  if (window_.size() < kPeriods || ended_in_window() < wave || sum(ended_) + 2 * wave >= all) return false;

  const std::size_t n = window_.size();
  const auto rate_of = [](const Period& p) { return p.all.work() / p.all.cycles; };
  const auto mean = [&](std::size_t from, std::size_t to) {
    double rates = 0;
    for (std::size_t i = from; i < to; ++i) rates += rate_of(window_[i]);
    return rates / static_cast<double>(to - from);
  };
  const double rate = mean(0, n);
  double squares = 0;
  for (const Period& p : window_) squares += std::pow(rate_of(p) - rate, 2);
  const double half = student_t(confidence_, static_cast<double>(n - 1)) *
                      std::sqrt(squares / static_cast<double>(n - 1) / static_cast<double>(n));
  return rate > 0 && half <= allowed_ * rate && std::abs(mean(0, n / 2) - mean(n / 2, n)) <= allowed_ * rate &&
         done_together() && others_known() && counted_agrees();
}

}  // namespace atl
