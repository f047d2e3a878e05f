#include "core/control/controller.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "inputs/config/link_edges.hpp"
#include "partition/cta_distribution.hpp"

namespace atl {

Controller::Controller(const Machine& machine, std::vector<Edge> edges, const std::vector<KernelInfo>& kernels,
                       Cycle max_cycles, LoadedPolicy policy, KernelSampler* sampler, Workload* workload)
    : LogicalProcess(machine.config.chips, std::move(edges)),
      config_(machine.config),
      kernels_(kernels),
      machine_(machine),
      policy_(std::move(policy)),
      sampler_(sampler),
      workload_(workload),
      rules_(machine.config, policy_.traits, policy_.name),
      end_rule_(kernel_end_rule(machine.config, policy_.traits)),
      limit_(std::min(max_cycles, kCycleLimit)),
      first_touch_(machine.config),
      placement_(machine.config) {
  result_.chips.resize(config_.chips), census_.resize(config_.chips), structures_.resize(config_.chips);
  kernel_counts_.resize(config_.chips), late_counts_.resize(config_.chips), degrees_.resize(config_.chips);
  for (const Wire& w : wires(config_))
    longest_wire_ =
        std::max<Cycle>(longest_wire_, w.latency_cycles + config_.link.credit_cycles + config_.control.sample_cycles);
  for (const KernelInfo& k : kernels_) {
    // Known before the first cycle: a long run would end here without a result.
    for (LpId chip = 0; chip < (k.parts.empty() ? 1 : config_.compute_chips()); ++chip)
      require_fit(config_.sm, result_.kernels.size(), kernel_on(k, machine.devices, chip));
    result_.kernels.push_back({k.name, k.ctas(), kNever, kNever, kNever});
    ctas_total_ += k.ctas();
  }
  if (sampler_ != nullptr && !kernels_.empty()) sampler_->wanted(0);  // the first of its cluster
  if (sampler_ != nullptr && sampler_->options().warm && LlcWarming::possible(config_)) warming_.emplace(machine, *workload);
  if (sampler_ != nullptr && sampler_->options().early)
    rate_.emplace(sampler_->options().error, sampler_->options().confidence);
  queue_.push(0, {EventKind::launch, 0});
}

void Controller::receive(const ControlMessage& message) {
  queue_.push(message.arrival, {EventKind::message, parked_.put(message)});
}

void Controller::run_until(Cycle end) {
  if (limit_ < end) queue_.push_first(std::exchange(limit_, kNever), {EventKind::limit, 0});
  queue_.run_until(end, [this](Cycle at, const Event& e) {
    digest_.add(at, static_cast<std::uint64_t>(e.kind) << 32 | (e.kind == EventKind::message ? parked_.source(e.index) : 0));
    handle(e);
  });
}

void Controller::handle(const Event& e) {
  switch (e.kind) {
    case EventKind::message:
      return on_message(parked_.take(e.index));
    case EventKind::settle:
      return settle();
    case EventKind::launch:
      return kernels_.empty() ? finish() : prepare_kernel(config_.control.launch_latency_cycles);
    case EventKind::limit:
      return on_limit();
  }
}

void Controller::on_message(const ControlMessage& m) {
  require_course(m.source < config_.chips);
  switch (static_cast<ControlKind>(m.kind)) {
    case ControlKind::page_touches:
      for (const auto& [cycle, page] : unpack<PageTouchesBody>(m.body).touches) first_touch_.add({cycle, {page}, m.source});
      // All chips report in step; whoever else reports arrives in this same cycle, and before the settling.
      if (settle_at_ != queue_.now()) queue_.push(settle_at_ = queue_.now(), {EventKind::settle, 0});
      return;
    case ControlKind::kernel_drained:
      if (changing_) return;  // it will say so again
      if (++chips_drained_ < config_.chips || finishing_) return;
      for (LpId chip = 0; chip < config_.chips; ++chip) tell(chip, 0, ControlKind::flush, EmptyBody{});
      return;
    case ControlKind::kernel_done:
      return on_kernel_done(m.source, unpack<KernelDoneBody>(m.body));
    case ControlKind::epoch_report:
      return on_epoch(m.source, unpack<EpochBody>(m.body));
    case ControlKind::paused:
      return on_paused();
    case ControlKind::flushed:
      return on_flushed();
    case ControlKind::sample:
      return on_sample(m.source, unpack<SampleBody>(m.body));
    case ControlKind::status_report:
      return on_status(m.source, unpack<StatusBody>(m.body));
    case ControlKind::chip_report:
      return on_report(m.source, unpack<ChipReportBody>(m.body));
    default:
      throw SimulationError(fmt::format("the controller got a control message of kind {}", m.kind));
  }
}

// ---- Kernels ----

/// Behind the one that has ended; kernels that are not simulated take no time.
/// CTAs that are skipped count as done: what is left to do shrinks by them.
std::size_t Controller::next_kernel() {
  std::size_t next = kernel_ + 1;
  while (sampler_ != nullptr && next < kernels_.size() && !sampler_->wanted(next)) ctas_skipped_ += kernels_[next++].ctas();
  return next;
}

/// Asks for the kernel's modes; lines that chips would not look for under these leave the slices first.
void Controller::prepare_kernel(Cycle earliest_start) {
  result_.kernels[kernel_].launched = kernel_end_;
  const Cycle start = std::max(earliest_start, queue_.now() + config_.control.latency_cycles);
  Verdict v = policy_->at_kernel_start(kernel_, start);
  v.modes = rules_.accept(std::move(v.modes), kernel_ == 0 ? std::span<const Modes>() : modes_, kernel_);
  take_down(std::move(v.decisions), start);
  const bool step = kernel_ != 0 && step_before_kernel(machine_, modes_[0].llc, v.modes[0].llc);
  // As the last kernel ended, those that were skipped would have: only memory-side slices keep their lines.
  const bool keep = kernel_ != 0 && modes_[0].llc == LlcRole::memory_side && v.modes[0].llc == LlcRole::memory_side;
  if (warming_ && keep) warm();
  modes_ = std::move(v.modes);
  if (!step) return launch(earliest_start);
  launching_ = earliest_start;
  take_step({.from = LlcRole::memory_side, .to = modes_[0].llc});
}

void Controller::warm() {
  warm_ = warming_->lines(skipped_, kernel_, [this](PageAddr page) -> std::uint8_t {
    if (config_.chips == 1) return 0;
    const std::uint8_t home = placement_.home(page);
    return home != kUnknownHome ? home : first_touch_.homes().find(page);
  });
}

void Controller::launch(Cycle earliest_start) {
  KernelResult& k = result_.kernels[kernel_];
  k.started = std::max(earliest_start, queue_.now() + config_.control.latency_cycles);
  chips_done_ = chips_drained_ = 0;
  running_ = true;
  last_move_ = k.started, patient_until_ = 0;
  expect_epochs(k.started);
  curtailed_ = false;
  if (rate_) {
    const KernelInfo& kernel = kernels_[kernel_];
    std::vector<ChipCtas> ctas;
    for (LpId chip = 0; chip < config_.compute_chips(); ++chip)
      ctas.push_back(ctas_of(kernel, config_, machine_.devices, chip));
    const std::uint64_t resident = std::uint64_t{resident_ctas(config_.sm, kernel)} * config_.sm.count;
    const bool long_enough = kernel.ctas() > RateWatch::kLeastWaves * resident * ctas.size();
    rate_->begin(long_enough ? CtaProfile(*workload_, kernel_, ctas) : CtaProfile(), resident);
  }
  KernelEndRule rule = end_rule_;
  rule.write_back = config_.llc.write_back_at_end && kernel_ + 1 == kernels_.size();
  for (LpId chip = 0; chip < config_.chips; ++chip)
    tell(chip, k.started, ControlKind::launch,
         LaunchBody{kernel_, modes_[chip], rule, warm_.empty() ? std::vector<std::uint64_t>() : std::move(warm_[chip])});
  warm_.clear();
}

void Controller::on_kernel_done(LpId chip, const KernelDoneBody& body) {
  if (finishing_ || changing_) return;
  require_course(running_);
  kernel_end_ = std::max(kernel_end_, body.cycle);
  copy_counters(body.counters, kernel_counts_[chip]);
  if (sampler_ != nullptr) copy_counters(body.late, late_counts_[chip]);
  if (++chips_done_ < config_.chips) return;
  running_ = false;
  result_.kernels[kernel_].finished = kernel_end_;
  result_.cycles = kernel_end_;
  all_kernel_counts_.push_back(kernel_counts_);
  if (sampler_ != nullptr) {
    // Once for each kernel: chips whose roles change as it ends say twice that it has.
    for (const Counters& late : late_counts_) sampler_->add_late(late);
    Counters sum;
    std::vector<std::uint64_t> ctas;
    for (const Counters& chip_counts : kernel_counts_) sum += chip_counts, ctas.push_back(chip_counts[Counter::ctas]);
    sampler_->ended(kernel_, kernel_end_ - result_.kernels[kernel_].launched, sum,
                    curtailed_ ? rate_->cut(ctas, static_cast<double>(sum[Counter::warp_instructions])) : LaunchCut{});
  }
  if (curtailed_) {
    for (const Counters& chip_counts : kernel_counts_) ctas_skipped_ -= chip_counts[Counter::ctas];
    ctas_skipped_ += kernels_[kernel_].ctas();
  }
  const std::size_t next = next_kernel();
  if (next == kernels_.size()) return finish();
  take_down(policy_->at_kernel_end({kernel_, kernel_end_, kernel_counts_}), kernel_end_);
  if (sampler_ != nullptr) skipped_ = curtailed_ ? kernel_ : kernel_ + 1;
  kernel_ = next;
  prepare_kernel(kernel_end_ + config_.control.launch_latency_cycles);
}

void Controller::on_limit() {
  if (finishing_) return;
  if (queue_.now() == kCycleLimit)
    throw SimulationError(
        fmt::format("the run has come to cycle {}, and no time behind it can be kept; end it before with --max-cycles, or "
                    "give a shorter workload or shorter latencies (control.launch_latency_cycles)",
                    kCycleLimit));
  // The chips go on until word has come to them, and count until then.
  result_.complete = false, result_.cycles = queue_.now() + config_.control.latency_cycles;
  finish();
}

void Controller::finish() {
  finishing_ = true, limit_ = kNever;  // a limit that was not reached leaves no trace in the digest
  for (LpId chip = 0; chip < config_.chips; ++chip) tell(chip, 0, ControlKind::finish, EmptyBody{});
}

// ---- Page homes ----

/// Reports of first touches are sent for all cycles before a common one and arrive one control latency later.
void Controller::settle() {
  std::vector<FirstTouch::Answer> answers;
  first_touch_.settle(queue_.now() - config_.control.latency_cycles, answers);
  std::vector<PageHomesBody> to(config_.chips);
  for (const auto& a : answers) to[a.chip].homes.emplace_back(a.page.value, a.home);
  for (LpId chip = 0; chip < config_.chips; ++chip) {
    if (!to[chip].homes.empty()) tell(chip, 0, ControlKind::page_homes, to[chip]);
  }
}

// ---- Counters ----

void Controller::on_sample(LpId chip, const SampleBody& body) {
  const Cycle end = body.end;
  auto& [count, sample] = open_samples_[end];
  sample.end = end;
  sample.chips.resize(config_.chips);
  copy_counters(body.counters, sample.chips[chip]);
  if (live_) take_look(chip, body.look);
  ctas_done_ += sample.chips[chip][Counter::ctas];
  requests_ += sample.chips[chip][Counter::requests_local] + sample.chips[chip][Counter::requests_remote];
  if (moved(sample.chips[chip])) last_move_ = std::max(last_move_, end), patient_until_ = 0;
  if (++count < config_.chips) return;
  if (finishing_ && end > result_.cycles) return;  // until they hear of the end, chips go on: see on_report()
  const ProgressState so_far{kernel_ + 1, kernels_.size(), end, ctas_done_ + ctas_skipped_, ctas_total_, requests_};
  if (live_) live_({so_far, sample.chips, looks_, result_.kernels, result_.decisions, modes_});
  if (rate_) watch_rate(end, sample);
  keep_sample(std::move(sample));
  open_samples_.erase(end);
  if (progress_) progress_(so_far);
  watch(end);
}

/// A sample that a checkpoint kept may be of a run that nobody watched.
void Controller::take_look(LpId chip, const std::vector<std::uint64_t>& look) {
  looks_.resize(config_.chips);
  if (look.empty()) return;
  require_course(look.size() > 4 && look[1] < kSpans);
  auto census = unflatten({look.begin() + 4, look.end()}, config_.chips);
  require_course(census.size() == 1);
  looks_[chip] = {look[0], static_cast<Span>(look[1]), look[2], look[3], std::move(census[0])};
}

namespace {
/// `later` follows at once: together they are one sample of a longer period.
void join(Sample& sample, const Sample& later) {
  sample.end = later.end;
  for (std::size_t chip = 0; chip < sample.chips.size(); ++chip) sample.chips[chip] += later.chips[chip];
}
}  // namespace

/// A run of any length keeps a bounded number: chips go on sampling as before, and nothing simulated depends on it.
void Controller::keep_sample(Sample&& sample) {
  std::vector<Sample>& kept = result_.samples;
  if (in_last_ % periods_ != 0) {
    join(kept.back(), sample);
    ++in_last_;
    return;
  }
  if (kept.size() >= config_.control.max_samples) {
    const std::size_t half = kept.size() / 2;
    for (std::size_t i = 0; i < half; ++i) {
      join(kept[2 * i], kept[2 * i + 1]);
      if (i != 0) kept[i] = std::move(kept[2 * i]);
    }
    const bool odd = kept.size() % 2 != 0;
    if (odd) kept[half] = std::move(kept.back());
    kept.resize(half + odd);
    periods_ *= 2;
    if (odd) {  // the last is as long as the others were: half of one now
      join(kept.back(), sample);
      in_last_ = periods_ / 2 + 1;
      return;
    }
  }
  kept.push_back(std::move(sample));
  in_last_ = 1;
}

/// Ends a launch early whose rate is stable: its CTAs that have not begun are extrapolated.
void Controller::watch_rate(Cycle end, const Sample& sample) {
  if (!running_ || changing_ || curtailed_) return;
  const Cycle begin = end - config_.control.sample_cycles;
  if (end <= result_.kernels[kernel_].started) return;  // of the time before
  curtailed_ = rate_->add(config_.control.sample_cycles, sample.chips, begin >= modes_since_);
  for (LpId chip = 0; curtailed_ && chip < config_.chips; ++chip) tell(chip, 0, ControlKind::curtail, EmptyBody{});
}

/// Requests are outstanding but no counter of any chip has moved for long: asks the chips who waits for whom.
void Controller::watch(Cycle end) {
  const Cycle since = std::max(last_move_, patient_until_);
  // What is on a wire is no chip's event to come: between chips, or four round trips to the controller for a change of role.
  const Cycle patience =
      std::max<Cycle>({config_.control.deadlock_cycles, longest_wire_, Cycle{8} * config_.control.latency_cycles});
  if (!running_ || finishing_ || asked_at_move_ != kNever || end < since + patience) return;
  asked_at_move_ = last_move_;
  for (LpId chip = 0; chip < config_.chips; ++chip) tell(chip, 0, ControlKind::status_request, EmptyBody{});
}

void Controller::on_status(LpId chip, StatusBody answer) {
  status_[chip] = std::move(answer.text);
  next_of_chips_ = std::min(next_of_chips_, answer.next);
  if (status_.size() < config_.chips) return;
  const auto answers = std::exchange(status_, {});
  const Cycle next = std::exchange(next_of_chips_, kNever);
  const bool moved = last_move_ != std::exchange(asked_at_move_, kNever);
  if (!running_ || finishing_ || moved) return;  // it was only slow
  if (next != kNever && patient_until_ == 0) {   // a long instruction, or a packet on a slow wire: what comes of it?
    patient_until_ = next;
    return;
  }
  std::string report =
      fmt::format("deadlock: nothing has moved since cycle {} in kernel {} ({}); control.deadlock_cycles = {}\n", last_move_,
                  kernel_, kernels_[kernel_].name, config_.control.deadlock_cycles);
  for (const auto& [c, t] : answers) report += fmt::format("chip {}:\n{}", c, t.empty() ? "nothing outstanding\n" : t);
  throw SimulationError(report);
}

void Controller::on_report(LpId chip, const ChipReportBody& r) {
  ChipResult& c = result_.chips[chip];
  copy_counters(r.counters, c.totals);
  if (result_.complete && sampler_ != nullptr) {
    copy_counters(r.late, late_counts_[chip]);
    sampler_->add_late(late_counts_[chip]);
  }
  const std::size_t slices = config_.llc.slices, channels = config_.dram.channels;
  require_course(r.slice_accesses.size() == slices && r.slice_hits.size() == slices && r.slice_requests.size() == slices &&
                 r.slice_queue_cycles.size() == slices && r.slice_miss_cycles.size() == slices &&
                 r.channel_reads.size() == channels && r.channel_writes.size() == channels &&
                 r.latency.size() == kOrigins * kLatencyBuckets);
  c.slice_accesses = r.slice_accesses, c.slice_hits = r.slice_hits, c.slice_requests = r.slice_requests;
  c.slice_queue_cycles = r.slice_queue_cycles, c.slice_miss_cycles = r.slice_miss_cycles;
  c.channel_reads = r.channel_reads, c.channel_writes = r.channel_writes;
  for (std::size_t i = 0; i < r.latency.size(); ++i) c.latency[i / kLatencyBuckets][i % kLatencyBuckets] = r.latency[i];
  census_[chip] = unflatten(r.census, config_.chips);
  structures_[chip] = unflatten_structures(r.structures, r.structure_homes);
  if (++reports_ < config_.chips) return;
  // What caches held after the end is no part of the run.
  for (auto after = open_samples_.upper_bound(result_.cycles); after != open_samples_.end(); ++after)
    for (std::size_t k = 0; k < result_.chips.size(); ++k)
      for (const Counter held : kHeldLines) result_.chips[k].totals[held] -= after->second.second.chips[k][held];
  // What happened after the last sample before the end forms the last one, so that the series add up to the totals.
  std::vector<Sample>& kept = result_.samples;
  if (!kept.empty() && kept.back().end == result_.cycles) kept.pop_back();
  Sample rest{result_.cycles, {}};
  for (const ChipResult& chip_result : result_.chips) {
    Counters left = chip_result.totals;
    for (const Sample& s : kept) left = left - s.chips[rest.chips.size()];
    rest.chips.push_back(left);
  }
  if (kept.size() < config_.control.max_samples)
    kept.push_back(std::move(rest));
  else
    join(kept.back(), rest);
}

}  // namespace atl
