#include <algorithm>
#include <deque>

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

}  // namespace
}  // namespace exec

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
  // The check keeps one book for all CTAs and is not meant for several threads.
  launch.concurrent = spec.threads > 1 && spec.check == nullptr && independent_ctas(spec, device);
  const LaunchStats stats = launch.concurrent ? exec::run_parallel(launch) : exec::Scheduler(launch).run();
  device.time += 1000 + stats.warp_instructions;
  if (sink != nullptr) sink->end_kernel();
  return stats;
}

}  // namespace atl::ptx
