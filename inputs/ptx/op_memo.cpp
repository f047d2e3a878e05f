#include "inputs/ptx/op_memo.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace atl::ptx {
namespace {

constexpr std::uint64_t kMostKept = 4u << 20;  // bytes
constexpr unsigned kMostTried = 8;             // of steps that came after the same one

/// It matters whether any lane executes an instruction, but not which, nor how addresses lie.
bool same(std::span<const WarpEvent> a, std::span<const WarpEvent> b) {
  constexpr std::size_t kPiece = 64;
  constexpr std::uint64_t kId = (std::uint64_t{1} << 30) - 1, kMost = 0xFFFFFFFF;
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size();) {
    const std::size_t end = std::min(i + kPiece, a.size());
    std::uint64_t differs = 0;  // arithmetic on whole words, and no early exit: the loop becomes vector code
    for (; i < end; ++i) {
      std::uint64_t x = 0, y = 0;
      static_assert(sizeof(WarpEvent) == sizeof x);
      std::memcpy(&x, &a[i], sizeof x), std::memcpy(&y, &b[i], sizeof y);
      const std::uint64_t x_some = ((x >> 32) + kMost) >> 32, y_some = ((y >> 32) + kMost) >> 32;  // 1: some lane
      differs |= ((x ^ y) & kId) | (x_some ^ y_some);
    }
    if (differs != 0) return false;
  }
  return true;
}

/// As if each item in global memory had one access to whole sectors.
void assume_rows(OpMemo::Step& step) {
  std::uint32_t accesses = 0;
  std::size_t op = 0;
  for (OpMemo::Item& item : step.items) {
    for (; op <= item.op; ++op) step.ops[op].first_access = accesses;
    item.stores = step.ops[item.op].kind == OpKind::store;
    step.some_lanes |= item.place == OpMemo::Place::some_lanes;
    if (item.place != OpMemo::Place::global) continue;
    step.ops[item.op].accesses = 1;
    step.ops[item.op].flags &= static_cast<std::uint8_t>(~kPartial);
    ++accesses;
  }
  for (; op < step.ops.size(); ++op) step.ops[op].first_access = accesses;
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
  assume_rows(*made);
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
