#include "inputs/ptx/exec_warp.hpp"

/// The interpreter's loop.
namespace atl::ptx::exec {
namespace {

// Handed over at once. Where many CTAs take turns, each has a buffer of as many, with up to 32 addresses for each.
constexpr std::size_t kEvents = 256, kEventsInTurns = 64;

template <bool kRecord> void run(Warp& w) {
  const std::size_t most = w.launch->short_turns ? kEventsInTurns : kEvents;
  while (w.budget > 0) {
    if (w.pc == w.reconverge) {
      pop_path(w);
      continue;
    }
    const Inst& i = w.code[w.pc++];
    --w.budget;
    ++w.executed;
    std::uint32_t active = w.mask;
    if (i.guarded != 0) {
      const std::uint32_t p = *w.at<std::uint32_t>(i.guard);
      active &= i.guarded == 1 ? p : ~p;
    }
    w.active = active;
    if constexpr (kRecord) w.events.emplace_back(w.frame().code->first_id + i.index, active);
    if (active == 0) continue;
    w.thread_executed += static_cast<std::uint64_t>(std::popcount(active));
    i.run(w, i);
    if constexpr (kRecord)
      if (w.events.size() >= most) flush_events(w);
  }
}

}  // namespace

void run_warp(Warp& w) {
  if (w.recorder != nullptr)
    run<true>(w);
  else
    run<false>(w);
}

void flush_events(Warp& w) {
  if (w.recorder == nullptr || w.events.empty()) return;
  w.spin.forget();
  w.recorder->events(w.cta->number, w.number, w.events, w.addresses);
  w.events.clear();
  w.addresses.clear();
}

}  // namespace atl::ptx::exec
