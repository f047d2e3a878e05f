#include "core/stats/comparison.hpp"

#include <cmath>
#include <vector>

namespace atl {

std::optional<double> harmonic_mean(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  double inverse = 0;
  for (const double v : values) inverse += 1 / v;
  return static_cast<double>(values.size()) / inverse;
}

std::optional<double> arithmetic_mean(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

Compared at_clocks(const Compared& of_own_clocks, double mhz, double baseline_mhz) {
  const Compared& c = of_own_clocks;
  return {c.cycles / mhz, c.baseline_cycles / baseline_mhz, c.ipc * mhz, c.baseline_ipc * baseline_mhz};
}

std::optional<double> mean_speedup(std::span<const Compared> runs) {
  std::vector<double> values;
  for (const Compared& r : runs) values.push_back(r.speedup());
  return harmonic_mean(values);
}

std::optional<double> ipc_first_speedup(std::span<const Compared> runs) {
  std::vector<double> ours, baseline;
  for (const Compared& r : runs) ours.push_back(r.ipc), baseline.push_back(r.baseline_ipc);
  if (runs.empty()) return std::nullopt;
  return *harmonic_mean(ours) / *harmonic_mean(baseline);
}

double log_error(double ours, double paper) { return std::abs(std::log(ours / paper)); }

}  // namespace atl
