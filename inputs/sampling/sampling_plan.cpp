#include "inputs/sampling/sampling_plan.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace atl {

bool alike(const LaunchSignature& a, const LaunchSignature& b) {
  static const double kMost = std::log(kAlikeFactor);
  if (a.kind != b.kind) return false;
  for (std::size_t i = 0; i < a.amount.size(); ++i)  // one more: there may be none
    if (std::abs(std::log((a.amount[i] + 1) / (b.amount[i] + 1))) > kMost) return false;
  for (std::size_t i = 0; i < a.part.size(); ++i)
    if (std::abs(a.part[i] - b.part[i]) > kAlikePart) return false;
  return true;
}

std::uint32_t LaunchClusters::add(const LaunchSignature& launch) {
  std::vector<std::uint32_t>& same_kind = of_kind_[launch.kind];
  const auto found = std::ranges::find_if(same_kind, [&](std::uint32_t c) { return alike(firsts_[c], launch); });
  if (found != same_kind.end()) return *found;
  same_kind.push_back(count());
  firsts_.push_back(launch);
  return same_kind.back();
}

namespace {

/// Of a sum over `all` CTAs, of which those with `looked` instructions were read, one in each of equal parts: the variance
/// within parts is about that between neighbours (successive differences; Cochran, chapter 8, and Wolter, Introduction to
/// Variance Estimation, chapter 8), which work that grows along the grid has little of.
double variance_of_sum(std::span<const double> looked, double all, double mean) {
  const auto n = static_cast<double>(looked.size());
  double squares = 0;
  for (std::size_t i = 1; i < looked.size(); ++i) squares += std::pow(looked[i] - looked[i - 1], 2);
  const double of_one = std::max(squares / (2 * (n - 1)), least_variance(mean, n));
  return all * all * (1 - n / all) * of_one / n;
}

double variance_of_work(const LaunchSignature& s) {
  if (s.looked.empty()) return 0;
  const double all = s.amount[LaunchSignature::ctas];
  return variance_of_sum(std::vector<double>(s.looked.begin(), s.looked.end()), all,
                         s.amount[LaunchSignature::instructions] / all);
}

}  // namespace

double work_error_of(const LaunchSignature& launch, const LaunchSignature& first) {
  using S = LaunchSignature;
  const double work = launch.amount[S::instructions], ratio = work / std::max(1.0, first.amount[S::instructions]);
  const double all = launch.amount[S::ctas];
  if (all != first.amount[S::ctas] || launch.looked.empty())
    return std::sqrt(variance_of_work(launch) + ratio * ratio * variance_of_work(first));
  std::vector<double> differences;
  for (std::size_t i = 0; i < launch.looked.size(); ++i) differences.push_back(launch.looked[i] - ratio * first.looked[i]);
  return std::sqrt(variance_of_sum(differences, all, work / all));
}

SamplingPlan make_sampling_plan(Workload& workload, const SamplingOptions& options, bool last_alone) {
  SamplingPlan plan{options, {}, {}, {}, 0};
  SignatureReader reader(workload);
  LaunchClusters clusters;
  for (std::size_t k = 0; k < workload.kernels().size(); ++k) {
    const LaunchSignature launch = reader.next();
    plan.work.push_back(std::max(1.0, launch.amount[LaunchSignature::instructions]));
    plan.cluster.push_back(clusters.add(launch));
    plan.work_error.push_back(work_error_of(launch, clusters.first(plan.cluster.back())));
  }
  plan.clusters = clusters.count();
  if (last_alone && !plan.cluster.empty()) plan.cluster.back() = plan.clusters++;
  return plan;
}

}  // namespace atl
