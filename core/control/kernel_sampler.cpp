#include "core/control/kernel_sampler.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/control/energy_model.hpp"
#include "core/stats/metric.hpp"
#include "core/stats/summary.hpp"
#include "partition/scatter.hpp"

namespace atl {

KernelSampler::KernelSampler(SamplingPlan plan, Cycle overhead)
    : plan_(std::move(plan)), overhead_(static_cast<double>(overhead)), clusters_(plan_.clusters) {
  for (std::size_t k = 0; k < plan_.cluster.size(); ++k) {
    std::vector<double>& work = clusters_[plan_.cluster[k]].work;
    std::vector<double>& error = clusters_[plan_.cluster[k]].error;
    work.push_back(work.back() + plan_.work[k]), error.push_back(error.back() + plan_.work_error[k]);
    work_ += plan_.work[k];
  }
}

bool KernelSampler::wanted(std::size_t launch) {
  Cluster& c = clusters_[plan_.cluster[launch]];
  return c.seen++ == c.next;
}

namespace {

/// What of(period) comes to for CTAs that the window stands for.
template <class Linear> Prediction of_the_rest(const std::vector<RatePeriod>& window, const CtaSum& left, Linear&& of) {
  std::vector<double> work, values;
  for (const RatePeriod& p : window) work.push_back(p.work()), values.push_back(of(p));
  Prediction sum;
  sum.add(work, values, left.instructions, {left.variance, left.freedom});
  return sum;
}

double cycles_of(const RatePeriod& p) { return p.cycles; }

/// Whether a counter follows a launch's work. What grows by looks follows the cycles of the machine, with whatever was in
/// it; the busiest port of each period follows where periods begin, which launches that are left out move.
bool of_work(Counter c) {
  return !counter_table()[static_cast<std::size_t>(c)].sampled && c != Counter::link_busiest_bytes &&
         c != Counter::link_busiest_received_bytes;
}

}  // namespace

void KernelSampler::ended(std::size_t launch, Cycle cycles, const Counters& counters, LaunchCut cut) {
  Cluster& c = clusters_[plan_.cluster[launch]];
  c.samples.push_back(samples_.size());
  LaunchSample s{launch,   c.seen - 1, {static_cast<double>(cycles) - overhead_, counters}, std::move(cut.window),
                 cut.left, 0};
  s.cycles = s.simulated.cycles + of_the_rest(s.window, s.left, cycles_of).value();
  samples_.push_back(std::move(s));
  c.next = next_of(c);
}

/// Behind the one just simulated, which is `c.seen - 1`, and never beyond the cluster's last.
std::size_t KernelSampler::next_of(const Cluster& c) const {
  constexpr std::size_t kPilot = 3;
  const std::size_t n = c.samples.size(), left = c.launches() - c.seen;
  if (n < kPilot || left == 0) return c.seen;
  const double allowed = std::min(kMostAllowed, plan_.options.error / std::sqrt(c.work.back() / work_));
  const Stretch now = stretches(c).back();
  const std::size_t have = now.to - now.from;
  double cycles = 0;
  for (std::size_t i = now.from; i < now.to; ++i) cycles += samples_[c.samples[i]].cycles + overhead_;
  const double spread =
      std::sqrt(squares(c, now.from, now.to) / static_cast<double>(have - 1)) * static_cast<double>(have) / cycles;
  const std::size_t needed =
      sample_size(c.launches() - now.first_launch, have, spread, allowed, plan_.options.confidence) - have;
  if (needed >= kSampleHorizon) return c.seen;  // still filling caches, it may be: the next ones tell
  const std::size_t step = needed == 0 ? kGap * n : std::clamp<std::size_t>(left / (needed + 1), 1, kGap * n);
  // Equal steps would see the same launches of a program that repeats in as many, or in a part of that.
  const std::size_t least = (step + 1) / 2;
  return std::min(c.seen - 1 + least + scatter(samples_.size(), step - least + 1), c.launches() - 1);
}

/// Of the cycles around the ratio to the work, summed over samples.
double KernelSampler::squares(const Cluster& c, std::size_t from, std::size_t to) const {
  double cycles = 0, work = 0, sum = 0;
  for (std::size_t i = from; i < to; ++i)
    cycles += samples_[c.samples[i]].cycles, work += plan_.work[samples_[c.samples[i]].launch];
  for (std::size_t i = from; i < to; ++i) {
    const LaunchSample& s = samples_[c.samples[i]];
    const double error = s.cycles - cycles * plan_.work[s.launch] / work;
    sum += error * error;
  }
  return sum;
}

/// Where the latter of the samples begin, which stand for the time from there on: the cut that makes their mean most
/// certain, in the first half, after which a mistake would be too easy. White's marginal standard error rule (MSER,
/// Simulation 69, 1997), which finds the end of a simulation's warm-up. It always finds the cut of the least error, of
/// noise, too, so that both parts have to differ().
std::size_t KernelSampler::settled(const Cluster& c, std::size_t from, std::size_t to) const {
  const auto error_at = [&](std::size_t cut) {
    const auto n = static_cast<double>(to - cut);
    return squares(c, cut, to) / (n * n);
  };
  std::size_t best = from;
  double least = error_at(from);
  for (std::size_t cut = from + 1; cut <= from + (to - from) / 2 && to - cut >= 2; ++cut) {
    const std::size_t first = samples_[c.samples[from]].index;
    const bool whole =
        samples_[c.samples[cut]].index - first == cut - from;  // or what was skipped needs two to stand for it
    if (!whole && cut - from < 2) continue;
    if (const double error = error_at(cut); error < least) best = cut, least = error;
  }
  return best == from || differ(c, from, best, to) ? best : from;
}

/// Whether cycles to work are of another size before the sample `cut` than behind: the rank test of Mann and Whitney (Annals
/// of Mathematical Statistics 18, 1947), by the normal approximation with ties and continuity corrected. Ranks, because
/// where launches have two modes, a few of the same mode in a row make a small variance, by which any other mean would be
/// another.
bool KernelSampler::differ(const Cluster& c, std::size_t from, std::size_t cut, std::size_t to) const {
  std::vector<double> before, behind;
  for (std::size_t i = from; i < to; ++i) {
    const LaunchSample& s = samples_[c.samples[i]];
    (i < cut ? before : behind).push_back(s.cycles / plan_.work[s.launch]);
  }
  return rank_test(before, behind) < kCutAt;
}

/// In order. The first launch is one of its own; of launches between two stretches each has half.
std::vector<KernelSampler::Stretch> KernelSampler::stretches(const Cluster& c) const {
  std::vector<Stretch> out;
  std::size_t to = c.samples.size(), end = c.launches();
  const auto add = [&](std::size_t from, std::size_t begin) {
    double simulated = 0, error = 0;
    for (std::size_t i = from; i < to; ++i) {
      const std::size_t launch = samples_[c.samples[i]].launch;
      simulated += plan_.work[launch], error += plan_.work_error[launch];
    }
    const bool all = end - begin == to - from;
    out.push_back({from, to, begin, end, all ? 0 : c.work[end] - c.work[begin] - simulated,
                   all ? 0 : std::max(0.0, c.error[end] - c.error[begin] - error)});
    to = from, end = begin;
  };
  while (to > 1) {
    const std::size_t from = settled(c, 1, to);
    const std::size_t before = samples_[c.samples[from - 1]].index, at = samples_[c.samples[from]].index;
    add(from, from == 1 ? 1 : (before + at + 1) / 2);
  }
  if (to == 1) add(0, 0);
  std::ranges::reverse(out);
  return out;
}

/// What of(launch) comes to over launches that are `left` work in all, but for `left_error`, and for which a stretch stands.
/// Errors of launches are added up, not their squares: where their CTAs were read at the same places, they are off alike.
template <class Linear>
Prediction KernelSampler::predict(const Cluster& c, const Stretch& part, double left, double left_error, Linear&& of) const {
  std::vector<double> work, values;
  for (std::size_t i = part.from; i < part.to; ++i) {
    const LaunchSample& s = samples_[c.samples[i]];
    work.push_back(plan_.work[s.launch]);
    values.push_back(of(s.simulated) + of_the_rest(s.window, s.left, of).value());
  }
  Prediction sum;
  sum.add(work, values, left, {left_error * left_error, SignatureReader::kCtas - 1});
  return sum;
}

/// What of(launch) comes to over all launches of a cluster that were not simulated. Where it changed in a gap between two
/// simulated ones, the change may have been anywhere in it: a uniform distribution over the gap's work, whose middle
/// stretches() takes.
template <class Linear> Prediction KernelSampler::predict(const Cluster& c, Linear&& of) const {
  constexpr double kKnown = 1e6;  // degrees of freedom of a variance that is not estimated
  Prediction sum;
  double ratio_before = 0;
  const std::vector<Stretch> parts = stretches(c);
  for (std::size_t n = 0; n < parts.size(); ++n) {
    const Stretch& part = parts[n];
    sum += predict(c, part, part.left, part.left_error, of);
    const double ratio = predict(c, part, 1, 0, of).value(), change = ratio - std::exchange(ratio_before, ratio);
    if (n < 2) continue;  // the first launch is a stretch of its own
    const std::size_t last = samples_[c.samples[part.from - 1]].index, first = samples_[c.samples[part.from]].index;
    const double gap = c.work[first] - c.work[last + 1];
    sum.add_error({change * change * gap * gap / 12, kKnown});
  }
  return sum;
}

/// What of(launch) comes to over all that was not simulated: launches, and the rest of those that ended early.
template <class Linear> Prediction KernelSampler::predict(Linear&& of) const {
  Prediction sum;
  for (const Cluster& c : clusters_) sum += predict(c, of);
  for (const LaunchSample& s : samples_) sum += of_the_rest(s.window, s.left, of);
  return sum;
}

SamplingResult KernelSampler::extrapolate(const SystemConfig& config, const RunResult& run) const {
  const double confidence = plan_.options.confidence;
  SamplingResult out{plan_.options.error, confidence, {}, {}, work_, 0};
  const double skipped = static_cast<double>(plan_.cluster.size() - samples_.size());
  const double cycles = static_cast<double>(run.cycles) + predict(cycles_of).value() + overhead_ * skipped;

  Counters sum = sum_of_chips(run);
  std::vector<SampledFigure> counters;
  for (const CounterInfo& c : counter_table()) {
    if (!of_work(c.id)) continue;
    const Prediction p = predict([&](const RatePeriod& s) { return static_cast<double>(s.counters[c.id]); });
    sum[c.id] += static_cast<std::uint64_t>(std::llround(p.value()));
    counters.push_back({std::string(c.name), static_cast<double>(sum[c.id]), p.half_width(confidence)});
  }
  // A ratio is about linear in the sums near to where these are: its error is that of this linear form (Cochran, chapter 6).
  for (const LinearFigure& f : linear_figures(sum, cycles)) {
    if (!std::ranges::all_of(f.of_counters, of_work, [](const auto& c) { return c.first; })) continue;
    const Prediction p = predict([&](const RatePeriod& s) {
      double value = f.of_cycles * s.cycles;
      for (const auto& [counter, slope] : f.of_counters) value += slope * static_cast<double>(s.counters[counter]);
      return value;
    });
    out.figures.push_back({f.name, f.value, p.half_width(confidence)});
  }
  // Prices are linear: the energy of a sum is the sum of the energies.
  const Powered powered = mean_powered(config);
  const auto energy = [&](const Counters& of, double time) {
    return energy_of_chip(config, of, static_cast<Cycle>(std::llround(time * config.chips)), powered);
  };
  const Energy whole = energy(sum, cycles);
  const auto add_energy = [&](std::string_view name, auto&& part) {
    const Prediction p = predict([&](const RatePeriod& s) { return part(energy(s.counters, s.cycles)); });
    out.figures.push_back({std::string(name), part(whole), p.half_width(confidence)});
  };
  add_energy(kTotalEnergy, [](const Energy& e) { return e.total(); });
  for (const EnergyInfo& e : energy_table()) add_energy(e.name, [&](const Energy& of) { return of[e.id]; });
  out.figures.insert(out.figures.end(), counters.begin(), counters.end());

  for (const std::uint32_t cluster : plan_.cluster) out.launches.push_back({cluster, false, 0, 0});
  for (const LaunchSample& s : samples_) {
    const double half = of_the_rest(s.window, s.left, cycles_of).half_width(confidence);
    out.launches[s.launch] = {plan_.cluster[s.launch], true, overhead_ + s.cycles, half};
    const double left = s.left.instructions;
    out.simulated_work += plan_.work[s.launch] * (left == 0 ? 1 : s.simulated.work() / (s.simulated.work() + left));
  }
  std::vector<std::size_t> index(clusters_.size());
  for (std::size_t k = 0; k < out.launches.size(); ++k) {
    SampledLaunch& launch = out.launches[k];
    const std::size_t at = index[launch.cluster]++;
    if (launch.simulated) continue;
    const Cluster& c = clusters_[launch.cluster];
    const auto parts = stretches(c);
    const auto part = std::ranges::find_if(parts, [&](const Stretch& s) { return at < s.last_launch; });
    const Prediction p = predict(c, *part, plan_.work[k], plan_.work_error[k], cycles_of);
    launch.cycles = overhead_ + p.value(), launch.half_width = p.half_width(confidence);
  }
  return out;
}

}  // namespace atl
