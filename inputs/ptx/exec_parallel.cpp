#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "inputs/ptx/exec_cta.hpp"
#include "inputs/ptx/exec_cta_pool.hpp"

/// CTAs that cannot learn of each other, on several threads.
namespace atl::ptx::exec {
namespace {

constexpr std::uint64_t kAlone = 50'000;     // warp instructions before other threads are worth starting
constexpr unsigned kPatience = 1000;         // times that a CTA of these may do nothing but look at memory
constexpr std::uint64_t kAhead = 1'000'000;  // warp instructions of recorded CTAs that wait for one before them to end

class ParallelRun {
 public:
  explicit ParallelRun(const Launch& launch) : launch_(launch) {
    const LaunchSpec& spec = *launch.spec;
    total_ = failed_ = std::uint64_t{spec.grid[0]} * spec.grid[1] * spec.grid[2];
  }

  LaunchStats run() {
    work(true);
    for (std::thread& t : helpers_) t.join();
    if (error_ != nullptr) std::rethrow_exception(error_);
    return stats_;
  }

 private:
  void work(bool first) {
    Launch mine = launch_;
    std::unique_ptr<Cta> owned = launch_.device->ctas().take();
    Cta& cta = *owned;
    LaunchStats sum;
    bool sound = true;
    for (std::uint64_t number = 0; next(number);) {
      std::uint64_t executed = 0;
      try {
        start_cta(cta, mine, number);
        unsigned waits = 0;
        for (CtaState state = CtaState::moved; state != CtaState::done; state = run_cta(cta, false))
          if (state == CtaState::waiting && ++waits == kPatience)
            raise_livelock(cta, false, fmt::format("block {} of {} waits", number, total_));
        for (const auto& w : cta.warps) {
          flush_events(*w);
          executed += w->executed, sum.thread_instructions += w->thread_executed;
          sum.missed_meetings += w->missed, sum.repeated_polls += w->repeated_polls;
        }
        sum.warp_instructions += executed;
        if (cta.recorded) launch_.sink->end_cta(number);
        ended(number, executed);
      } catch (...) {
        failed(number, std::current_exception());
        sound = false;
      }
      if (first && helpers_.empty() && sum.warp_instructions > kAlone) start_helpers(total_ - number - 1);
    }
    if (sound) launch_.device->ctas().give(std::move(owned));
    const std::lock_guard lock(mutex_);
    stats_.warp_instructions += sum.warp_instructions, stats_.thread_instructions += sum.thread_instructions;
    stats_.missed_meetings += sum.missed_meetings, stats_.repeated_polls += sum.repeated_polls;
  }

  void start_helpers(std::uint64_t left) {
    const std::uint64_t count = std::min<std::uint64_t>(launch_.spec->threads - 1, left);
    try {
      for (std::uint64_t n = 0; n < count; ++n) helpers_.emplace_back([this] { work(false); });
    } catch (const std::system_error&) {  // no more threads are to be had: those that run do the work
    }
  }

  /// The next CTA to run. What is recorded is kept until all CTAs before it have ended, so none begins while too much
  /// waits. The first that has not ended never waits here itself.
  bool next(std::uint64_t& number) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ < kAhead || next_ >= failed_; });
    if (next_ >= failed_) return false;
    number = next_++;
    return true;
  }

  void ended(std::uint64_t number, std::uint64_t executed) {
    const std::lock_guard lock(mutex_);
    if (launch_.sink == nullptr) return;
    early_.emplace(number, executed);
    waiting_ += executed;
    while (!early_.empty() && early_.begin()->first == lowest_) {
      waiting_ -= early_.begin()->second;
      early_.erase(early_.begin());
      ++lowest_;
    }
    changed_.notify_all();
  }

  /// The error of the CTA with the lowest number is reported: all before it have been begun by then, so it is the same one
  /// in every run.
  void failed(std::uint64_t number, std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (number < failed_) failed_ = number, error_ = std::move(error);
    changed_.notify_all();
  }

  const Launch& launch_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t next_ = 0, lowest_ = 0, waiting_ = 0, total_ = 0, failed_ = 0;
  std::map<std::uint64_t, std::uint64_t> early_;  // CTAs that have ended before the lowest one, with what they executed
  std::vector<std::thread> helpers_;
  std::exception_ptr error_;
  LaunchStats stats_;
};

}  // namespace

LaunchStats run_parallel(const Launch& launch) { return ParallelRun(launch).run(); }

}  // namespace atl::ptx::exec
