#include "core/app/sweep_progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <span>
#include <utility>

#include "core/app/tell.hpp"
#include "core/stats/human.hpp"
#include "core/stats/progress.hpp"

namespace atl {
namespace {

/// A point may have several warnings: enough of one to find it again among those above.
std::string first_words(const std::string& text) {
  std::size_t end = 0;
  for (int words = 0; words < 8; ++words)
    if (end = text.find(' ', end + 1); end == text.npos) return text;
  return text.substr(0, end) + " ...";
}

}  // namespace

SweepProgress::SweepProgress(const std::vector<Job>& jobs, std::vector<std::string> workloads, std::size_t at_once)
    : jobs_(jobs), estimate_(std::move(workloads), at_once), terminal_(isatty(fileno(stdout)) != 0) {
  state_.total = jobs.size();
}

void SweepProgress::draw(const PoolState& s) {
  state_ = s;
  if (!terminal_) return;
  constexpr std::size_t kWidth = 24;
  const std::size_t filled = s.total ? kWidth * s.ended / s.total : 0;
  std::string line = fmt::format("[{}{}] {}/{} | {} running", std::string(filled, '#'), std::string(kWidth - filled, '.'),
                                 s.ended, s.total, s.running);
  if (s.failed > 0) line += fmt::format(" | {} failed", s.failed);
  if (const auto left = estimate_.seconds_left(s.running)) line += fmt::format(" | {} left", duration(*left));
  fmt::print("\r{}\033[K", line.substr(0, columns_of(stdout) - 1));  // a line that wraps cannot be rewritten
  std::fflush(stdout);
}

void SweepProgress::ended(const JobEnd& end) {
  ++ended_;
  const bool ran = !end.skipped && !end.done_before && end.error.empty();
  estimate_.ended(static_cast<std::size_t>(end.job - jobs_.data()), ran ? std::optional(end.seconds) : std::nullopt);
  if (end.skipped) return say(end.job->name, "is being run by another process");
  if (end.done_before) return say(end.job->name, "has been done by another process");
  std::string what = ran ? "done in " + duration(end.seconds) : "FAILED: " + end.error;
  // The bar says it on a terminal. The other points that run now count in full.
  const auto left = terminal_ || ended_ == state_.total ? std::nullopt : estimate_.seconds_left(0);
  say(end.job->name, left ? fmt::format("{}, about {} left", what, duration(*left)) : what);
}

void SweepProgress::clear() {
  if (terminal_) fmt::print("\r\033[K");
  std::fflush(stdout);
}

void SweepProgress::say(const std::string& name, const std::string& what) {
  clear();
  fmt::print("[{}/{}] {}: {}\n", ended_, state_.total, name, what);
  std::fflush(stdout);
}

void SweepWarnings::tell_of(const std::string& point, const std::string& what) {
  if (passed_over_.contains(what)) return;
  const auto known = std::ranges::find(told_, what, &Told::what);
  if (known == told_.end()) {
    told_.push_back({what, {point}});
    tell("atoll: warning: {}: {}\n", point, what);
  } else if (std::ranges::find(known->points, point) == known->points.end()) {
    known->points.push_back(point);
  }
}

void SweepWarnings::tell_of_others() const {
  for (const Told& t : told_)
    if (t.points.size() > 1)
      tell("atoll: the warning of {}, \"{}\", is also one of {}\n", t.points[0], first_words(t.what),
           listed(std::span(t.points).subspan(1)));
}

}  // namespace atl
