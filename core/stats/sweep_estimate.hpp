#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace atl {

/// How long a sweep still takes, from how long its points took so far. Points of one workload cost more alike than points of
/// one variant, so an open point counts as the mean of its workload or, before one of these has ended, of all.
class SweepEstimate {
 public:
  /// `workloads`: of each point that will be run. `at_once`: how many of them run at a time.
  SweepEstimate(std::vector<std::string> workloads, std::size_t at_once);

  /// Point number `point` (from 0) will not be run any more. `seconds` only if it ran to its end: a failure says nothing
  /// about the others.
  void ended(std::size_t point, std::optional<double> seconds);

  /// Seconds of host time; nothing before a point has ended. Of the `running` points, each has done half of its work.
  std::optional<double> seconds_left(std::size_t running) const;

 private:
  std::vector<std::string> workloads_;
  std::vector<bool> open_;
  std::vector<std::optional<double>> seconds_;
  std::size_t at_once_;
};

}  // namespace atl
