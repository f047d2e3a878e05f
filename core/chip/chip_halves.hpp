#pragma once
#include <atomic>
#include <vector>

#include "core/chip/base/half.hpp"
#include "core/chip/cta_ahead.hpp"
#include "core/chip/faster_way.hpp"
#include "core/engine/second_thread.hpp"

namespace atl {

/// How many threads may work on one chip: two, where Chip::can_halve(). They meet in every cycle, which is not always worth
/// it: where one does better, it works alone.
struct ChipThreads {
  unsigned count = 1;
  bool always = false;  ///< two, even so
};

/// Which half handles an event of a chip.
bool of_uncore(const Event& e);

/// What two threads need that run a chip's halves (chip_halves.cpp).
struct ChipHalves {
  /// An event that the uncore has handled, for the cores' thread, which knows where it stands in the order of all.
  struct Handled {
    Stamp stamp;
    std::uint64_t hash = 0;
    std::uint64_t at_and_crossings = 0;
    static constexpr unsigned kCrossingBits = 16;
    Cycle at() const { return at_and_crossings >> kCrossingBits; }
    std::uint64_t crossings() const { return at_and_crossings & ((1u << kCrossingBits) - 1); }
  };
  static_assert(sizeof(Handled) == 32);

  ChipHalves(Cycle lookahead, bool always, Workload& workload);

  Cycle next() const { return std::min({cores.queue.next(), uncore.queue.next(), arrivals.next()}); }
  std::uint64_t handled_events() const { return core_stamper.handled + uncore_stamper.handled; }
  void clear() { cores.queue.clear(), uncore.queue.clear(), arrivals.clear(), together.clear(); }
  /// Between two windows: what is scheduled then comes after all that was scheduled before `boundary`.
  void between(Cycle boundary);
  void together_at(Cycle at);
  void set_apart(bool apart);

  const bool always;
  FasterWay faster;       ///< the second way: two threads
  const Cycle lookahead;  ///< of whatever goes from the cores to the uncore
  Half cores, uncore;
  HalfQueue arrivals;  ///< in the uncore: what came from the cores
  Stamper core_stamper, uncore_stamper;
  SpscRing<Handled> handled;
  Cycle reached = 0;            ///< everything before is over
  Cycle cycles_apart = 0;       ///< so far
  std::vector<Cycle> together;  ///< heap, earliest first: cycles with events that concern both halves
  // While apart:
  alignas(64) std::atomic<Cycle> granted{0};    ///< the uncore may do everything before
  std::atomic<Cycle> end{0};                    ///< where halves come together; only made earlier, and not before `granted`
  alignas(64) std::atomic<Cycle> uncore_at{0};  ///< the uncore has done everything before
  std::atomic<bool> uncore_over{false};         ///< its thread has done all before `end`
  std::atomic<bool> failed{false};
  std::exception_ptr error;  ///< of the uncore's thread
  CtaAhead ahead;
  SecondThread thread;
};

}  // namespace atl
