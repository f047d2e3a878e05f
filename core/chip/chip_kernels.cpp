#include <fmt/format.h>

#include <algorithm>

#include "core/chip/chip.hpp"

// A kernel on one chip: its CTAs are placed, its stores drain, what must leave the slices leaves, and it ends.
namespace atl {

void Chip::begin_kernel(const LaunchBody& launch) {
  const std::uint64_t kernel = launch.kernel;
  require_course(phase_ == Phase::idle && kernel < workload_->kernels().size());
  for (const Sm& sm : sms_) require_course(sm.empty());
  add_up_counters(), links_.count_busiest();
  begin_census();
  c_.structures.begin_kernel(kernel);
  at_kernel_start_ = c_.count;
  late_ = c_.count - at_kernel_end_;
  for (const std::uint64_t packed : launch.warm) {
    const LineAddr line{packed >> 8};
    slices_[c_.machine.map.slice(line)].warm(line, packed & 0xF);
  }
  change_ = Change::none;
  end_rule_ = launch.end;
  obey(launch.modes, true);
  const SystemConfig& config = c_.machine.config;
  const KernelInfo& info = workload_->kernels()[kernel];
  kernel_ = kernel;
  const KernelInfo mine = kernel_on(info, c_.machine.devices, id());
  const std::uint32_t warps = mine.warps(), slots = resident_ctas(config.sm, mine);  // the controller has seen that one fits
  ctas_ = ctas_of(info, config, c_.machine.devices, id());
  to_run_ = ctas_->count();
  dispatcher_.begin_kernel(to_run_, slots);
  if (halves_) halves_->ahead.begin(kernel, *ctas_, 0);
  std::fill(free_slots_.begin(), free_slots_.end(), slots);
  for (Sm& sm : sms_) sm.begin_kernel(warps);
  cluster_.begin_kernel();
  if (c_.observer != nullptr) [[unlikely]]
    c_.observer->on_kernel_start(c_, kernel);
  dispatched_ = finished_ = 0;
  phase_ = Phase::running;
  if (!sampling_) {
    sampling_ = true;
    schedule_for_all((c_.now() / config.control.sample_cycles + 1) * config.control.sample_cycles,
                     {{}, 0, EventKind::sample});
  }
  dispatch();
}

/// Places at most one CTA per cycle, and notices those that ended.
void Chip::dispatch() {
  if (phase_ != Phase::running) return;
  for (std::size_t i = 0; i < sms_.size(); ++i) {
    const std::uint32_t done = sms_[i].take_finished();
    free_slots_[i] += done, finished_ += done;
    c_.count[Counter::ctas] += done;
  }
  if (last_dispatch_ != c_.now() && dispatched_ < to_run_) {
    if (const auto sm = dispatcher_.next_sm(free_slots_)) {
      const std::uint64_t cta = ctas_->nth(dispatched_++);
      CtaProgram& program = sms_[*sm].next_program();
      halves_ ? halves_->ahead.take(program) : workload_->load_cta(kernel_, cta, program);
      --free_slots_[*sm];
      sms_[*sm].start_cta(cta);
      last_dispatch_ = c_.now();
      c_.schedule(c_.now() + 1, EventKind::dispatch, 0);
    }
  }
  if (finished_ == to_run_) phase_ = Phase::draining, enter_span(Span::draining);
}

/// The CTAs that run end as usual; a chip that has none any more is done with the kernel.
void Chip::curtail() {
  if (phase_ != Phase::running) return;
  to_run_ = dispatched_;
  kernel_lasts_until_ = 0;
  dispatch();
}

/// After the last CTA: stores drain. An L2 is then written back to the homes' LLCs and emptied, by each chip for itself: no
/// other chip looks into it. Under home directories it keeps its lines, which are clean. Under SM-side caching the LLC is
/// written back and emptied (software coherence, SAC section 2.1), but not before every chip is drained: atomics of a chip
/// that still runs leave dirty lines in their homes. Under split only the remote lines go, which no other chip asks for.
/// Under home directories lines stay, dirty ones are written back, and the kernel ends with the last invalidation (REC
/// section 2.3). Replicas go in any case (SelRep section III-B).
void Chip::advance_phase() {
  if (phase_ == Phase::draining) {
    if (!quiet()) return;
    if (c_.machine.has_l2 && !c_.machine.directories()) return empty_l2();
    leave_kernel();
  } else if (phase_ == Phase::emptying) {
    const bool done = std::ranges::none_of(l2(), [](const LlcSlice& s) { return s.busy() || s.fetching(); });
    if (done) leave_kernel();
  } else if (phase_ == Phase::flushing) {
    if (!flushed()) return;
    if (invalidated()) return end_kernel();
    if (span_ != Span::invalidating) enter_span(Span::invalidating);
  }
}

/// The chip's own requests are over, and nothing is left in an L2.
void Chip::leave_kernel() {
  if (!ends_together(c_.machine, c_.role, c_.replication, end_rule_))
    return c_.role == LlcRole::split ? begin_flush({Flush::remote, false}) : end_kernel();
  if (c_.machine.full_map && !flushed()) return;  // all homes know of all writes; invalidations are awaited below
  phase_ = Phase::waiting, enter_span(Span::waiting);
  tell_controller(ControlKind::kernel_drained, EmptyBody{});
}

void Chip::empty_l2() {
  phase_ = Phase::emptying, enter_span(Span::flushing);
  for (LlcSlice& s : l2()) s.begin_flush(Flush::all);
}

/// No request of this chip's SMs is under way, a load that nobody waits for included.
bool Chip::quiet() const {
  return std::all_of(sms_.begin(), sms_.end(), [](const Sm& s) { return s.quiet(); });
}

bool Chip::flushed() const {
  return std::none_of(slices_.begin(), slices_.end(), [](const LlcSlice& s) { return s.busy(); });
}

/// Invalidations are acknowledged. With directories a slice's own fetches are over as well: lines stay from kernel to
/// kernel, and one that is under way may be older than what was written in this kernel.
bool Chip::invalidated() const {
  const bool fetched = c_.machine.directories();
  return std::all_of(slices_.begin(), slices_.end(),
                     [&](const LlcSlice& s) { return s.invalidations() == 0 && !(fetched && s.fetching()); });
}

void Chip::begin_flush(const KernelEndFlush& flush) {
  phase_ = Phase::flushing, enter_span(Span::flushing);
  flush_slices(flush);
}

/// All chips are drained, and all homes know of all writes.
void Chip::flush_after_kernel() {
  begin_flush(kernel_end_flush(c_.machine, c_.role, std::exchange(replicated_, false), end_rule_));
}

void Chip::flush_slices(const KernelEndFlush& flush) {
  if (flush.forget_sharers && agent_) agent_->forget();
  if (flush.forget_sharers && c_.observer != nullptr) c_.observer->on_llc_forget(c_);
  for (LlcSlice& s : slices_) {
    if (flush.forget_sharers) s.forget_sharers();
    if (flush.scope != Flush::none) s.begin_flush(flush.scope);
  }
}

void Chip::end_kernel() {
  phase_ = Phase::idle, enter_span(Span::idle);
  add_up_counters(), links_.count_busiest();
  at_kernel_end_ = c_.count;
  const Counters d = c_.count - at_kernel_start_;
  tell_controller(ControlKind::kernel_done,
                  KernelDoneBody{c_.now(), {d.value.begin(), d.value.end()}, {late_.value.begin(), late_.value.end()}});
}

}  // namespace atl
