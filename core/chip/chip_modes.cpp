#include <algorithm>

#include "core/chip/chip.hpp"

// What a chip obeys, what it reports for decisions, and how it changes organisation in the middle of a kernel
// (SAC section 3.4): wait for the requests under way, write back and invalidate, switch the routing, go on. Chips take each
// step together, at the controller's word, because each may hold lines that another will look for elsewhere.
namespace atl {

void Chip::obey(const Modes& m, bool kernel) {
  check_modes(m);
  const bool changed = std::exchange(c_.role, m.llc) != m.llc;
  c_.local_ways = m.local_ways;
  c_.profiler.turn(m.profile, kernel, changed);
  if (uncore_) uncore_->profiler.turn(m.profile, kernel, changed);
  c_.replication = m.replication;
  if (agent_) agent_->cover(m.range_bytes);
  replicated_ |= m.replication.level != 0;
  uncore().degrees.turn(m.replication.profile, m.replication.restart);
  tell_uncore();
  ++modes_taken_;
  epochs_[0].start(c_.now(), m.epoch_cycles, m.epoch_gone);
  epochs_[1].start(c_.now(), m.beside_cycles, m.beside_gone);
  add_up_counters();
  at_epoch_start_ = c_.count;
  await_epoch();
}

void Chip::await_epoch() {
  const Cycle end = std::min(epochs_[0].end(), epochs_[1].end());
  if (end == kNever) return;
  Event e{{}, 0, EventKind::epoch};
  e.packet.token = modes_taken_;
  schedule_for_all(end, e);
}

/// Epochs run on until other modes come, whether or not this chip still has CTAs: the controller waits for all chips.
void Chip::send_epoch(std::uint32_t of_modes) {
  if (of_modes != modes_taken_ || phase_ == Phase::stopped) return;
  add_up_counters();
  const Counters d = c_.count - std::exchange(at_epoch_start_, c_.count);
  EpochBody body;
  body.modes = of_modes;
  body.end = c_.now();
  body.counters.assign(d.value.begin(), d.value.end());
  if (const LlcProfiler& p = uncore().profiler; p.on()) {
    body.profile = p.counts;
    body.profile.local = c_.profiler.counts.local, body.profile.remote = c_.profiler.counts.remote;
  }
  if (DegreeProfiler& degrees = uncore().degrees; degrees.on()) body.degrees = degrees.take();
  tell_controller(ControlKind::epoch_report, body);
  for (EpochClock& clock : epochs_) clock.pass(c_.now());
  await_epoch();
}

void Chip::pause() {
  c_.paused = true;
  for (Sm& s : sms_) s.pause();
  change_ = Change::draining;
  enter_span(Span::changing);
}

/// Chips are in the mode that the step leaves: with the last step's lines gone, requests find their way as in that mode.
void Chip::flush_for_change(const ModeStep& step) {
  require_course(step.from <= LlcRole::split && step.to <= LlcRole::split);
  c_.role = step.from;
  tell_uncore();
  change_ = Change::flushing;
  flush_slices(step_flush(c_.machine, step));
}

void Chip::advance_change() {
  if (change_ == Change::draining && quiet() && (!c_.machine.full_map || flushed())) {
    change_ = Change::waiting;
    tell_controller(ControlKind::paused, EmptyBody{});
  } else if (change_ == Change::flushing && flushed() && invalidated()) {
    change_ = Change::waiting;
    tell_controller(ControlKind::flushed, EmptyBody{});
  }
}

void Chip::resume_with(const Modes& modes) {
  change_ = Change::none;
  c_.paused = false;
  obey(modes, false);
  for (Sm& s : sms_) s.retry();
  // A chip whose CTAs had all ended says so again: how a kernel ends depends on the organisation.
  if (phase_ == Phase::idle || phase_ == Phase::waiting) phase_ = Phase::draining;
  enter_span(phase_ == Phase::running ? Span::running : Span::draining);
}

}  // namespace atl
