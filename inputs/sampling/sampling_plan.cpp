#include "inputs/sampling/sampling_plan.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>

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

std::vector<std::uint32_t> cluster_launches(std::span<const LaunchSignature> launches) {
  std::vector<std::uint32_t> out;
  std::unordered_map<std::string_view, std::vector<std::pair<std::uint32_t, const LaunchSignature*>>> of_kind;
  std::uint32_t clusters = 0;
  for (const LaunchSignature& s : launches) {
    auto& firsts = of_kind[s.kind];
    const auto found = std::ranges::find_if(firsts, [&](const auto& first) { return alike(*first.second, s); });
    if (found == firsts.end()) {
      firsts.emplace_back(clusters, &s);
      out.push_back(clusters++);
    } else {
      out.push_back(found->first);
    }
  }
  return out;
}

SamplingPlan make_sampling_plan(Workload& workload, const SamplingOptions& options, bool last_alone) {
  SamplingPlan plan{options, {}, {}, 0};
  SignatureReader reader(workload);
  std::vector<LaunchSignature> launches;
  for (std::size_t k = 0; k < workload.kernels().size(); ++k) {
    launches.push_back(reader.next());
    plan.work.push_back(std::max(1.0, launches.back().amount[LaunchSignature::instructions]));
  }
  plan.cluster = cluster_launches(launches);
  for (const std::uint32_t c : plan.cluster) plan.clusters = std::max(plan.clusters, c + 1);
  if (last_alone && !plan.cluster.empty()) plan.cluster.back() = plan.clusters++;
  return plan;
}

}  // namespace atl
