#include "core/chip/chip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace atl {

Chip::Chip(const Machine& machine, LpId id, std::vector<Edge> edges, Workload& workload, const ChipThreads& threads)
    : LogicalProcess(id, std::move(edges)),
      c_{.machine = machine, .chip = static_cast<std::uint8_t>(id)},
      uncore_(threads.count > 1 && can_halve(machine) ? std::make_optional<Context>(Context{machine, c_.chip})
                                                      : std::nullopt),
      workload_(&workload),
      hints_lanes_(machine.config.chips > 8),
      links_(c_, outbox()),
      requests_(c_, links_.directions()),
      responses_(uncore()),
      cluster_(c_, requests_),
      dispatcher_(machine.config.partition.cta_to_sm, machine.config.sm.count, machine.config.noc.sms_per_cluster,
                  machine.config.partition.bcs_block),
      free_slots_(machine.config.sm.count) {
  c_.structures = StructureCounter(workload.structures(), machine.config.line_bytes, machine.config.chips, c_.chip);
  const SystemConfig& config = machine.config;
  sms_.reserve(config.sm.count), channels_.reserve(config.dram.channels);
  for (std::uint16_t i = 0; i < config.sm.count; ++i) sms_.emplace_back(c_, requests_, i);
  const std::uint32_t slices = config.llc.slices + config.l2.slices;
  slices_.reserve(slices);
  for (std::uint32_t i = 0; i < slices; ++i)
    slices_.emplace_back(uncore(), slice_packets_, static_cast<std::uint16_t>(i), links_.directions());
  for (std::uint16_t i = 0; i < config.dram.channels; ++i) channels_.emplace_back(uncore(), i);
  cluster_.connect(sms_);
  requests_.connect(slices_, links_);
  links_.connect(slices_, responses_);
  if (machine.home_directory) agent_.emplace(uncore()).connect(slices_);
  for (LlcSlice& s : slices_) s.connect(channels_, links_, responses_, agent_ ? &*agent_ : nullptr);
  if (machine.has_l2) {
    for (LlcSlice& s : llc()) s.connect(l2().data());
    for (LlcSlice& s : l2()) s.connect(llc().data());
  }
  if (uncore_) halves_.emplace(machine.port_to_slice, threads.always, workload), part_halves();
}

// ---- Events ----

void Chip::run_until(Cycle end) {
  if (phase_ == Phase::stopped) return parted() ? halves_->clear() : c_.queue.clear();
  while (census_schedule_.next() < end) {
    run_events(census_schedule_.next());
    take_census(end);
  }
  run_events(end);
}

void Chip::run_events(Cycle end) {
  if (halves_) return run_halves(end);
  c_.queue.run_until(
      end, [this](Cycle at, const Event& e) { on_event(at, e); }, [this](const Event& next) { prefetch(next); });
}

void Chip::on_event(Cycle at, const Event& e) {
  if (c_.observer != nullptr) [[unlikely]] {
    if (e.kind == EventKind::lsu && e.sub == kHitsOnly) return ++uncounted_, sms_[e.index].catch_up();
    c_.observer->on_event(c_, e);
  }
  digest_.add(hash_of(at, e));
  handle(e);
  if (change_ != Change::none) [[unlikely]] {
    advance_change();
  } else if (phase_ >= Phase::draining) [[unlikely]] {
    advance_phase();
  }
}

/// A chip's state is larger than the host's caches, and an event touches it at random places.
void Chip::prefetch(const Event& e) const {
  switch (e.kind) {
    case EventKind::warp_ready:
    case EventKind::access_done:
      return sms_[e.index].prefetch(e.sub);
    case EventKind::l1_fill:
      if (e.sub == 0) cluster_.prefetch(e.index, e.packet.line);
      return sms_[e.index].prefetch(e.packet);
    case EventKind::slice_arrive:
      if (hints_lanes_ && e.sub == LlcSlice::kFromLinks) slices_[e.index].prefetch_answer(e.packet);
      return slices_[e.index].prefetch(e.packet);
    case EventKind::dram_done:
      return slices_[e.packet.slice].prefetch(e.packet);
    case EventKind::cluster_table:
      return cluster_.prefetch(e.packet.sm, e.packet.line);
    case EventKind::egress_arrive:
    case EventKind::ingress_arrive:
      if (hints_lanes_) links_.prefetch(e.index);
      return;
    default:
      return;
  }
}

void Chip::handle(const Event& e) {
  const Packet& p = e.packet;
  switch (e.kind) {
    case EventKind::warp_ready:
      return sms_[e.index].on_warp_ready(e.sub);
    case EventKind::issue:
      return sms_[e.index].on_issue(e.sub);
    case EventKind::access_done:
      return sms_[e.index].on_access_done(e.sub, p.token);
    case EventKind::lsu:
      return sms_[e.index].on_load_store_unit();
    case EventKind::l1_fill:
      return fill_l1(e);
    case EventKind::cluster_table:
      return cluster_.on_table(e.index, p);
    case EventKind::cluster_access:
      return cluster_.on_access(e.index);
    case EventKind::cluster_miss:
      return cluster_.on_miss_at_owner(e.index, p);
    case EventKind::request_port:
      return requests_.on_port(e.index);
    case EventKind::response_port:
      return responses_.on_port(e.index);
    case EventKind::response_arrive:
      if (!uncore_) sms_[p.sm].prefetch(p);  // the fill follows in a few cycles
      responses_.on_arrive(e.index, p);
      if (responses_.routed()) slices_[p.slice].on_out();  // whose input has room again
      return;
    case EventKind::slice_arrive:
      return slices_[e.index].on_arrive(e.sub, p);
    case EventKind::slice:
      return slices_[e.index].on_look();
    case EventKind::slice_out:
      return slices_[e.index].on_out();
    case EventKind::slice_write:
      return slices_[e.index].on_write();
    case EventKind::slice_flush:
      return slices_[e.index].on_flush();
    case EventKind::slice_acks:
      return slices_[e.index].on_acknowledge();
    case EventKind::dram_pick:
      return channels_[e.index].on_pick();
    case EventKind::dram_done:
      return slices_[p.slice].on_memory(p);
    case EventKind::egress_arrive:
      return links_.on_egress_arrive(e.index, p);
    case EventKind::egress:
      return links_.on_egress(e.index);
    case EventKind::ingress_arrive:
      return links_.on_ingress_arrive(e.index, p);
    case EventKind::ingress:
      return links_.on_ingress(e.index);
    case EventKind::credits_arrive:
      return links_.on_credits(e.index, p.token);
    case EventKind::credits_send:
      return links_.on_send_credits();
    case EventKind::resume:
      return resume(e);
    case EventKind::dispatch:
      return dispatch();
    case EventKind::touch_send:
      return send_touches();
    case EventKind::control:
      return on_control(p.token);
    case EventKind::sample:
      return send_sample();
    case EventKind::epoch:
      return send_epoch(p.token);
  }
}

void Chip::resume(const Event& e) {
  switch (static_cast<WaiterKind>(e.packet.token)) {
    case WaiterKind::sm:
      return sms_[e.index].on_credit();
    case WaiterKind::mmu:
      return requests_.on_mmu_credit(e.index, e.sub);
    case WaiterKind::request_port:
      return requests_.on_credit(e.index, e.sub);
    case WaiterKind::slice_queue:
      return slices_[e.index].on_queue_credit(e.sub);
    case WaiterKind::slice_out:
      return slices_[e.index].on_out_credit(e.sub);
    case WaiterKind::slice_write:
      return slices_[e.index].on_write_credit(e.sub);
    case WaiterKind::ingress:
      return links_.on_credit(e.index);
    case WaiterKind::cluster:
      return cluster_.on_credit(std::uint32_t{e.sub} << 16 | e.index);
  }
}

void Chip::fill_l1(const Event& e) {
  const Packet& p = e.packet;
  if (p.kind == PacketKind::read_data) {
    const bool memory = p.has(kFromMemory), remote = memory ? p.home != c_.chip : p.has(kLlcRemote);
    const DataOrigin origin = e.sub != 0       ? DataOrigin::neighbour_l1
                              : p.has(kFromL2) ? DataOrigin::l2
                              : memory         ? (remote ? DataOrigin::remote_memory : DataOrigin::local_memory)
                                               : (remote ? DataOrigin::remote_llc : DataOrigin::local_llc);
    const std::uint32_t latency = static_cast<std::uint32_t>(c_.now()) - p.born;
    const auto bucket =
        std::min<std::size_t>(kLatencyBuckets - 1, static_cast<std::size_t>(std::bit_width(latency | 1u)) - 1);
    ++latency_[static_cast<std::size_t>(origin)][bucket];
    c_.structures.answer(p.line, origin, latency);
  }
  sms_[e.index].on_response(p, e.sub != 0);
}

// ---- Controller ----

void Chip::receive(const ControlMessage& message) {
  if (phase_ == Phase::stopped) return;
  Event e{{}, 0, EventKind::control};
  e.packet.token = parked_.put(message);
  schedule_for_all(message.arrival, e);
}

/// Pages are many and each has its place in large tables: the host fetches what the next ones will touch, in steps of which
/// each follows what the one before has fetched.
void Chip::learn_homes(const PageHomesBody& body) {
  const auto& homes = body.homes;
  for (const auto& [page, home] : homes) require_course(home < c_.machine.config.chips);
  const auto at = [&](std::size_t i) {
    return std::pair{PageAddr{homes[i].first}, static_cast<std::uint8_t>(homes[i].second)};
  };
  constexpr std::size_t kStep = 2;
  for (std::size_t i = 0; i < homes.size() + 3 * kStep; ++i) {
    if (i < homes.size()) requests_.mmu().prefetch_answer(at(i).first);
    if (const std::size_t k = i - kStep; k < homes.size()) requests_.mmu().prefetch_parked(at(k).first);
    if (const std::size_t k = i - 2 * kStep; k < homes.size()) requests_.prefetch(at(k).first, at(k).second);
    if (const std::size_t k = i - 3 * kStep; k < homes.size()) requests_.learn(at(k).first, at(k).second);
  }
}

void Chip::on_control(std::uint32_t parked) {
  const ControlMessage m = parked_.take(parked);
  if (phase_ == Phase::stopped) return;  // a launch, say, that was under way when the run came to its limit
  switch (static_cast<ControlKind>(m.kind)) {
    case ControlKind::launch:
      return begin_kernel(unpack<LaunchBody>(m.body));
    case ControlKind::flush:
      return flush_after_kernel();
    case ControlKind::curtail:
      return curtail();
    case ControlKind::adjust:
      return obey(unpack<ModesBody>(m.body).modes, false);
    case ControlKind::pause:
      return pause();
    case ControlKind::flush_for_change:
      return flush_for_change(unpack<ModeStepBody>(m.body).step);
    case ControlKind::resume:
      return resume_with(unpack<ModesBody>(m.body).modes);
    case ControlKind::page_homes:
      return learn_homes(unpack<PageHomesBody>(m.body));
    case ControlKind::status_request:
      return tell_controller(ControlKind::status_report, StatusBody{status(), next_of_itself()});
    case ControlKind::finish:
      tell_controller(ControlKind::chip_report, report());
      phase_ = Phase::stopped;
      return;
    default:
      throw SimulationError(fmt::format("chip {} got a control message of kind {}", id(), m.kind));
  }
}

void Chip::send_touches() {
  PageTouchesBody body;
  for (const auto& t : requests_.mmu().take_touches_before(c_.now())) body.touches.emplace_back(t.cycle, t.page.value);
  tell_controller(ControlKind::page_touches, body);
}

}  // namespace atl
