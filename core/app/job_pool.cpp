#include "core/app/job_pool.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

#include "core/app/child_process.hpp"

namespace atl {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kTickMs = 500;
constexpr auto kPatience = std::chrono::seconds(10);

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void remove_quietly(const std::string& file) {
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
}

constexpr std::string_view kMark = "atoll: ", kWarning = "atoll: warning: ";

std::vector<std::string> warnings_of(const std::string& log) {
  std::vector<std::string> out;
  std::ifstream file(log);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(kWarning)) out.push_back(line.substr(kWarning.size()));
  return out;
}

struct Running {
  pid_t pid;
  const Job* job;
  Clock::time_point start;
};

/// The processes that run now. None of them outlives it.
class Children {
 public:
  ~Children() { stop(); }
  std::size_t count() const { return list_.size(); }

  /// Nothing: it runs. Else how it ended without.
  std::optional<JobEnd> start(const Job& job) {
    const LockedLog log(job.log);
    if (!log.owned()) return JobEnd{&job, true, false, "", 0};
    const JobResult before = job.result ? job.result() : JobResult{};
    if (before.done || (!before.other.empty() && !job.replace)) {
      remove_quietly(job.log);
      const std::string why =
          before.done ? "" : "another process has made a result of something else meanwhile: " + before.other;
      return JobEnd{&job, false, before.done, why, 0};
    }
    list_.push_back({start_process(job.command, log), &job, Clock::now()});
    return std::nullopt;
  }

  /// Takes out those that have ended: f(running, wait status).
  template <class F> void reap(F&& f) {
    for (std::size_t i = 0; i < list_.size();) {
      int status = 0;
      if (waitpid(list_[i].pid, &status, WNOHANG) != list_[i].pid) {
        ++i;
        continue;
      }
      const Running ended = list_[i];
      list_.erase(list_.begin() + static_cast<std::ptrdiff_t>(i));
      f(ended, status);
    }
  }

  /// Asks all to end, and kills those that do not: groups, so that what mpirun started here goes as well.
  void stop() {
    for (const Running& r : list_) kill(-r.pid, SIGTERM);
    const auto deadline = Clock::now() + kPatience;
    const timespec moment{0, 20'000'000};
    while (!list_.empty()) {
      if (Clock::now() > deadline)
        for (const Running& r : list_) kill(-r.pid, SIGKILL);
      reap([](const Running& r, int) { remove_quietly(r.job->log), remove_quietly(r.job->scrap); });
      if (!list_.empty()) nanosleep(&moment, nullptr);
    }
  }

 private:
  std::vector<Running> list_;
};

}  // namespace

std::string first_error(const std::string& log) {
  std::ifstream file(log);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(kMark) && !line.starts_with(kWarning)) return line.substr(kMark.size());
  return "";
}

int run_jobs(const std::vector<Job>& jobs, std::size_t at_once, const std::function<void(const JobEnd&)>& ended,
             const std::function<void(const PoolState&)>& tick) {
  const SignalWatch signals;
  Children children;
  PoolState state;
  state.total = jobs.size();
  std::size_t next = 0;
  while (next < jobs.size() || children.count() > 0) {
    while (next < jobs.size() && children.count() < at_once) {
      const auto end = children.start(jobs[next++]);
      if (!end) continue;
      ++state.ended, state.failed += !end->error.empty();
      ended(*end);
    }
    state.running = children.count();
    tick(state);
    if (children.count() == 0) continue;
    if (const int number = signals.wait(kTickMs)) {
      children.stop();
      return number;
    }
    children.reap([&](const Running& r, int status) {
      std::string error = describe_end(status);
      if (!error.empty()) {
        const std::string said = first_error(r.job->log);
        error = said.empty() ? fmt::format("{}, see {}", error, r.job->log) : said;
      }
      if (error.empty() && r.job->result) {
        if (const JobResult made = r.job->result(); !made.done)
          error = made.other.empty() ? "ended like a run that is done, and left no result" : "its result: " + made.other;
      }
      ++state.ended, state.failed += !error.empty();
      const auto warnings = warnings_of(r.job->log);
      if (error.empty()) remove_quietly(r.job->log);
      ended({r.job, false, false, error, since(r.start), warnings});
    });
  }
  return 0;
}

}  // namespace atl
