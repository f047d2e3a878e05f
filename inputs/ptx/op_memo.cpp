#include "inputs/ptx/op_memo.hpp"

#include <utility>

namespace atl::ptx {
namespace {

constexpr std::uint64_t kMostKept = 4u << 20;  // bytes
constexpr unsigned kMostTried = 8;             // of steps that came after the same one

/// It matters whether any lane executes an instruction, but not which.
bool same(std::span<const WarpEvent> a, std::span<const WarpEvent> b) {
  constexpr std::size_t kPiece = 64;
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size();) {
    const std::size_t end = std::min(i + kPiece, a.size());
    std::uint32_t differs = 0;  // no early exit: the loop becomes vector code
    for (; i < end; ++i) differs |= (a[i].id ^ b[i].id) | static_cast<std::uint32_t>((a[i].mask == 0) != (b[i].mask == 0));
    if (differs != 0) return false;
  }
  return true;
}

}  // namespace

void OpMemo::reset(WarpTimeline::State begin) {
  clear();
  start_.after = std::move(begin);
}

void OpMemo::clear() {
  for (Step* step = made_.exchange(nullptr); step != nullptr;) delete std::exchange(step, step->made_before);
  start_.next = nullptr;
  kept_ = 0;
}

const OpMemo::Step* OpMemo::find(const Step& step, std::span<const WarpEvent> events) const {
  unsigned tried = 0;
  for (const Step* next = step.next.load(std::memory_order_acquire); next != nullptr && tried < kMostTried;
       next = next->sibling, ++tried)
    if (same(next->events, events)) return next;
  return nullptr;
}

const OpMemo::Step* OpMemo::add(const Step& step, std::span<const WarpEvent> events, std::span<const atl::Op> ops,
                                std::span<const Item> items, const WarpTimeline::State& after) {
  if (kept_.load(std::memory_order_relaxed) > kMostKept) return nullptr;
  kept_.fetch_add(sizeof(Step) + events.size_bytes() + ops.size_bytes() + items.size_bytes() + after.bytes(),
                  std::memory_order_relaxed);
  auto made = std::make_unique<Step>();
  made->events.assign(events.begin(), events.end());
  made->ops.assign(ops.begin(), ops.end());
  made->items.assign(items.begin(), items.end());
  made->after = after;
  Step* const added = made.release();
  added->made_before = made_.load(std::memory_order_relaxed);
  while (!made_.compare_exchange_weak(added->made_before, added, std::memory_order_release)) {
  }
  // Only links change of a step that others see.
  std::atomic<Step*>& first = const_cast<Step&>(step).next;
  added->sibling = first.load(std::memory_order_relaxed);
  while (!first.compare_exchange_weak(added->sibling, added, std::memory_order_release)) {
  }
  return added;
}

}  // namespace atl::ptx
