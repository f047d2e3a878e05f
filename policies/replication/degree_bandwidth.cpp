#include "policies/replication/degree_bandwidth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "partition/bandwidth.hpp"

namespace atl {

double slice_parallelism(std::span<const std::uint64_t> requests) {
  const std::uint64_t most = requests.empty() ? 0 : *std::ranges::max_element(requests);
  const auto sum = std::accumulate(requests.begin(), requests.end(), std::uint64_t{0});
  return most == 0 ? 1 : static_cast<double>(sum) / static_cast<double>(most);
}

SliceBandwidth slice_bandwidth(const SystemConfig& c) { return {c.llc.slice_gbps, memory_bandwidth(c) / c.llc.slices}; }

DegreeBandwidth degree_bandwidth(double parallelism, double hit, const SliceBandwidth& b) {
  return {parallelism, hit, hit * b.llc, std::min((1 - hit) * b.llc, b.memory)};
}

DegreeBandwidth degree_bandwidth(const DegreeCounts& counts, std::uint32_t level, const SliceBandwidth& b) {
  const std::size_t slices = counts.routed.size() / counts.sampled.size();
  const std::uint64_t sampled = counts.sampled[level];
  const double hit = sampled == 0 ? 0 : static_cast<double>(counts.hits[level]) / static_cast<double>(sampled);
  return degree_bandwidth(slice_parallelism(std::span(counts.routed).subspan(level * slices, slices)), hit, b);
}

namespace {

/// 1 - 1/k of the k slices that send to the same cluster.
double others(std::uint32_t level, std::uint32_t levels) {
  return 1 - 1.0 / static_cast<double>(1u << (levels - 1 - level));
}

}  // namespace

double reply_conflict(const DegreeCounts& counts, std::uint32_t level, std::uint32_t levels) {
  const auto all = static_cast<double>(counts.sending + counts.conflicts);
  return all == 0 || level + 1 == levels ? 0 : static_cast<double>(counts.conflicts) / all / others(level, levels);
}

double reply_loss(double conflict, std::uint32_t level, std::uint32_t levels) {
  return std::min(0.99, conflict * others(level, levels));
}

std::string degree_name(std::uint32_t level, std::uint32_t levels) {
  if (level == 0) return "shared";
  return level + 1 == levels ? "private" : fmt::format("degree_{}", 1u << level);
}

}  // namespace atl
