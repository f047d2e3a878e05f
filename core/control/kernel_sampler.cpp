#include "core/control/kernel_sampler.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/control/energy_model.hpp"
#include "core/stats/metric.hpp"
#include "core/stats/summary.hpp"

namespace atl {

KernelSampler::KernelSampler(SamplingPlan plan, Cycle overhead)
    : plan_(std::move(plan)), overhead_(static_cast<double>(overhead)), clusters_(plan_.clusters) {
  for (std::size_t k = 0; k < plan_.cluster.size(); ++k) {
    Cluster& c = clusters_[plan_.cluster[k]];
    ++c.launches, c.work += plan_.work[k];
    work_ += plan_.work[k];
  }
}

bool KernelSampler::wanted(std::size_t launch) {
  Cluster& c = clusters_[plan_.cluster[launch]];
  return c.seen++ == c.next;
}

void KernelSampler::ended(std::size_t launch, Cycle cycles, const Counters& counters) {
  Cluster& c = clusters_[plan_.cluster[launch]];
  c.samples.push_back(samples_.size());
  samples_.push_back({launch, static_cast<double>(cycles), counters});
  c.next = next_of(c);
}

/// Behind the one just simulated, which is `c.seen - 1`.
std::size_t KernelSampler::next_of(const Cluster& c) const {
  constexpr std::size_t kPilot = 3;
  const std::size_t n = c.samples.size(), left = c.launches - c.seen;
  if (n < kPilot || left == 0) return c.seen;
  const double allowed = std::min(kMostAllowed, plan_.options.error / std::sqrt(c.work / work_));
  const std::size_t needed = sample_size(c.launches - 1, n - 1, spread(c), allowed, plan_.options.confidence) - (n - 1);
  return c.seen - 1 + std::clamp<std::size_t>(left / (needed + 1), 1, kGap * n);
}

/// Standard deviation of the cycles around the ratio to the work, relative to their mean.
double KernelSampler::spread(const Cluster& c) const {
  double cycles = 0, work = 0, squares = 0;
  const std::size_t n = c.samples.size() - c.first();
  for (std::size_t i = c.first(); i < c.samples.size(); ++i)
    cycles += samples_[c.samples[i]].cycles, work += plan_.work[samples_[c.samples[i]].launch];
  for (std::size_t i = c.first(); i < c.samples.size(); ++i) {
    const LaunchSample& s = samples_[c.samples[i]];
    const double part = plan_.work[s.launch] / work, expected = overhead_ + (cycles - static_cast<double>(n) * overhead_) * part;
    squares += (s.cycles - expected) * (s.cycles - expected);
  }
  return std::sqrt(squares / static_cast<double>(n - 1)) / (cycles / static_cast<double>(n));
}

double KernelSampler::work_left(const Cluster& c) const {
  double simulated = 0;
  for (const std::size_t s : c.samples) simulated += plan_.work[samples_[s].launch];
  return c.samples.size() == c.launches ? 0 : c.work - simulated;
}

/// What value(sample) comes to over all launches that were not simulated.
template <class Value> Prediction KernelSampler::predict(Value&& value) const {
  Prediction sum;
  std::vector<double> work, values;
  for (const Cluster& c : clusters_) {
    work.clear(), values.clear();
    for (std::size_t i = c.first(); i < c.samples.size(); ++i) {
      work.push_back(plan_.work[samples_[c.samples[i]].launch]);
      values.push_back(value(samples_[c.samples[i]]));
    }
    sum.add(work, values, work_left(c));
  }
  return sum;
}

SamplingResult KernelSampler::extrapolate(const SystemConfig& config, const RunResult& run) const {
  const double confidence = plan_.options.confidence;
  SamplingResult out{plan_.options.error, confidence, {}, {}, work_, 0};
  const double skipped = static_cast<double>(plan_.cluster.size() - samples_.size());
  const Prediction running = predict([&](const LaunchSample& s) { return s.cycles - overhead_; });
  const double cycles = static_cast<double>(run.cycles) + running.value() + overhead_ * skipped;

  const Counters simulated = sum_of_chips(run);
  Counters sum = simulated;
  std::vector<SampledFigure> counters;
  for (const CounterInfo& c : counter_table()) {
    const Prediction p = predict([&](const LaunchSample& s) { return static_cast<double>(s.counters[c.id]); });
    sum[c.id] += static_cast<std::uint64_t>(std::llround(p.value()));
    counters.push_back({std::string(c.name), static_cast<double>(sum[c.id]), p.half_width(confidence)});
  }
  // A ratio is about linear in the sums near to where these are: its error is that of this linear form (Cochran, section 6.4).
  for (const LinearFigure& f : linear_figures(sum, cycles)) {
    const Prediction p = predict([&](const LaunchSample& s) {
      double value = f.of_cycles * (s.cycles - overhead_);
      for (const auto& [counter, slope] : f.of_counters) value += slope * static_cast<double>(s.counters[counter]);
      return value;
    });
    out.figures.push_back({f.name, f.value, p.half_width(confidence)});
  }
  // Prices are linear: the energy of a sum is the sum of the energies.
  const auto energy = [&](const Counters& of, double time) {
    return energy_of_chip(config, of, static_cast<Cycle>(std::llround(time * config.chips)));
  };
  const Energy whole = energy(sum, cycles);
  const auto add_energy = [&](std::string_view name, auto&& part) {
    const Prediction p = predict([&](const LaunchSample& s) { return part(energy(s.counters, s.cycles)); });
    out.figures.push_back({std::string(name), part(whole), p.half_width(confidence)});
  };
  add_energy(kTotalEnergy, [](const Energy& e) { return e.total(); });
  for (const EnergyInfo& e : energy_table()) add_energy(e.name, [&](const Energy& of) { return of[e.id]; });
  out.figures.insert(out.figures.end(), counters.begin(), counters.end());

  for (const std::uint32_t cluster : plan_.cluster) out.launches.push_back({cluster, false, 0, 0});
  for (const LaunchSample& s : samples_) {
    out.launches[s.launch] = {plan_.cluster[s.launch], true, s.cycles, 0};
    out.simulated_work += plan_.work[s.launch];
  }
  for (std::size_t k = 0; k < out.launches.size(); ++k) {
    SampledLaunch& launch = out.launches[k];
    if (launch.simulated) continue;
    const Cluster& c = clusters_[launch.cluster];
    std::vector<double> work, values;
    for (std::size_t i = c.first(); i < c.samples.size(); ++i) {
      work.push_back(plan_.work[samples_[c.samples[i]].launch]);
      values.push_back(samples_[c.samples[i]].cycles - overhead_);
    }
    Prediction one;
    one.add(work, values, plan_.work[k]);
    launch.cycles = overhead_ + one.value(), launch.half_width = one.half_width(confidence);
  }
  return out;
}

}  // namespace atl
