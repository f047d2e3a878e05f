#pragma once
#include <functional>
#include <string>
#include <vector>

namespace atl {

/// How the result of a job stands.
struct JobResult {
  bool done = false;
  std::string other{};  ///< what makes it the result of something else; "" if it is not
};

/// A program to run, with a log that is there while it runs and stays if it fails.
struct Job {
  std::string name;
  std::vector<std::string> command;
  std::string log;
  std::string scrap;                    ///< what may be left half written if it is stopped
  std::function<JobResult()> result{};  ///< asked before, when nobody else can be at it, and when it has ended well
  bool replace = false;                 ///< also the result of something else
};

struct JobEnd {
  const Job* job;
  bool skipped;       ///< another process is at it
  bool done_before;   ///< another process has done it
  std::string error;  ///< "" for success
  double seconds;
  std::vector<std::string> warnings{};  ///< of its log, without their mark
};

struct PoolState {
  std::size_t total = 0, ended = 0, failed = 0, running = 0;
};

/// Runs the jobs in order, `at_once` of them at a time. `ended` is told of every end, `tick` every now and then. A signal
/// that asks this process to end stops the jobs that run, removes their logs and scraps, and is returned; else the answer is
/// 0.
int run_jobs(const std::vector<Job>& jobs, std::size_t at_once, const std::function<void(const JobEnd&)>& ended,
             const std::function<void(const PoolState&)>& tick);

/// What a log says went wrong: its first line `atoll: ...` that is no warning, without this mark; "" if there is none.
std::string first_error(const std::string& log);

}  // namespace atl
