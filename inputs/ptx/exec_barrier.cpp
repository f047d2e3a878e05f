#include "inputs/ptx/access_check.hpp"
#include "inputs/ptx/exec_cta.hpp"
#include "inputs/ptx/exec_decoder.hpp"

/// Barriers of a CTA count threads, as GPUs since Volta do. A warp that arrives with a part of its lanes is split: the
/// others run on and may arrive elsewhere.
namespace atl::ptx::exec {
namespace {

void vote_at(Warp& w, const Inst& i, Barrier& b) {
  const std::uint32_t p = i.count ? ~predicate(w, i.src[2]) : predicate(w, i.src[2]);
  b.ones += static_cast<std::uint32_t>(std::popcount(p & w.active));
  b.voters += static_cast<std::uint32_t>(std::popcount(w.active));
}

bool reduces(Mode mode) { return mode == Mode::and_ || mode == Mode::or_ || mode == Mode::popc; }

/// Whether another part of the warp waits at this instruction of this barrier.
bool waits_there(const Cta& cta, const Barrier& b, std::uint32_t warp, const Inst& i) {
  return std::ranges::any_of(b.waiters, [&](const Barrier::Waiter& waiter) {
    return waiter.instruction == &i && cta.warps[waiter.warp]->number == warp;
  });
}

/// It has executed the barrier with another part of its warp, which is recorded: the barrier's other warps come once as
/// well.
void take_back(Warp& w) {
  --w.executed;
  if (w.recorder != nullptr) w.events.pop_back();
}

void arrive(Warp& w, const Inst& i) {
  Cta& cta = *w.cta;
  const auto lane = static_cast<unsigned>(std::countr_zero(w.active));
  const std::uint32_t number = w.at<std::uint32_t>(i.src[0])[lane];
  const std::uint32_t threads = w.at<std::uint32_t>(i.src[1])[lane];
  if (number >= cta.barriers.size())
    throw Fault{ExecutionError::Kind::unsupported, lane,
                "barrier " + std::to_string(number) + " does not exist: there are 16"};
  const auto mode = static_cast<Mode>(i.option);
  if (mode != Mode::arrive && w.active != w.alive) split_off(w, w.active);
  Barrier& b = cta.barriers[number];
  b.expected = threads;
  // A counted barrier counts whole warps, even if some of their threads never existed or have exited.
  const bool whole = threads != 0 && w.whole && w.active == w.alive;
  b.arrived += whole ? kLanes : static_cast<std::uint32_t>(std::popcount(w.active));
  if (cta.races != nullptr) cta.races->arrive(w.number, number);
  if (mode != Mode::arrive) {
    if (!w.whole && waits_there(cta, b, w.number, i)) take_back(w);
    if (reduces(mode)) vote_at(w, i, b);
    b.waiters.push_back({w.slot, &i, w.active});
    w.state = WarpState::at_barrier;
    w.budget = 0;
  }
  check_barrier(cta, b);
}

/// What the arrived did before comes before what the waiting do from now on.
void order_accesses(Cta& cta, const Barrier& b) {
  std::uint32_t waiting = 0, gone = 0;
  for (const Barrier::Waiter& waiter : b.waiters) waiting |= 1u << cta.warps[waiter.warp]->number;
  for (const auto& w : cta.warps)  // a counted barrier waits for arrivals only
    if (b.expected == 0) gone |= (w->state == WarpState::done ? 1u : 0u) << w->number;
  cta.races->release(static_cast<std::uint32_t>(&b - cta.barriers.data()), waiting, gone);
}

/// Of warps that came in parts to a barrier for whole warps: lanes that came to it by another instruction, or not at all.
void report_apart(Cta& cta, const Barrier& b, AccessCheck& check) {
  std::uint32_t seen = 0;
  for (const Barrier::Waiter& first : b.waiters) {
    Warp& w = *cta.warps[first.warp];
    if (w.whole || (seen >> w.number & 1) != 0) continue;
    seen |= 1u << w.number;
    std::uint32_t here = 0;
    for (const Barrier::Waiter& waiter : b.waiters)
      if (cta.warps[waiter.warp]->number == w.number && waiter.instruction == first.instruction) here |= waiter.mask;
    if (const std::uint32_t others = living(w) & ~here; others != 0) check.apart(w, others);
  }
}

/// Parts of a warp that waited at the same instruction go on as one.
void rejoin(Cta& cta, const Barrier& b) {
  for (std::size_t n = 1; n < b.waiters.size(); ++n) {
    Warp& later = *cta.warps[b.waiters[n].warp];
    if (later.whole) continue;
    for (std::size_t before = 0; before < n; ++before) {
      Warp& w = *cta.warps[b.waiters[before].warp];
      if (w.number != later.number || w.state != WarpState::ready ||
          b.waiters[before].instruction != b.waiters[n].instruction)
        continue;
      flush_events(later);
      if (merge(w, later)) break;
    }
  }
}

}  // namespace

void check_barrier(Cta& cta, Barrier& b) {
  if (b.waiters.empty() || b.arrived < (b.expected != 0 ? b.expected : cta.alive)) return;
  if (cta.races != nullptr) order_accesses(cta, b);
  if (AccessCheck* const check = cta.warps[b.waiters[0].warp]->launch->spec->check; check != nullptr)
    report_apart(cta, b, *check);
  ++cta.view.epoch;
  for (std::size_t n = 0; n < b.waiters.size(); ++n) {
    const Barrier::Waiter& waiter = b.waiters[n];
    Warp& w = *cta.warps[waiter.warp];
    w.state = WarpState::ready, w.first_turns = turns_after_barrier(w);
    const auto mode = static_cast<Mode>(waiter.instruction->option);
    if (!reduces(mode)) continue;
    w.active = waiter.mask;
    const std::uint32_t ones = b.ones;
    const bool holds = mode == Mode::and_ ? b.ones == b.voters : b.ones != 0;
    if (mode == Mode::popc)
      each_lane<std::uint32_t>(w, waiter.instruction->dst[0], [=](unsigned) { return ones; });
    else
      set_predicate(w, waiter.instruction->dst[0], holds ? kFullMask : 0);
  }
  rejoin(cta, b);
  b.waiters.clear();
  b.arrived = b.expected = b.ones = b.voters = 0;
}

bool decode_barrier(Decoder& d) {
  const Instruction& in = *d.in;
  Inst& out = *d.out;
  if (in.op != Op::bar || in.mode == Mode::warp_sync || in.scope == Scope::cluster) return false;
  out.run = &arrive;
  out.option = static_cast<std::uint8_t>(in.mode);
  d.take(0, Type::u32);
  // The thread count may be left out before the predicate.
  const bool counted = !in.src[1].is(Operand::none) && (!reduces(in.mode) || !in.src[2].is(Operand::none));
  out.src[1] = counted ? d.source(in.src[1], Type::u32) : d.constant(0, 4);
  if (reduces(in.mode)) {
    const Operand& vote = in.src[2].is(Operand::none) ? in.src[1] : in.src[2];
    out.src[2] = d.source(vote, Type::pred);
    out.count = vote.negated;
    d.give(0, in.mode == Mode::popc ? Type::u32 : Type::pred);
  }
  return true;
}

}  // namespace atl::ptx::exec
