#include "core/stats/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <utility>

#include "core/stats/human.hpp"

namespace atl {

std::string format_progress(const ProgressState& s) {
  std::string out = fmt::format("kernel {}/{} | cycle {} | CTAs {}/{}", s.kernel, s.kernels,
                                si(static_cast<double>(s.cycle)), s.ctas_done, s.ctas_total);
  if (s.seconds > 0)
    out += fmt::format(" | {} requests/s", si(static_cast<double>(s.requests - s.requests_before) / s.seconds));
  if (const auto left = seconds_left(s)) out += fmt::format(" | {} left", duration(*left));
  return out;
}

std::optional<double> seconds_left(const ProgressState& s) {
  if (s.ctas_done <= s.ctas_before || s.ctas_done > s.ctas_total) return std::nullopt;
  // CTAs that were nearly done at the checkpoint say nothing, nor do those that were to begin with and take long to end.
  if (s.ctas_before > 0 && (s.ctas_done - s.ctas_before) * 100 < s.ctas_total - s.ctas_before) return std::nullopt;
  return s.seconds * static_cast<double>(s.ctas_total - s.ctas_done) / static_cast<double>(s.ctas_done - s.ctas_before);
}

std::size_t columns_of(std::FILE* out) {
  winsize size{};
  return ::ioctl(::fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
}

ProgressLine::Style ProgressLine::style_for(std::FILE* out, bool quiet) {
  if (quiet) return Style::quiet;
  return ::isatty(::fileno(out)) != 0 ? Style::terminal : Style::log;
}

void ProgressLine::update(ProgressState state, Clock::time_point now) {
  if (std::exchange(resumed_, false)) ctas_before_ = state.ctas_done, requests_before_ = state.requests;
  if (style_ == Style::quiet || now < due_) return;
  due_ = now + interval();
  state.seconds = std::chrono::duration<double>(now - start_).count();
  state.ctas_before = ctas_before_, state.requests_before = requests_before_;
  const std::string text = format_progress(state);
  if (style_ == Style::terminal) {
    // A line that wraps cannot be rewritten, and the last column already wraps on some terminals.
    fmt::print(out_, "\r{}\033[K", text.substr(0, columns_ - 1));
    shown_ = true;
  } else {
    fmt::print(out_, "{}\n", text);
  }
  std::fflush(out_);
}

void ProgressLine::clear() {
  if (!shown_) return;
  std::fputs("\r\033[K", out_);
  std::fflush(out_);
  shown_ = false;
}

}  // namespace atl
