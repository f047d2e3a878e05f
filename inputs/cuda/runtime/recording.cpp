#include "inputs/cuda/runtime/recording.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "core/engine/error.hpp"
#include "inputs/cuda/runtime/ending.hpp"
#include "inputs/cuda/runtime/trace_sink.hpp"

namespace atl::cudart {
namespace {

constexpr char kClaim[] = "ATOLL_RECORD_BY";
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

/// One trace is one process. Of several that one command starts, the first to launch a kernel gets it.
bool Recording::claim() {
  if (!options_ || closed_) return false;
  if (trace_) return true;
  const char* other = std::getenv(kClaim);
  if (other || std::filesystem::exists(options_->output)) {
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

ptx::AccessCheck* Recording::check() { return wanted_ && options_->check ? &checking_.check : nullptr; }

void Recording::next_launch(const std::string& kernel, std::uint64_t ctas) {
  ++launches_;
  // Asked for every launch, because it counts them.
  wanted_ = options_ && selection_.next(kernel) && !closed_ && ctas > options_->first_cta;
}

/// Null: the launch that was announced is not recorded.
TraceSink* Recording::sink_of_launch(LaunchPlace place) {
  if (!wanted_) return nullptr;
  const std::lock_guard lock(mutex_);
  if (!claim()) return nullptr;
  trace_->place_next(place);
  return trace_.get();
}

void Recording::stop_if_enough() {
  if (options_->stop_after != 0 && recorded() == options_->stop_after)
    finish("as many as were asked for; the program goes on");
}

void Recording::copy(const cuda::CopyKernel& kernel, LaunchPlace place) {
  const KernelInfo info = kernel.info();
  next_launch(info.name, info.ctas());
  TraceSink* sink = sink_of_launch(place);
  if (!sink) return;
  sink->add_copy(kernel, options_->max_ctas);
  stop_if_enough();
}

void Recording::run(ptx::LaunchSpec spec, ptx::Device& device, LaunchPlace place) {
  TraceSink* sink = sink_of_launch(place);
  if (sink) spec.races = &races_;
  if (options_ && options_->tolerate_oob) spec.outside = &outside_;
  const auto start = std::chrono::steady_clock::now();
  progress(spec.module->functions[spec.kernel].name);
  try {
    const ptx::LaunchStats stats = ptx::execute(spec, device, sink ? &sink->recorder() : nullptr);
    executed_.warp_instructions += stats.warp_instructions;
    executed_.missed_meetings += stats.missed_meetings;
    executed_.repeated_polls += stats.repeated_polls;
    if (spec.check) clear_progress(), checking_.report_races(spec.races);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    clear_progress();
    if (sink && trace_) trace_->abandon_kernel();
    throw;
  }
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (sink) stop_if_enough();
}

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
               kernel.c_str(), short_number(static_cast<double>(executed_.warp_instructions)).c_str(),
               short_number(static_cast<double>(executed_.warp_instructions) / (seconds_ > 0 ? seconds_ : 1)).c_str());
}

void Recording::clear_progress() {
  if (progress_shown_) std::fputs("\r\033[K", stderr);
  progress_shown_ = false;
}

void Recording::finish(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (closed_ || !trace_) return;
  closed_ = true;
  clear_progress();
  trace_->finish();
  if (options_->quiet) return;
  std::error_code ignored;
  const auto bytes = std::filesystem::file_size(options_->output, ignored);
  const TraceCounts& n = trace_->counts();
  const std::string samples = n.samples != 0 ? " (" + std::to_string(n.samples) + " as samples)" : "";
  std::fprintf(stderr,
               "recorded %llu of %llu launches%s: %s ops, %s accesses, %sB in %s; %s warp instructions in %.1f s%s%s%s\n",
               static_cast<unsigned long long>(n.kernels), static_cast<unsigned long long>(launches_), samples.c_str(),
               short_number(static_cast<double>(n.ops)).c_str(), short_number(static_cast<double>(n.accesses)).c_str(),
               short_number(static_cast<double>(bytes)).c_str(), options_->output.c_str(),
               short_number(static_cast<double>(executed_.warp_instructions)).c_str(), seconds_, why.empty() ? "" : " (",
               why.c_str(), why.empty() ? "" : ")");
  warn();
  if (options_->check) std::fprintf(stderr, "%s\n", checking_.summary().c_str());
}

/// What the user must know of the recorded launches.
void Recording::warn() const {
  std::fprintf(stderr, "%s\n", races_line(races_.counts(), options_->check).c_str());
  if (executed_.repeated_polls != 0)
    std::fprintf(stderr, "%s rounds of loops that waited for others were left out of the trace\n",
                 short_number(static_cast<double>(executed_.repeated_polls)).c_str());
  for (const ptx::OutOfBounds::Site& site : outside_.sites())
    std::fprintf(stderr, "atoll: warning: %s\n", text_of(site).c_str());
  if (executed_.missed_meetings != 0)
    std::fprintf(
        stderr,
        "atoll: warning: %llu warp-wide instructions were executed without lanes that their member mask names, which "
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
