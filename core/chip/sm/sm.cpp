#include "core/chip/sm/sm.hpp"

#include <algorithm>
#include <bit>

#include "core/chip/noc/request_network.hpp"
#include "core/engine/prefetch.hpp"

namespace atl {

Sm::Sm(Context& c, RequestNetwork& network, std::uint16_t id)
    : c_(c),
      network_(network),
      id_(id),
      local_(c.machine.config, c.chip, id),
      l1_(c.machine),
      warp_(c.machine.config.sm.warps),
      scheduler_(c.machine.config.sm.schedulers) {
  // A scheduler's greedy warp is one of its own, from the start.
  for (std::uint32_t s = 0; s < scheduler_.size(); ++s) scheduler_[s].last = s;
}

// ---- CTAs ----

void Sm::begin_kernel(std::uint32_t warps_per_cta) {
  warps_per_cta_ = warps_per_cta;
  const std::size_t slots = std::min<std::size_t>(c_.machine.config.sm.ctas, warp_.size() / warps_per_cta);
  if (cta_.size() < slots) cta_.resize(slots), code_.resize(slots);
  l1_.invalidate_all();  // software coherence: an acquire at kernel start (SAC section 2.1)
}

CtaProgram& Sm::next_program() {
  loading_ = 0;
  while (cta_[loading_].live_warps != 0) ++loading_;
  return cta_[loading_].program;
}

void Sm::start_cta(std::uint64_t number) {
  CtaSlot& cta = cta_[loading_];
  locate_code(loading_);
  cta.cta = number;
  cta.at_barrier = cta.draining = 0;
  ++resident_;
  for (std::uint32_t i = 0; i < cta.program.warps.size(); ++i) {
    const WarpOps ops = cta.program.warps[i];
    if (ops.count == 0) continue;
    const std::uint32_t id = loading_ * warps_per_cta_ + i;
    Warp& w = warp_[id];
    w = {};
    w.op = ops.first;
    w.cta = static_cast<std::uint8_t>(loading_);
    look_at_op(w);
    w.age = next_age_++;
    w.live = true;
    w.ready_at = static_cast<std::uint32_t>(c_.now() + 1);
    ++cta.live_warps;
    c_.schedule(c_.now() + 1, EventKind::warp_ready, id_, id);
  }
  if (cta.live_warps == 0) --resident_, ++finished_;
}

void Sm::locate_code(std::uint32_t slot) {
  const CtaProgram& program = cta_[slot].program;
  code_[slot] = {program.ops.data(), program.accesses.data(), program.accesses.size()};
}

// ---- Issue ----

void Sm::on_warp_ready(std::uint32_t warp) {
  const std::uint32_t s = scheduler_of(warp);
  scheduler_[s].ready |= std::uint64_t{1} << warp;
  try_issue(s);
}

void Sm::on_issue(std::uint32_t scheduler) {
  scheduler_[scheduler].timed = false;
  try_issue(scheduler);
}

void Sm::try_issue(std::uint32_t s) {
  Scheduler& scheduler = scheduler_[s];
  if (scheduler.ready == 0) return;
  if (scheduler.free_at <= c_.now()) {
    if (greedy_comes(scheduler)) return;
    const std::uint32_t warp = pick(scheduler);
    scheduler.ready &= ~(std::uint64_t{1} << warp);
    scheduler.last = warp;
    const Op& op = op_of(warp_[warp]);
    const std::uint32_t slots = op.kind == OpKind::compute ? op.issue : 1;
    scheduler.free_at = c_.now() + slots;
    c_.count[Counter::warp_instructions] += slots;
    c_.count[Counter::sm_issue_busy] += slots;
    execute(warp);
  }
  if (scheduler.ready != 0) c_.call_once(scheduler.timed, scheduler.free_at, EventKind::issue, id_, s);
}

/// GTO: the warp issued last becomes ready in this very cycle, but by an event that is still to come, and will issue then.
bool Sm::greedy_comes(const Scheduler& s) const {
  if (c_.machine.config.sm.scheduler != WarpScheduler::gto || (s.ready >> s.last & 1) != 0) return false;
  const Warp& w = warp_[s.last];
  return w.live && !w.waiting && !w.at_barrier && w.ready_at == static_cast<std::uint32_t>(c_.now());
}

std::uint32_t Sm::pick(const Scheduler& s) const {
  switch (c_.machine.config.sm.scheduler) {
    case WarpScheduler::lrr: {
      const std::uint64_t after = s.last == 63 ? 0 : s.ready & (~std::uint64_t{0} << (s.last + 1));
      return static_cast<std::uint32_t>(std::countr_zero(after != 0 ? after : s.ready));
    }
    case WarpScheduler::gto:
      return (s.ready >> s.last & 1) != 0 ? s.last : oldest(s);
  }
  return oldest(s);
}

std::uint32_t Sm::oldest(const Scheduler& s) const {
  std::uint32_t best = 0, best_age = ~0u;
  for (std::uint64_t rest = s.ready; rest != 0; rest &= rest - 1) {
    const auto w = static_cast<std::uint32_t>(std::countr_zero(rest));
    if (warp_[w].age < best_age) best = w, best_age = warp_[w].age;
  }
  return best;
}

void Sm::execute(std::uint32_t warp) {
  const Op& op = op_of(warp_[warp]);
  switch (op.kind) {
    case OpKind::compute:
      return advance(warp, c_.now() + std::max(op.issue, op.latency));
    case OpKind::load:
    case OpKind::store:
    case OpKind::atomic:
      lsu_.push(static_cast<std::uint8_t>(warp));
      if (lsu_.size() == 1) run_load_store_unit();
      return;
    case OpKind::shared:
      return shared_access(warp, op);
    case OpKind::barrier:
      return barrier(warp);
    case OpKind::exit:
      return exit_warp(warp);
  }
}

void Sm::look_at_op(Warp& w) {
  const Op& op = op_of(w);
  w.wait = op.kind == OpKind::exit ? ~0u : op.wait;
  w.access = op.first_access;
  prefetch_address(&op + 1);
  prefetch_address(code_[w.cta].accesses + w.access);
}

/// The warp's next op may issue at `at`, if nothing it waits for is still under way.
void Sm::advance(std::uint32_t warp, Cycle at) {
  Warp& w = warp_[warp];
  ++w.op;
  w.ready_at = static_cast<std::uint32_t>(at);
  look_at_op(w);
  if ((w.wait & w.busy) != 0) {
    w.waiting = true;
  } else {
    c_.schedule(at, EventKind::warp_ready, id_, warp);
  }
}

void Sm::wake(std::uint32_t warp) {
  Warp& w = warp_[warp];
  w.waiting = false;
  const auto ahead = static_cast<std::int32_t>(w.ready_at - static_cast<std::uint32_t>(c_.now()));
  // Not issued from here even if it could be: by the time the event is handled, its op and accesses are in the host's cache.
  prefetch_op(w);
  c_.schedule(c_.now() + static_cast<Cycle>(std::max(ahead, 0)), EventKind::warp_ready, id_, warp);
}

/// An access whose result a slot of the scoreboard waits for, if the op has one.
void Sm::part_begins(std::uint32_t warp, std::uint32_t slot) {
  if (slot == kNoSlot) return;
  Warp& w = warp_[warp];
  w.busy |= 1u << slot;
  ++w.outstanding[slot];
}

void Sm::part_done(std::uint32_t warp, std::uint32_t slot) {
  if (slot == kNoSlot) return;
  Warp& w = warp_[warp];
  if (--w.outstanding[slot] != 0) return;
  w.busy &= ~(1u << slot);
  if (w.waiting && (w.wait & w.busy) == 0) wake(warp);
}

void Sm::part_done_at(Cycle at, std::uint8_t warp, std::uint32_t slot) {
  Event e{{}, id_, EventKind::access_done, warp};
  e.packet.token = slot;
  c_.schedule(at, e);
}

/// Shared memory answers after its latency; an access with bank conflicts takes one pass each, and accesses of the SM
/// queue for the one unit.
void Sm::shared_access(std::uint32_t warp, const Op& op) {
  const Cycle start = std::max(c_.now(), shared_free_);
  shared_free_ = start + op.issue;
  if (op.slot != kNoSlot) {
    part_begins(warp, op.slot);
    part_done_at(start + op.issue - 1 + c_.machine.config.sm.shared_latency_cycles, static_cast<std::uint8_t>(warp),
                 op.slot);
  }
  advance(warp, c_.now() + std::max<std::uint32_t>(1, op.latency));
}

void Sm::barrier(std::uint32_t warp) {
  Warp& w = warp_[warp];
  CtaSlot& cta = cta_[w.cta];
  w.at_barrier = true;
  w.ready_at = static_cast<std::uint32_t>(c_.now()) + std::max<std::uint32_t>(1, op_of(w).latency);
  if (++cta.at_barrier == cta.live_warps - cta.draining) release_barrier(cta, w.cta);
}

void Sm::release_barrier(CtaSlot& cta, std::uint32_t slot) {
  cta.at_barrier = 0;
  for (std::uint32_t i = 0; i < warps_per_cta_; ++i) {
    const std::uint32_t id = slot * warps_per_cta_ + i;
    Warp& w = warp_[id];
    if (!w.live || !w.at_barrier) continue;
    w.at_barrier = false;
    // What the next op needs may come later than the last warp, by the barrier's own latency.
    const auto ahead = static_cast<std::int32_t>(w.ready_at - static_cast<std::uint32_t>(c_.now()));
    advance(id, c_.now() + static_cast<Cycle>(std::max(ahead, 1)));
  }
}

void Sm::exit_warp(std::uint32_t warp) {
  Warp& w = warp_[warp];
  CtaSlot& cta = cta_[w.cta];
  if (w.stores == 0) return leave(warp);
  w.waiting = true;
  ++cta.draining;
  if (cta.at_barrier != 0 && cta.at_barrier == cta.live_warps - cta.draining) release_barrier(cta, w.cta);
}

void Sm::leave(std::uint32_t warp) {
  Warp& w = warp_[warp];
  CtaSlot& cta = cta_[w.cta];
  w.live = false;
  if (--cta.live_warps == 0) {
    --resident_, ++finished_;
    c_.schedule(c_.now(), EventKind::dispatch, 0);
  } else if (cta.at_barrier != 0 && cta.at_barrier == cta.live_warps - cta.draining) {
    release_barrier(cta, w.cta);  // those who wait no longer wait for this one
  }
}

/// A store or atomic that nothing but the warp's end waits for. A warp that has come to its exit may wait for a result
/// still, and has not issued it then.
void Sm::on_store_done(std::uint32_t warp) {
  Warp& w = warp_[warp];
  if (--w.stores != 0 || !w.waiting || w.busy != 0 || op_of(w).kind != OpKind::exit) return;
  w.waiting = false;
  --cta_[w.cta].draining;
  leave(warp);
}

/// An op takes a cycle at least, whatever it finds: a load may join a miss whose data come in the next.
Cycle Sm::least_time_left(std::uint32_t warp, Cycle enough) const {
  const Warp& w = warp_[warp];
  if (!w.live) return 0;
  const CtaProgram& program = cta_[w.cta].program;
  const WarpOps& all = program.warps[warp - w.cta * warps_per_cta_];
  const Op *op = program.ops.data() + w.op, *exit = program.ops.data() + all.first + all.count - 1;
  Cycle least = static_cast<Cycle>(exit - op);
  for (; least < enough && op < exit; ++op) {
    if (op->kind != OpKind::barrier) least += std::max<Cycle>({1, op->issue, op->latency}) - 1;
  }
  return least;
}

void Sm::prefetch_op(const Warp& w) const {
  const CtaCode& code = code_[w.cta];
  prefetch_address(code.ops + w.op);
  prefetch_address(code.accesses + w.access);
}

void Sm::prefetch(std::uint32_t warp) const {
  const Warp& w = warp_[warp];
  const CtaCode& code = code_[w.cta];
  if (w.access >= code.access_count) return;
  const Machine& m = c_.machine;
  const std::uint32_t parts = Access::kSectors / m.line_sectors;
  const LineAddr line{code.accesses[w.access].block() * parts};
  l1_.prefetch(line);
  network_.mmu().prefetch(line);
}

}  // namespace atl
