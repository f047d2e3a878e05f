#include "inputs/ptx/exec_scheduler.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "inputs/ptx/exec_cta_pool.hpp"
#include "inputs/ptx/turn_order.hpp"

namespace atl::ptx::exec {
namespace {

constexpr std::size_t kMostSpare = 4;                       // CTAs that have ended, for the next ones of the launch
constexpr std::size_t kLiveBytes = std::size_t{256} << 20;  // of CTAs that wait for others, if they need not all be there

// Rounds without any change after which it is looked whether there is anything but polling. Those that read a clock may
// wait for it, much longer; less is enough to see that those go on polling who did nothing else before.
constexpr std::uint64_t kLongEpoch = 16, kShortEpoch = 1024, kTimedEpochs = 1000, kTimedPatience = 4;
// Then time passes faster and faster: a second of a GPU takes some 20 looks, and what is waited for in vain has its time.
constexpr std::uint64_t kPassesAfter = 16, kPassesAtFirst = 4096, kPassesAtMost = std::uint64_t{1} << 40;
constexpr std::uint64_t kKnownPart = 16;

// Who reads memory that could be polled, and is at no time where he was before, may be following pointers, adding up, or
// counting his polls until he gives up. That it goes on for ever is taken for granted after so many instructions of the
// launch, and of each warp.
constexpr std::uint64_t kUnprovedEpochs = 16, kUnproved = std::uint64_t{1} << 25, kUnprovedEach = std::uint64_t{1} << 18;

// After so many rounds with changes and polls it is looked whether the CTAs only go round in circles, each warp meeting the
// others at a barrier for one. What they must come back to is remembered for as many CTAs at a time.
constexpr std::uint64_t kCircleEpochs = 4;
constexpr std::size_t kCircleBytes = std::size_t{64} << 20;

/// Whether each has polled since this was asked, so that it may be waiting for what is outside.
bool may_circle(const std::deque<std::unique_ptr<Cta>>& live) {
  bool all = true;
  for (const auto& cta : live) all &= std::exchange(cta->polled, false) && cta->cluster->ctas.size() == 1;
  return all;
}

}  // namespace

void PollWatch::round(const std::deque<std::unique_ptr<Cta>>& live, bool ended, std::uint64_t epoch) {
  bool progressed = ended || live.empty(), stirred = progressed;
  for (const auto& cta : live) {
    progressed |= std::exchange(cta->progressed, false);
    stirred |= std::exchange(cta->stirred, false);
  }
  changed_ = by_value_ ? stirred : progressed, passes_ = 0;
  const std::uint64_t look = known_ ? std::max<std::uint64_t>(epoch / kKnownPart, 2) : epoch;
  if (progressed)
    moves();
  else if (++idle_ % look == 1)
    this->look(live, epoch);
  if (by_value_)
    look_for_circles(live, stirred);
  else if (progressed && ++busy_ % (epoch * kCircleEpochs) == 0)
    by_value_ = may_circle(live), anew_ = true;
}

void PollWatch::look(const std::deque<std::unique_ptr<Cta>>& live, std::uint64_t epoch) {
  polls_ = idle_ > 1;  // in the first round, what went before does not count
  timed_ = false;
  bool same = true;
  std::uint64_t executed = 0, warps = 0;
  for (const auto& cta : live)
    for (const auto& w : cta->warps) {
      if (w->state == WarpState::ready) polls_ &= w->polled, same &= w->spin.stood && !w->spin.went_on;
      timed_ |= w->timed;
      executed += w->executed;
      if (w->state == WarpState::ready) ++warps;
      w->polled = w->timed = w->spin.stood = w->spin.went_on = false;
    }
  if (idle_ == 1) before_ = executed;
  waits_ = polls_ && (!timed_ || known_ || idle_ >= epoch * kTimedPatience);
  const std::uint64_t looks = idle_ / epoch;
  if (polls_ && timed_ && looks >= kPassesAfter)
    passes_ = std::min(kPassesAtFirst << std::min<std::uint64_t>(looks - kPassesAfter, 40), kPassesAtMost);
  proved_ = polls_ && same && !timed_;
  stuck_ = proved_ || (polls_ && idle_ >= epoch * (timed_ ? kTimedEpochs : kUnprovedEpochs) &&
                       (timed_ || executed >= before_ + std::max(kUnproved, warps * kUnprovedEach)));
}

void PollWatch::look_for_circles(const std::deque<std::unique_ptr<Cta>>& live, bool stirred) {
  if (stirred || std::exchange(anew_, false))
    for (const auto& cta : live) cta->standing.forget();
  circles_ = false;
  if (stirred) {
    by_value_ = false;
    return;
  }
  std::size_t bytes = 0;
  for (const auto& cta : live) bytes += cta->standing.state.size();
  bool all = true;
  for (const auto& cta : live) {
    Standing& s = cta->standing;
    const std::size_t before = s.state.size();
    if (before != 0 || bytes < kCircleBytes) note_standing(*cta);
    bytes += s.state.size() - before;
    all &= s.again;
  }
  circles_ = all;
  if (circles_) waits_ = stuck_ = proved_ = true;
}

Scheduler::Scheduler(Launch& launch) : launch_(launch) {
  const LaunchSpec& spec = *launch.spec;
  total_ = std::uint64_t{spec.grid[0]} * spec.grid[1] * spec.grid[2];
  for (const std::uint32_t n : launch.cluster) each_ *= n;
  random_ = spec.schedule_seed;
}

Scheduler::~Scheduler() {
  for (std::unique_ptr<Cta>& cta : spare_) launch_.device->ctas().give(std::move(cta));
}

bool Scheduler::round() {
  if (live_.empty() && next_ == total_) return false;
  if (launch_.short_turns)
    interleaved_round();
  else
    long_round();
  launch_.waited += watch_.passes();
  launch_.only_polls = watch_.only_polls(), launch_.by_value = watch_.by_value();
  return !live_.empty() || next_ < total_;
}

void Scheduler::raise() const {
  std::vector<std::uint64_t> waiting;
  for (const auto& cta : live_) waiting.push_back(cta->number);
  std::sort(waiting.begin(), waiting.end());
  const std::size_t shown = std::min<std::size_t>(waiting.size(), 8);
  const auto first =
      std::find_if(live_.begin(), live_.end(), [&](const auto& cta) { return cta->number == waiting.front(); });
  const bool one = waiting.size() == 1;
  raise_livelock(**first, watch_.proved(),
                 fmt::format("{} {}{} of {} {}", one ? "block" : "blocks",
                             fmt::join(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                             shown < waiting.size() ? fmt::format(" and {} more", waiting.size() - shown) : "", total_,
                             one ? "waits" : "wait"));
}

void Scheduler::long_round() {
  const bool cooperative = launch_.spec->cooperative;
  if (cooperative)
    while (next_ < total_) add();
  if (live_.empty()) add();
  // Every live CTA has its turn; if all of them wait, perhaps it is for one that has not begun.
  bool moved = false, ended = false;
  for (std::size_t n = live_.size(); n > 0; --n) {
    const CtaState state = run_cta(*live_.front(), cooperative || live_.size() > 1);
    std::unique_ptr<Cta> cta = std::move(live_.front());
    live_.pop_front();
    moved |= state != CtaState::waiting;
    ended |= state == CtaState::done;
    if (state == CtaState::done)
      finish(std::move(cta));
    else
      live_.push_back(std::move(cta));
  }
  if (moved || !add_awaited()) watch_.round(live_, ended, kLongEpoch);
  add_to_circles();
}

/// As many CTAs as are resident take short turns, in another order in each round.
void Scheduler::interleaved_round() {
  while (live_.size() < resident() && may_add()) add();
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
  if (unmoved_ >= kShortEpoch / 4 && add_awaited())
    unmoved_ = 0;
  else
    watch_.round(live_, ended, kShortEpoch);
  add_to_circles();
}

/// What all of those wait for that have begun may be done by one that has not.
void Scheduler::add_to_circles() {
  if (watch_.circles()) add_awaited();
}

/// Where those that have begun wait for others: one more, or, beyond what memory is meant to hold, an eighth more of those
/// that the device holds, which may all meet. False: there are none.
bool Scheduler::add_awaited() {
  if (may_add()) {
    add();
  } else {
    if (next_ == total_ || live_.size() >= resident()) return false;
    for (std::size_t n = live_.size() / 8 + 1; n > 0 && next_ < total_ && live_.size() < resident(); --n) add();
  }
  watch_.begin_anew();
  return true;
}

/// As many CTAs as the device holds at a time.
std::size_t Scheduler::resident() const {
  const LaunchSpec& spec = *launch_.spec;
  return spec.resident_ctas == 0 || spec.cooperative ? total_ : spec.resident_ctas;
}

bool Scheduler::may_add() const {
  const std::size_t each = std::max<std::size_t>(footprint(launch_), 1);
  return next_ < total_ && (live_.empty() || launch_.spec->cooperative || (live_.size() + 1) * each < kLiveBytes);
}

/// The next CTA, or all of the next cluster.
void Scheduler::add() {
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

void Scheduler::add(std::uint64_t number, const std::shared_ptr<Cluster>& cluster) {
  std::unique_ptr<Cta> cta;
  if (spare_.empty()) {
    cta = launch_.device->ctas().take();
  } else {
    cta = std::move(spare_.back());
    spare_.pop_back();
  }
  start_cta(*cta, launch_, number, cluster);
  live_.push_back(std::move(cta));
}

namespace {
void count(LaunchStats& to, const Warp& w) {
  to.warp_instructions += w.executed;
  to.thread_instructions += w.thread_executed;
  to.missed_meetings += w.missed, to.repeated_polls += w.repeated_polls;
}
}  // namespace

LaunchStats Scheduler::stats_so_far() const {
  LaunchStats sum = stats_;
  for (const auto& cta : live_)
    for (const auto& w : cta->warps) count(sum, *w);
  return sum;
}

void Scheduler::finish(std::unique_ptr<Cta> cta) {
  for (const auto& w : cta->warps) {
    flush_events(*w);
    count(stats_, *w);
  }
  launch_.clock = stats_.warp_instructions;
  if (cta->recorded) launch_.sink->end_cta(cta->number);
  cta->cluster->ctas[cta->rank] = nullptr;  // others of its cluster reach it no more
  if (each_ > 1) cta->cluster = nullptr;
  if (spare_.size() < kMostSpare)
    spare_.push_back(std::move(cta));
  else
    launch_.device->ctas().give(std::move(cta));
}

}  // namespace atl::ptx::exec
