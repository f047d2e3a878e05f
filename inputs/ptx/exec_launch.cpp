#include <algorithm>
#include <deque>
#include <optional>

#include <fmt/format.h>

#include "inputs/ptx/access_check.hpp"
#include "inputs/ptx/exec_cta.hpp"
#include "inputs/ptx/global_races.hpp"
#include "inputs/ptx/turn_order.hpp"

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

// Rounds without any change after which it is looked whether there is anything but polling. Those that read a clock may
// wait for it, much longer; less is enough to see that those go on polling who did nothing else before.
constexpr std::uint64_t kLongEpoch = 16, kShortEpoch = 1024, kTimedEpochs = 1000, kTimedPatience = 4;
constexpr std::uint64_t kKnownPart = 16;

/// Notices that all that goes on in a launch is polling.
class PollWatch {
 public:
  /// After each round; `ended`: some CTA has ended in it.
  void round(const std::deque<std::unique_ptr<Cta>>& live, bool ended, std::uint64_t epoch) {
    changed_ = ended || live.empty();
    for (const auto& cta : live) changed_ |= cta->progressed, cta->progressed = false;
    if (changed_) return begin_anew();
    const std::uint64_t look = known_ ? std::max<std::uint64_t>(epoch / kKnownPart, 2) : epoch;
    if (++idle_ % look != 1) return;
    polls_ = idle_ > 1;  // in the first round, what went before does not count
    timed_ = false;
    for (const auto& cta : live)
      for (const auto& w : cta->warps) {
        if (w->state == WarpState::ready) polls_ &= w->polled;
        timed_ |= w->timed;
        w->polled = w->timed = false;
      }
    waits_ = polls_ && (!timed_ || known_ || idle_ >= epoch * kTimedPatience);
    stuck_ = polls_ && (!timed_ || idle_ >= epoch * kTimedEpochs);
  }

  /// What others have done since may have changed what is polled.
  void begin_anew() { idle_ = 0, known_ = polls_ = waits_ = stuck_ = false; }
  /// Of those that waited it is soon seen whether they still do.
  void look_again() { known_ |= waits_, idle_ = 0, polls_ = waits_ = stuck_ = false; }

  bool changed() const { return changed_; }  ///< in the last round
  bool waits() const { return waits_; }      ///< only polling goes on, perhaps until a time has come
  bool stuck() const { return stuck_; }      ///< only polling, and no time that could come

 private:
  std::uint64_t idle_ = 0;  // rounds
  bool known_ = false, changed_ = false, polls_ = false, timed_ = false, waits_ = false, stuck_ = false;
};

/// Names those CTAs of a launch that wait, and ends it.
[[noreturn]] void raise_stuck(const std::deque<std::unique_ptr<Cta>>& live, std::uint64_t ctas) {
  std::vector<std::uint64_t> waiting;
  for (const auto& cta : live) waiting.push_back(cta->number);
  std::sort(waiting.begin(), waiting.end());
  const std::size_t shown = std::min<std::size_t>(waiting.size(), 8);
  const auto first = std::find_if(live.begin(), live.end(), [&](const auto& cta) { return cta->number == waiting.front(); });
  raise_livelock(**first, fmt::format("of {} blocks, {} {}{} wait", ctas, waiting.size() == 1 ? "number" : "numbers",
                                      fmt::join(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(shown), " "),
                                      shown < waiting.size() ? fmt::format(" and {} more", waiting.size() - shown) : ""));
}

/// Runs the CTAs, and counts what they executed.
class Scheduler {
 public:
  explicit Scheduler(Launch& launch) : launch_(launch) {
    const LaunchSpec& spec = *launch.spec;
    total_ = std::uint64_t{spec.grid[0]} * spec.grid[1] * spec.grid[2];
    for (const std::uint32_t n : launch.cluster) each_ *= n;
    random_ = spec.schedule_seed;
  }

  /// A turn of everything that is resident. False: all CTAs have ended.
  bool round() {
    if (live_.empty() && next_ == total_) return false;
    if (launch_.short_turns)
      interleaved_round();
    else
      long_round();
    return !live_.empty() || next_ < total_;
  }

  PollWatch& watch() { return watch_; }
  const LaunchStats& stats() const { return stats_; }
  [[noreturn]] void raise() const { raise_stuck(live_, total_); }

 private:
  void long_round() {
    const bool cooperative = launch_.spec->cooperative;
    if (cooperative)
      while (next_ < total_) add();
    if (live_.empty()) add();
    // Every live CTA has its turn; if all of them wait, perhaps it is for one that has not begun.
    bool moved = false, ended = false;
    for (std::size_t n = live_.size(); n > 0; --n) {
      std::unique_ptr<Cta> cta = std::move(live_.front());
      live_.pop_front();
      const CtaState state = run_cta(*cta, cooperative || !live_.empty());
      moved |= state != CtaState::waiting;
      ended |= state == CtaState::done;
      if (state == CtaState::done)
        finish(std::move(cta));
      else
        live_.push_back(std::move(cta));
    }
    if (!moved && may_add())
      add(), watch_.begin_anew();
    else
      watch_.round(live_, ended, kLongEpoch);
  }

  /// As many CTAs as are resident take short turns, in another order in each round.
  void interleaved_round() {
    const LaunchSpec& spec = *launch_.spec;
    const std::size_t resident = spec.resident_ctas == 0 || spec.cooperative ? total_ : spec.resident_ctas;
    while (live_.size() < resident && may_add()) add();
    shuffle_turns(live_, random_);
    bool moved = false, ended = false;
    for (std::unique_ptr<Cta>& cta : live_) {
      const CtaState state = step_cta(*cta);
      moved |= state != CtaState::waiting;
      ended |= state == CtaState::done;
      if (state == CtaState::done) finish(std::move(cta));
    }
    live_.erase(std::remove(live_.begin(), live_.end(), nullptr), live_.end());
    // One that is resident may wait for one that is not: on a GPU it would for ever.
    unmoved_ = moved ? 0 : unmoved_ + 1;
    if (unmoved_ >= kShortEpoch / 4 && may_add())
      add(), unmoved_ = 0, watch_.begin_anew();
    else
      watch_.round(live_, ended, kShortEpoch);
  }

  bool may_add() const {
    const std::size_t each = std::max<std::size_t>(footprint(launch_), 1);
    return next_ < total_ && (live_.empty() || launch_.spec->cooperative || (live_.size() + 1) * each < kLiveBytes);
  }

  /// The next CTA, or all of the next cluster.
  void add() {
    if (each_ == 1) return add(next_++, nullptr);
    const auto& c = launch_.cluster;
    const std::uint64_t number = next_ / each_, across = launch_.spec->grid[0] / c[0], down = launch_.spec->grid[1] / c[1];
    const std::uint64_t x = number % across * c[0], y = number / across % down * c[1], z = number / across / down * c[2];
    const auto cluster = std::make_shared<Cluster>();
    for (std::uint64_t rank = 0; rank < each_; ++rank, ++next_)
      add(x + rank % c[0] +
              launch_.spec->grid[0] * (y + rank / c[0] % c[1] + launch_.spec->grid[1] * (z + rank / c[0] / c[1])),
          cluster);
  }

  void add(std::uint64_t number, const std::shared_ptr<Cluster>& cluster) {
    std::unique_ptr<Cta> cta;
    if (spare_.empty()) {
      cta = std::make_unique<Cta>();
    } else {
      cta = std::move(spare_.back());
      spare_.pop_back();
    }
    start_cta(*cta, launch_, number, cluster);
    live_.push_back(std::move(cta));
  }

  void finish(std::unique_ptr<Cta> cta) {
    for (const auto& w : cta->warps) {
      flush_events(*w);
      stats_.warp_instructions += w->executed;
      stats_.thread_instructions += w->thread_executed;
      stats_.missed_meetings += w->missed, stats_.repeated_polls += w->repeated_polls;
    }
    launch_.clock = stats_.warp_instructions;
    if (cta->recorded) launch_.sink->end_cta(cta->number);
    cta->cluster->ctas[cta->rank] = nullptr;  // others of its cluster reach it no more
    if (each_ > 1) cta->cluster = nullptr;
    if (spare_.size() < 4) spare_.push_back(std::move(cta));
  }

  Launch& launch_;
  std::uint64_t next_ = 0, total_ = 0, each_ = 1;  // CTAs; in a cluster
  std::deque<std::unique_ptr<Cta>> live_;
  PollWatch watch_;
  std::uint64_t random_ = 0;                 // of the order of turns
  std::uint64_t unmoved_ = 0;                // rounds
  std::vector<std::unique_ptr<Cta>> spare_;  // their buffers are used again
  LaunchStats stats_;
};

/// Bytes of the narrowest access that others may notice.
std::uint32_t watched_granule(const Image& image) {
  std::uint32_t granule = 8;
  for (const Code& code : image.functions)
    for (const Inst& i : code.code)
      if (i.watch != 0 && i.bytes != 0) granule = std::min<std::uint32_t>(granule, i.bytes);
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
      launch.watched = spec.read_only_marks ? exec::kShows : exec::kShows | exec::kShowsUnmarked;
    const auto& specials = launch.image->specials;
    launch.own_memory =
        spec.cooperative || std::any_of(specials.begin(), specials.end(), [](const auto& s) { return s.param; });
    if (spec.races != nullptr)
      spec.races->begin_kernel(
          name, spec.module->name,
          {exec::watched_granule(*launch.image), independent, launch.concurrent, spec.check != nullptr});
    scheduler.emplace(launch);
  }

  /// All CTAs have ended.
  State end() {
    device.time += 1000 + stats.warp_instructions;
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
