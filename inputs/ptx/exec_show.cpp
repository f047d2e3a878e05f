#include "inputs/ptx/exec_memory.hpp"

/// What a launch's GlobalRaces hear of, and where short turns end.
namespace atl::ptx::exec {
namespace {

GlobalTouch touch_of(const Warp& w, const Inst& i, const GlobalRaces& races) {
  GlobalTouch t;
  t.cta = w.cta->number, t.epoch = w.cta->view.epoch, t.warp = w.number;
  if (races.keeps_lines()) t.line = w.frames.back().code->function->code[i.index].line;
  t.strong = (i.option & kIsStrong) != 0;
  return t;
}

constexpr std::uint64_t kZeroes[kLanes] = {};
const StoredValues kUpdated(kZeroes);  ///< by an atomic: strong writers need not agree

}  // namespace

std::uint8_t strength_of(const Instruction& in) {
  const bool ordered = in.order != Order::none && in.order != Order::weak;
  const bool orders = ordered && in.order != Order::relaxed && in.order != Order::mmio;
  const bool past_l1 = in.cache == Cache::cg || in.cache == Cache::cv || in.cache == Cache::wt;
  const bool atomic = in.op == Op::atom || in.op == Op::red;
  return static_cast<std::uint8_t>((atomic || in.has(kVolatile) || ordered || past_l1 ? kIsStrong : 0) |
                                   (orders ? kOrders : 0));
}

void show(Warp& w, const Inst& i, const Addresses& at, unsigned bytes, const StoredValues* stored) {
  if (w.launch->short_turns && at.global) w.budget = 0;
  GlobalRaces* const races = w.launch->spec->races;
  if (races == nullptr || !at.global) return;
  RaceView& view = w.cta->view;
  GlobalLanes lanes{at.host, w.active, bytes, at.spread == Spread::row && w.active == kFullMask};
  // Of lanes that read one place, or leave one value there, one is enough.
  if (at.spread == Spread::same && (stored == nullptr || stored == &kUpdated)) lanes.mask &= -lanes.mask;
  if (stored != nullptr)
    races->write(view, lanes, touch_of(w, i, *races), *stored);
  else
    races->read(view, lanes, touch_of(w, i, *races));
  if ((i.option & kOrders) != 0) races->fence(view, w.cta->number);
  if ((i.option & kIsStrong) != 0 && stored == nullptr) races->acquire(view);
}

void show_update(Warp& w, const Inst& i, const Addresses& at, unsigned bytes, std::uint32_t writers) {
  GlobalRaces* const races = w.launch->spec->races;
  if (races != nullptr && (i.option & kOrders) != 0) races->fence(w.cta->view, w.cta->number);
  const std::uint32_t active = w.active;
  if (w.active = active & ~writers; w.active != 0) show(w, i, at, bytes, nullptr);
  if (w.active = writers; w.active != 0) show(w, i, at, bytes, &kUpdated);
  w.active = active;
  if (races != nullptr) races->acquire(w.cta->view);
}

void show_fence(Warp& w, bool others) {
  if (w.cta->races != nullptr) w.cta->races->fence(w.number);
  GlobalRaces* const races = w.launch->spec->races;
  if (races == nullptr) return;
  if (others)
    races->fence(w.cta->view, w.cta->number);
  else
    ++w.cta->view.epoch;
}

}  // namespace atl::ptx::exec
