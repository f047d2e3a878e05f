#include "core/stats/sweep_estimate.hpp"

#include <algorithm>
#include <map>

namespace atl {
namespace {

struct PointSeconds {
  double sum = 0;
  std::size_t count = 0;

  void add(double value) { sum += value, ++count; }
  double value() const { return sum / static_cast<double>(count); }
};

}  // namespace

SweepEstimate::SweepEstimate(std::vector<std::string> workloads, std::size_t at_once)
    : workloads_(std::move(workloads)),
      open_(workloads_.size(), true),
      seconds_(workloads_.size()),
      at_once_(std::max<std::size_t>(1, at_once)) {}

void SweepEstimate::ended(std::size_t point, std::optional<double> seconds) {
  open_[point] = false;
  seconds_[point] = seconds;
}

std::optional<double> SweepEstimate::seconds_left(std::size_t running) const {
  PointSeconds all;
  std::map<std::string, PointSeconds> own;
  for (std::size_t p = 0; p < workloads_.size(); ++p)
    if (seconds_[p]) all.add(*seconds_[p]), own[workloads_[p]].add(*seconds_[p]);
  if (all.count == 0) return {};
  PointSeconds open;
  for (std::size_t p = 0; p < workloads_.size(); ++p)
    if (open_[p]) {
      const auto known = own.find(workloads_[p]);
      open.add(known == own.end() ? all.value() : known->second.value());
    }
  if (open.count == 0) return 0.0;
  const std::size_t under_way = std::min(running, open.count);
  const double work = open.sum - 0.5 * static_cast<double>(under_way) * open.value();
  return work / static_cast<double>(std::min(at_once_, open.count));
}

}  // namespace atl
