#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "core/engine/function_name.hpp"
#include "inputs/ptx/access_check.hpp"
#include "inputs/ptx/exec_scheduler.hpp"
#include "inputs/ptx/global_races.hpp"

namespace atl::ptx {
namespace exec {
namespace {

[[noreturn]] void bad_launch(const LaunchSpec& spec, const std::string& what) {
  throw ExecutionError(ExecutionError::Kind::bad_launch,
                       "kernel " + function_name(spec.module->functions[spec.kernel].name) + ": " + what);
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
  const std::array<std::uint32_t, 3> cluster = cluster_of(spec);
  std::uint64_t ctas = 1;
  for (unsigned n = 0; n < 3; ++n) {
    if (cluster[n] == 0 || spec.grid[n] % cluster[n] != 0)
      bad_launch(spec, fmt::format("a grid of {} blocks cannot be divided into clusters of {}", spec.grid[n], cluster[n]));
    ctas *= cluster[n];
  }
  if (ctas > kMostClusterCtas)
    bad_launch(spec, fmt::format("clusters of {} blocks; {} are possible", ctas, kMostClusterCtas));
  if (spec.params.size() < f.param_block)
    bad_launch(spec, fmt::format("{} bytes of parameters, {} expected", spec.params.size(), f.param_block));
}

/// Bytes of the narrowest access that others may notice. `watched`: loads by ld.global.nc count where they are watched.
std::uint32_t watched_granule(const Image& image, std::uint8_t watched) {
  std::uint32_t granule = 8;
  for (const Code& code : image.functions)
    for (const Inst& i : code.code)
      if ((i.watch & (watched | kShows | kShowsUnmarked)) != 0 && i.bytes != 0)
        granule = std::min<std::uint32_t>(granule, i.bytes);
  return granule;
}

}  // namespace
}  // namespace exec

std::array<std::uint32_t, 3> cluster_of(const LaunchSpec& spec) {
  const std::array<std::uint32_t, 3>& own = spec.module->functions[spec.kernel].cluster;
  return spec.cluster[0] != 0 ? spec.cluster : own[0] != 0 ? own : std::array<std::uint32_t, 3>{1, 1, 1};
}

std::uint32_t shared_bytes(const LaunchSpec& spec) {
  return spec.module->functions[spec.kernel].shared_bytes + spec.dynamic_shared;
}

struct Execution::Impl {
  Impl(LaunchSpec what, Device& where, RecordSink* sink) : spec(std::move(what)), device(where) {
    exec::check(spec);
    launch.spec = &spec, launch.device = &device, launch.sink = sink;
    launch.image = &device.image(*spec.module, spec.kernel, spec.device);
    launch.cluster = cluster_of(spec);
    launch.shared_bytes = shared_bytes(spec);
    if (exec::uses_reserved_shared(*launch.image))
      launch.shared_bytes = exec::reserved_shared_offset(spec) + exec::kReservedSharedBytes;
    launch.params.assign(spec.params.begin(), spec.params.end());
    launch.params.resize(spec.params.size() + 16);
    if (spec.cooperative) launch.grid_barrier.resize(64);
    if (spec.check != nullptr) spec.check->begin_kernel(spec, *launch.image);
    if (sink != nullptr) sink->begin_kernel(spec, *launch.image, device);
    const std::string& name = spec.module->functions[spec.kernel].name;
    independent = independent_ctas(spec, device) && (spec.races == nullptr || !spec.races->raced(name));
    // The check keeps one book for all CTAs and is not meant for several threads.
    launch.concurrent = spec.threads > 1 && spec.check == nullptr && independent;
    launch.short_turns = spec.schedule == Schedule::interleaved && !independent;
    if (launch.short_turns || spec.races != nullptr)
      launch.watched = static_cast<std::uint8_t>(exec::kShows | (spec.read_only_marks ? 0 : exec::kShowsUnmarked) |
                                                 (spec.nc_holds ? 0 : exec::kShowsNonCoherent));
    const auto& specials = launch.image->specials;
    launch.own_memory =
        spec.cooperative || std::any_of(specials.begin(), specials.end(), [](const auto& s) { return s.param; });
    if (spec.races != nullptr)
      spec.races->begin_kernel(
          name, spec.module->lines,
          {exec::watched_granule(*launch.image, launch.watched), independent, launch.concurrent, spec.check != nullptr});
    scheduler.emplace(launch);
  }

  /// All CTAs have ended.
  State end() {
    device.time += 1000 + stats.warp_instructions + launch.waited;
    if (launch.sink != nullptr) launch.sink->end_kernel();
    if (spec.races != nullptr) spec.races->end_kernel();
    return State::done;
  }

  LaunchSpec spec;
  Device& device;
  exec::Launch launch;
  bool independent = false;
  std::optional<exec::Scheduler> scheduler;
  LaunchStats stats;
};

Execution::Execution(LaunchSpec spec, Device& device, RecordSink* sink)
    : impl_(std::make_unique<Impl>(std::move(spec), device, sink)) {}
Execution::~Execution() = default;

Execution::State Execution::turn() {
  Impl& e = *impl_;
  if (e.launch.concurrent) {
    e.stats = exec::run_parallel(e.launch);
    return e.end();
  }
  exec::PollWatch& watch = e.scheduler->watch();
  do {
    if (!e.scheduler->round()) {
      e.stats = e.scheduler->stats();
      return e.end();
    }
    if (watch.stuck() && e.independent) e.scheduler->raise();
  } while (e.independent);
  return watch.waits() ? State::polls : watch.changed() ? State::moved : State::runs;
}

void Execution::give_up() {
  impl_->stats = impl_->scheduler->stats_so_far();
  if (impl_->spec.races != nullptr) impl_->spec.races->end_kernel();
}

bool Execution::stuck() const { return impl_->scheduler->watch().stuck(); }
void Execution::others_moved() { impl_->scheduler->watch().begin_anew(); }
void Execution::look_again() { impl_->scheduler->watch().look_again(); }
void Execution::raise_deadlock() const { impl_->scheduler->raise(); }
const LaunchStats& Execution::stats() const { return impl_->stats; }
const LaunchSpec& Execution::spec() const { return impl_->spec; }

LaunchStats execute(const LaunchSpec& spec, Device& device, RecordSink* sink) {
  Execution execution(spec, device, sink);
  while (execution.turn() != Execution::State::done)
    if (execution.stuck()) execution.raise_deadlock();
  return execution.stats();
}

}  // namespace atl::ptx
