#include <algorithm>

#include "core/chip/chip.hpp"

// What a chip tells of itself: samples, its report at the end, whether it is at rest and what it waits for.
namespace atl {

void Chip::send_sample() {
  if (phase_ == Phase::stopped) return;
  for (const LlcSlice& s : llc()) {
    c_.count[Counter::llc_local_lines] += s.local_lines();
    c_.count[Counter::llc_remote_lines] += s.remote_lines();
  }
  for (const LlcSlice& s : l2()) {
    c_.count[Counter::l2_local_lines] += s.local_lines();
    c_.count[Counter::l2_remote_lines] += s.remote_lines();
  }
  add_up_counters(), links_.count_busiest();
  const Counters d = c_.count - sampled_;
  sampled_ = c_.count;
  tell_controller(ControlKind::sample, SampleBody{c_.now(), {d.value.begin(), d.value.end()}, look()});
  schedule_for_all(c_.now() + c_.machine.config.control.sample_cycles, {{}, 0, EventKind::sample});
}

ChipReportBody Chip::report() {
  add_up_counters(), links_.count_busiest();
  enter_span(Span::idle), end_census();
  ChipReportBody r;
  r.census = flatten(std::move(census_));
  r.structures = flatten(c_.structures.log()), r.structure_homes = c_.structures.log().homes.size();
  const Counters late = c_.count - at_kernel_end_;
  r.late.assign(late.value.begin(), late.value.end());
  r.counters.assign(c_.count.value.begin(), c_.count.value.end());
  for (const LlcSlice& s : llc()) {
    r.slice_accesses.push_back(s.accesses()), r.slice_hits.push_back(s.hits()), r.slice_requests.push_back(s.requests());
    r.slice_queue_cycles.push_back(s.queue_cycles()), r.slice_miss_cycles.push_back(s.miss_cycles());
  }
  for (const DramChannel& d : channels_) r.channel_reads.push_back(d.reads()), r.channel_writes.push_back(d.writes());
  for (const auto& origin : latency_) r.latency.insert(r.latency.end(), origin.begin(), origin.end());
  return r;
}

bool Chip::drained() const {
  const auto home = [](const auto& part) { return part.credits_home(); };
  return status().empty() && cluster_.idle() && requests_.credits_home() && responses_.credits_home() &&
         links_.credits_home() && std::all_of(slices_.begin(), slices_.end(), home) &&
         std::all_of(channels_.begin(), channels_.end(), home);
}

std::string Chip::status() const {
  std::string text;
  for (const Sm& s : sms_) {
    if (const std::string t = s.describe_stall(); !t.empty()) text += t + "\n";
  }
  text += cluster_.describe_stall();
  text += requests_.describe_stall();
  for (const LlcSlice& s : slices_) text += s.describe_stall();
  for (const DramChannel& d : channels_) text += d.describe_stall();
  return text + links_.describe_stall();
}

/// The next event, but for those that come whether anything moves or not.
Cycle Chip::next_of_itself() const {
  Cycle next = links_.next_sent();
  const auto look = [&next](Cycle at, const Event& e) {
    if (e.kind != EventKind::control && e.kind != EventKind::sample && e.kind != EventKind::epoch) next = std::min(next, at);
  };
  c_.queue.for_each(look);
  if (parted())
    for (const HalfQueue* q : {&halves_->cores.queue, &halves_->uncore.queue, &halves_->arrivals})
      q->for_each([&](Cycle at, const StampedEvent& e) { look(at, e.event); });
  return next;
}

}  // namespace atl
