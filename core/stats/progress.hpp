#pragma once
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>

#include "core/engine/types.hpp"

namespace atl {

struct ProgressState {
  std::size_t kernel = 0;  ///< kernels begun
  std::size_t kernels = 0;
  Cycle cycle = 0;
  std::uint64_t ctas_done = 0;  ///< of all kernels
  std::uint64_t ctas_total = 0;
  std::uint64_t requests = 0;  ///< memory requests since the start
  double seconds = 0;          ///< of host time since the start; ProgressLine fills it and what follows
  std::uint64_t ctas_before = 0, requests_before = 0;  ///< in earlier parts of a run that was gone on with
};

/// Of host time, by the CTAs so far; good enough to decide whether to wait. Nothing: it cannot be told yet.
std::optional<double> seconds_left(const ProgressState& state);

/// `kernel 2/7 | cycle 1.20 M | CTAs 300/4096 | 512 k requests/s | 3 min 10 s left`
std::string format_progress(const ProgressState& state);

/// Of the terminal that `out` is; 80 if it is none, or does not say.
std::size_t columns_of(std::FILE* out);

/// Shows how far a run is. Looks at host time to decide when to speak, and tells nothing back to the simulation.
class ProgressLine {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Style { quiet, terminal, log };

  /// The style that suits `out`: one rewritten line on a terminal, a plain line now and then elsewhere.
  static Style style_for(std::FILE* out, bool quiet);

  /// `resumed`: what the first update tells of was done before.
  ProgressLine(std::FILE* out, Style style, bool resumed = false, std::size_t columns = 80,
               Clock::time_point start = Clock::now())
      : out_(out), style_(style), resumed_(resumed), columns_(columns), start_(start), due_(start + interval()) {}
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  /// Cheap enough to be called every window.
  void update(const ProgressState& state) {
    if (style_ != Style::quiet) update(state, Clock::now());
  }
  void update(ProgressState state, Clock::time_point now);

  /// Removes the line from a terminal, so that whatever is printed next starts on a clean one.
  void clear();

 private:
  Clock::duration interval() const {
    return style_ == Style::terminal ? std::chrono::milliseconds(200) : std::chrono::milliseconds(30'000);
  }

  std::FILE* out_;
  Style style_;
  bool resumed_;
  std::uint64_t ctas_before_ = 0, requests_before_ = 0;
  std::size_t columns_;
  Clock::time_point start_, due_;
  bool shown_ = false;
};

}  // namespace atl
