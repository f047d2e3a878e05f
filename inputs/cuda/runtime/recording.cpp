#include "inputs/cuda/runtime/recording.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "core/engine/error.hpp"
#include "core/engine/standard_descriptors.hpp"
#include "inputs/cuda/runtime/ending.hpp"
#include "inputs/cuda/runtime/runtime.hpp"
#include "inputs/cuda/runtime/trace_sink.hpp"
#include "inputs/ptx/source_name.hpp"

namespace atl::cudart {
namespace {

constexpr char kClaim[] = "ATOLL_RECORD_BY";
constexpr std::size_t kMostNames = 8;  // of kernels, in a line
constexpr auto kBetweenProgress = std::chrono::milliseconds(500);

/// 12345678 -> "12.3 M"
std::string short_number(double n) {
  char text[32];
  constexpr const char* kUnits[] = {"", " k", " M", " G", " T"};
  unsigned unit = 0;
  for (; n >= 1000 && unit < 4; ++unit) n /= 1000;
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f%s" : "%.1f%s", n, kUnits[unit]);
  return text;
}

}  // namespace

Recording::Recording() : options_(cuda::options_from_environment()) {
  if (options_ && !options_->kernels.empty()) selection_ = cuda::LaunchSelection(options_->kernels);
  threads_ = options_ ? static_cast<unsigned>(options_->threads) : 0;
  if (threads_ == 0) threads_ = std::max(1u, std::thread::hardware_concurrency());
}
Recording::~Recording() = default;

void Recording::note_allocation(const cuda::Allocation& block, const std::string& name) {
  const std::lock_guard lock(mutex_);
  TraceAllocation allocation{block.address, block.size, block.ordinal, name};
  if (trace_) return trace_->add_allocation(allocation);
  if (!closed_) early_.push_back(std::move(allocation));
}

/// Whether this process may write the trace: no other one, which may run beside it, has begun or finished one.
static bool first_to_write(const std::string& output) {
  const std::string part = output + ".part";
  const int file = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return errno != EEXIST;  // who opens it says what is wrong
  close(file);
  if (!std::filesystem::exists(output)) return true;
  unlink(part.c_str());  // the other has finished
  return false;
}

/// One trace is one process. Of several that one command starts, the first to launch a kernel gets it.
bool Recording::claim() {
  if (!options_ || closed_) return false;
  if (trace_) return true;
  const StandardDescriptors held;  // the program may have closed them, and prints, or opens others, later
  if (std::getenv(kClaim) != nullptr || !first_to_write(options_->output)) {
    std::fprintf(stderr, "atoll: another process of this command records already; process %d runs unrecorded\n", getpid());
    closed_ = true;
    return false;
  }
  setenv(kClaim, std::to_string(getpid()).c_str(), 1);
  trace_ = std::make_unique<TraceSink>(*options_, threads_, mutex_);
  for (const TraceAllocation& allocation : early_) trace_->add_allocation(allocation);
  early_.clear();
  save_trace_at_end();
  return true;
}

bool Recording::wants(const std::string& kernel, std::uint64_t ctas) {
  ++launches_;
  // Asked for every launch, because it counts them.
  const bool wanted = options_ && selection_.next(kernel) && !closed_ && !is_ending() && ctas > options_->first_cta;
  if (!wanted) leave_out(kernel);
  const std::lock_guard lock(mutex_);
  return wanted && claim();
}

/// While no launch has been recorded, a program may end without a trace.
void Recording::expect_no_trace() {
  if (!options_ || at_exit_) return;
  at_exit_ = true;
  static pid_t process;  // a child made by fork says nothing
  process = getpid();
  std::atexit([] {
    if (getpid() == process) runtime().recording.say_unrecorded();
  });
}

void Recording::leave_out(const std::string& kernel) {
  const std::lock_guard lock(mutex_);
  if (trace_ || closed_) return;
  expect_no_trace();
  if (more_left_out_ || std::find(left_out_.begin(), left_out_.end(), kernel) != left_out_.end()) return;
  if (left_out_.size() == kMostNames)
    more_left_out_ = true;
  else
    left_out_.push_back(kernel);
}

void Recording::note_refused(const std::string& kernel, const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (!trace_) expect_no_trace();
  if (++refused_ == 1) first_refused_ = ptx::short_source_name(kernel) + ": " + why;
}

void Recording::note_lost(const std::string& library) {
  const std::lock_guard lock(mutex_);
  lost_.push_back(library);
}

void Recording::say_unrecorded() {
  const std::lock_guard lock(mutex_);
  if (trace_ || closed_) return;
  clear_progress();
  if (launches_ != 0) {
    std::string names;
    for (const std::string& kernel : left_out_) names += (names.empty() ? "" : ", ") + ptx::short_source_name(kernel);
    std::fprintf(stderr, "none of %llu launches was to be recorded: of %s%s\n", static_cast<unsigned long long>(launches_),
                 names.c_str(), more_left_out_ ? " and others" : "");
  }
  warn_of_refused();
}

/// True: the trace is complete.
bool Recording::stop_if_enough() {
  if (options_->stop_after == 0 || recorded() != options_->stop_after) return false;
  {
    const std::lock_guard lock(mutex_);
    held_.clear();
  }
  complete("as many as were asked for; the program goes on", {});
  return true;
}

std::shared_ptr<HeldKernel> Recording::hold(LaunchPlace place) {
  const std::lock_guard lock(mutex_);
  return held_.emplace_back(std::make_shared<HeldKernel>(
      mutex_, ptx::RecordOptions{options_->max_ctas, options_->max_ops, options_->first_cta}, place));
}

/// Those whose turn in the trace has come.
void Recording::write_held() {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      while (!held_.empty() && held_.front()->given_up()) held_.pop_front();
      if (streaming_ || closed_ || held_.empty() || !held_.front()->ended()) return;
      trace_->add_held(*held_.front());
      held_.pop_front();
    }
    if (stop_if_enough()) return;
  }
}

void Recording::copy(const cuda::CopyKernel& kernel, LaunchPlace place) {
  const KernelInfo info = kernel.info();
  if (!wants(info.name, info.ctas())) return;
  if (streaming_ || !held_.empty()) return write_copy(*hold(place), kernel, options_->first_cta, options_->max_ctas);
  {
    const std::lock_guard lock(mutex_);
    trace_->place_next(place);
  }
  trace_->add_copy(kernel, options_->max_ctas);
  stop_if_enough();
}

std::unique_ptr<RecordedLaunch> Recording::begin(ptx::LaunchSpec spec, std::vector<ptx::ReadOnlyClaim> claims,
                                                 ptx::Device& device, LaunchPlace place) {
  const std::string& kernel = spec.module->functions[spec.kernel].name;
  std::unique_ptr<RecordedLaunch> launch(new RecordedLaunch(*this));
  launch->recorded_ = wants(kernel, std::uint64_t{spec.grid[0]} * spec.grid[1] * spec.grid[2]);
  if (options_ && options_->tolerate_oob) spec.outside = &outside_;
  ptx::RecordSink* sink = nullptr;
  if (launch->recorded_) {
    launch->alone_ = !races_taken_;
    if (!launch->alone_) launch->own_races_ = std::make_unique<ptx::GlobalRaces>(&races_);
    if (!launch->alone_ && options_->check) launch->own_check_ = std::make_unique<ptx::AccessCheck>();
    races_taken_ = true;
    spec.races = launch->own_races_ ? launch->own_races_.get() : &races_;
    if (options_->check) {
      spec.check = launch->own_check_ ? launch->own_check_.get() : &checking_.check;
      spec.check->expect(std::move(claims));
    }
    if (streaming_ || !held_.empty()) {
      launch->held_ = hold(place);
      sink = &launch->held_->recorder();
    } else {
      const std::lock_guard lock(mutex_);
      streaming_ = true;
      trace_->place_next(place);
      sink = &trace_->recorder();
    }
  }
  progress(kernel);
  launch->execution_ = std::make_unique<ptx::Execution>(std::move(spec), device, sink);
  return launch;
}

ptx::Execution::State Recording::turn(RecordedLaunch& launch) {
  const auto start = std::chrono::steady_clock::now();
  ptx::Execution::State state{};
  try {
    state = launch.execution_->turn();
  } catch (const ptx::ExecutionError&) {
    fail(launch);
    throw;
  }
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (state == ptx::Execution::State::done) end(launch);
  return state;
}

/// What was found in a launch, of which the trace may have nothing.
void Recording::tell(RecordedLaunch& launch) {
  const ptx::LaunchStats& stats = launch.execution_->stats();
  executed_.warp_instructions += stats.warp_instructions;
  executed_.missed_meetings += stats.missed_meetings;
  executed_.repeated_polls += stats.repeated_polls;
  if (!launch.recorded_) return;
  const ptx::LaunchSpec& spec = launch.execution_->spec();
  if (spec.check) clear_progress(), checking_.report_races(*spec.check, spec.races);
  if (launch.own_races_) races_.add(*launch.own_races_);
  if (launch.own_check_) checking_.check.add(*launch.own_check_);
}

void Recording::fail(RecordedLaunch& launch) {
  launch.execution_->give_up();
  tell(launch);
}

void Recording::end(RecordedLaunch& launch) {
  tell(launch);
  if (!launch.recorded_) return;
  launch.recorded_ = false;
  if (launch.alone_) races_taken_ = false;
  if (!launch.held_) {
    streaming_ = false;
    if (stop_if_enough()) return;
  }
  write_held();
}

/// A launch fails, or is not gone on with.
void Recording::leave(RecordedLaunch& launch) {
  {
    const std::lock_guard lock(mutex_);
    clear_progress();
    if (!launch.recorded_) return;
    if (!launch.held_ && trace_) trace_->abandon_kernel();
  }
  if (launch.alone_) races_taken_ = false;
  if (!launch.held_) streaming_ = false;
  if (launch.held_) launch.held_->give_up();
}

RecordedLaunch::~RecordedLaunch() { recording_.leave(*this); }
ptx::Execution::State RecordedLaunch::turn() { return recording_.turn(*this); }
void RecordedLaunch::fail() { recording_.fail(*this); }

std::uint64_t Recording::recorded() {
  const std::lock_guard lock(mutex_);
  return trace_ ? trace_->counts().kernels : 0;
}

void Recording::progress(const std::string& kernel) {
  if (!options_ || options_->quiet || !isatty(STDERR_FILENO)) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - shown_ < kBetweenProgress) return;
  shown_ = now, progress_shown_ = true;
  std::fprintf(stderr, "\r\033[Klaunch %llu %s, %s warp instructions, %s/s", static_cast<unsigned long long>(launches_),
               ptx::short_source_name(kernel).c_str(),
               short_number(static_cast<double>(executed_.warp_instructions)).c_str(),
               short_number(static_cast<double>(executed_.warp_instructions) / (seconds_ > 0 ? seconds_ : 1)).c_str());
}

void Recording::clear_progress() {
  if (progress_shown_) std::fputs("\r\033[K", stderr);
  progress_shown_ = false;
}

void Recording::finish(const std::string& why) { complete(why, why.empty() ? "" : "what was not finished when " + why); }

void Recording::complete(const std::string& why, std::string lacks) {
  const std::lock_guard lock(mutex_);
  if (closed_ || !trace_) return;
  closed_ = true;
  clear_progress();
  trace_->abandon_kernel();
  for (const auto& kernel : held_)
    if (kernel->ended()) trace_->add_held(*kernel);
  if (trace_->counts().kernels == 0) {
    trace_->discard();  // a trace of nothing would pass for a recording
    std::fprintf(stderr, "recorded none of %llu launches, as none had ended%s%s%s; no trace is written\n",
                 static_cast<unsigned long long>(launches_), why.empty() ? "" : " (", why.c_str(), why.empty() ? "" : ")");
    warn();
    if (options_->check) std::fprintf(stderr, "%s\n", checking_.summary().c_str());
    return;
  }
  for (const std::string& library : lost_) lacks += (lacks.empty() ? "" : "; ") + ("what " + library + " launched");
  trace_->finish(lacks);
  if (options_->quiet) return;
  std::error_code ignored;
  const auto bytes = std::filesystem::file_size(options_->output, ignored);
  const TraceCounts& n = trace_->counts();
  const std::string samples = n.samples != 0 ? " (" + std::to_string(n.samples) + " as samples)" : "";
  std::fprintf(
      stderr,
      "recorded %llu of %llu launches%s: %s ops, %s accesses, %sB in %s; %s warp instructions of PTX in %.1f s (runs "
      "count issue slots)%s%s%s\n",
      static_cast<unsigned long long>(n.kernels), static_cast<unsigned long long>(launches_), samples.c_str(),
      short_number(static_cast<double>(n.ops)).c_str(), short_number(static_cast<double>(n.accesses)).c_str(),
      short_number(static_cast<double>(bytes)).c_str(), options_->output.c_str(),
      short_number(static_cast<double>(executed_.warp_instructions)).c_str(), seconds_, why.empty() ? "" : " (", why.c_str(),
      why.empty() ? "" : ")");
  warn();
  if (options_->check) std::fprintf(stderr, "%s\n", checking_.summary().c_str());
}

void Recording::keep_ptx(const std::string& name, const std::string& text) const {
  if (!options_ || options_->ptx_folder.empty()) return;
  const std::string path = options_->ptx_folder + "/" + name;
  const StandardDescriptors held;
  std::ofstream file(path, std::ios::binary);
  if (!(file << text).flush()) std::fprintf(stderr, "atoll: warning: %s cannot be written\n", path.c_str());
}

void Recording::warn_of_refused() const {
  if (refused_ == 0) return;
  std::fprintf(stderr, "atoll: warning: %llu launch%s refused, as on a GPU%s: kernel %s\n",
               static_cast<unsigned long long>(refused_), refused_ == 1 ? " was" : "es were",
               refused_ == 1 ? "" : "; the first", first_refused_.c_str());
}

/// What the user must know of the recorded launches.
void Recording::warn() const {
  warn_of_refused();
  for (const std::string& library : lost_)
    std::fprintf(stderr, "atoll: warning: what %s launched is not among them\n", library.c_str());
  std::fprintf(stderr, "%s\n", races_line(races_.counts(), options_->check).c_str());
  if (executed_.repeated_polls != 0)
    std::fprintf(stderr, "%s rounds of loops that waited for others were left out of the trace\n",
                 short_number(static_cast<double>(executed_.repeated_polls)).c_str());
  for (const ptx::OutOfBounds::Site& site : outside_.sites())
    std::fprintf(stderr, "atoll: warning: %s\n", text_of(site).c_str());
  if (executed_.missed_meetings != 0)
    std::fprintf(
        stderr,
        "atoll: warning: %llu warp-wide instructions were executed by other lanes than their member mask names, which "
        "CUDA leaves undefined; results may differ on a GPU%s\n",
        static_cast<unsigned long long>(executed_.missed_meetings), options_->check ? "" : " (--check says where)");
}

void Recording::abandon() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  clear_progress();
  trace_.reset();
}

void Recording::disown() { closed_ = true; }

}  // namespace atl::cudart
