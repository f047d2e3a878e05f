#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "inputs/ptx/access_check.hpp"
#include "inputs/ptx/exec_cta.hpp"

namespace atl::ptx {
namespace exec {
namespace {

constexpr std::size_t kLiveBytes = std::size_t{256} << 20;  // of CTAs that wait for others, if they need not all be there

[[noreturn]] void bad_launch(const LaunchSpec& spec, const std::string& what) {
  throw ExecutionError(ExecutionError::Kind::bad_launch, "kernel " + spec.module->functions[spec.kernel].name + ": " + what);
}

void check(const LaunchSpec& spec) {
  const Function& f = spec.module->functions.at(spec.kernel);
  if (!f.entry || !f.defined) bad_launch(spec, "this function is no kernel");
  std::uint64_t threads = 1;
  for (unsigned n = 0; n < 3; ++n) {
    if (spec.grid[n] == 0 || spec.block[n] == 0) bad_launch(spec, "an extent of the grid or block is 0");
    threads *= spec.block[n];
  }
  if (threads > 1024) bad_launch(spec, fmt::format("{} threads per block are more than 1024", threads));
  if (spec.params.size() < f.param_block)
    bad_launch(spec, fmt::format("{} bytes of parameters, {} expected", spec.params.size(), f.param_block));
}

/// Runs the CTAs, and counts what they executed.
class Scheduler {
 public:
  explicit Scheduler(Launch& launch) : launch_(launch) {
    const LaunchSpec& spec = *launch.spec;
    total_ = std::uint64_t{spec.grid[0]} * spec.grid[1] * spec.grid[2];
  }

  LaunchStats run() {
    const bool cooperative = launch_.spec->cooperative;
    if (cooperative)
      while (next_ < total_) add();
    const std::size_t each = std::max<std::size_t>(footprint(launch_), 1);
    while (!live_.empty() || next_ < total_) {
      if (live_.empty()) add();
      // Every live CTA has its turn; if all of them wait, perhaps it is for one that has not begun.
      bool moved = false;
      for (std::size_t n = live_.size(); n > 0; --n) {
        std::unique_ptr<Cta> cta = std::move(live_.front());
        live_.pop_front();
        const CtaState state = run_cta(*cta, cooperative || !live_.empty());
        moved |= state != CtaState::waiting;
        if (state == CtaState::done)
          finish(std::move(cta));
        else
          live_.push_back(std::move(cta));
      }
      if (!moved && next_ < total_ && (live_.size() + 1) * each < kLiveBytes) add();
    }
    return stats_;
  }

 private:
  void add() {
    std::unique_ptr<Cta> cta;
    if (spare_.empty()) {
      cta = std::make_unique<Cta>();
    } else {
      cta = std::move(spare_.back());
      spare_.pop_back();
    }
    start_cta(*cta, launch_, next_++);
    live_.push_back(std::move(cta));
  }

  void finish(std::unique_ptr<Cta> cta) {
    for (const auto& w : cta->warps) {
      flush_events(*w);
      stats_.warp_instructions += w->executed;
      stats_.thread_instructions += w->thread_executed;
    }
    launch_.clock = stats_.warp_instructions;
    if (cta->recorded) launch_.sink->end_cta(cta->number);
    if (spare_.size() < 4) spare_.push_back(std::move(cta));
  }

  Launch& launch_;
  std::uint64_t next_ = 0, total_ = 0;
  std::deque<std::unique_ptr<Cta>> live_;
  std::vector<std::unique_ptr<Cta>> spare_;  // their buffers are used again
  LaunchStats stats_;
};

/// CTAs that cannot learn of each other, on several threads. The error of the CTA with the lowest number is reported: all
/// before it have been begun by then, so it is the same one in every run.
LaunchStats run_parallel(const Launch& launch) {
  const LaunchSpec& spec = *launch.spec;
  const std::uint64_t total = std::uint64_t{spec.grid[0]} * spec.grid[1] * spec.grid[2];
  std::atomic<std::uint64_t> next{0}, failed{total};
  std::mutex mutex;
  std::exception_ptr error;
  LaunchStats stats;
  const auto work = [&] {
    Launch mine = launch;
    Cta cta;
    LaunchStats sum;
    for (std::uint64_t number = next++; number < failed; number = next++) {
      try {
        start_cta(cta, mine, number);
        while (run_cta(cta, false) != CtaState::done) continue;
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (number < failed) failed = number, error = std::current_exception();
      }
      for (const auto& w : cta.warps) sum.warp_instructions += w->executed, sum.thread_instructions += w->thread_executed;
    }
    const std::lock_guard lock(mutex);
    stats.warp_instructions += sum.warp_instructions, stats.thread_instructions += sum.thread_instructions;
  };
  std::vector<std::thread> threads;
  for (unsigned n = 1; n < std::min<std::uint64_t>(spec.threads, total); ++n) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
  if (error != nullptr) std::rethrow_exception(error);
  return stats;
}

bool sees_others(const Instruction& in) {
  switch (in.op) {
    case Op::atom:
    case Op::red:
      return in.space != Space::shared;
    case Op::ld:
    case Op::ldu:
    case Op::st:
      return in.space != Space::shared && (in.has(kVolatile) || (in.order != Order::none && in.order != Order::weak));
    case Op::mov:
      return in.src[0].is(Operand::special) && in.src[0].index >= static_cast<std::uint32_t>(Special::clock) &&
             in.src[0].index <= static_cast<std::uint32_t>(Special::globaltimer_hi);
    case Op::nanosleep:
      return true;
    default:
      return false;
  }
}

}  // namespace
}  // namespace exec

bool independent_ctas(const LaunchSpec& spec, Device& device) {
  if (spec.cooperative) return false;
  for (const exec::Code& code : device.image(*spec.module, spec.kernel).functions) {
    if (code.function == nullptr) continue;
    const Function& f = *code.function;
    if (!f.defined && f.name != "__assertfail") return false;  // printf's order, malloc's addresses
    if (std::any_of(f.code.begin(), f.code.end(), exec::sees_others)) return false;
  }
  return true;
}

std::uint32_t shared_bytes(const LaunchSpec& spec) {
  return spec.module->functions[spec.kernel].shared_bytes + spec.dynamic_shared;
}

LaunchStats execute(const LaunchSpec& spec, Device& device, RecordSink* sink) {
  exec::check(spec);
  exec::Launch launch;
  launch.spec = &spec, launch.device = &device, launch.sink = sink;
  launch.image = &device.image(*spec.module, spec.kernel);
  launch.shared_bytes = shared_bytes(spec);
  launch.params.assign(spec.params.begin(), spec.params.end());
  launch.params.resize(spec.params.size() + 16);
  if (spec.cooperative) launch.grid_barrier.resize(64);
  if (spec.check != nullptr) spec.check->begin_kernel(spec, *launch.image);
  if (sink != nullptr) sink->begin_kernel(spec, *launch.image, device);
  const bool parallel = spec.threads > 1 && sink == nullptr && spec.check == nullptr && independent_ctas(spec, device);
  const LaunchStats stats = parallel ? exec::run_parallel(launch) : exec::Scheduler(launch).run();
  device.time += 1000 + stats.warp_instructions;
  if (sink != nullptr) sink->end_kernel();
  return stats;
}

}  // namespace atl::ptx
