#pragma once
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "core/app/job_pool.hpp"
#include "core/stats/sweep_estimate.hpp"

namespace atl {

/// A bar on a terminal; elsewhere the lines about points that have ended are enough, and say what is left.
class SweepProgress {
 public:
  /// `workloads`: of each job.
  SweepProgress(const std::vector<Job>& jobs, std::vector<std::string> workloads, std::size_t at_once);
  SweepProgress(const SweepProgress&) = delete;
  SweepProgress& operator=(const SweepProgress&) = delete;
  ~SweepProgress() { clear(); }

  void draw(const PoolState& state);
  void ended(const JobEnd& end);
  void clear();

 private:
  void say(const std::string& name, const std::string& what);

  const std::vector<Job>& jobs_;
  SweepEstimate estimate_;
  std::size_t ended_ = 0;
  bool terminal_;
  PoolState state_;
};

/// What runs warn of. Each kind is told once, of the first point that has it, and at the end of how many others.
class SweepWarnings {
 public:
  void tell_of(const std::string& point, const std::string& what);
  /// What is no news of a point: the other points may be why it is set.
  void pass_over(const std::string& what) { passed_over_.insert(what); }
  void tell_of_others() const;

 private:
  struct Told {
    std::string what;
    std::vector<std::string> points;
  };
  std::vector<Told> told_;
  std::set<std::string> passed_over_;
};

}  // namespace atl
