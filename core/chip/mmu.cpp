#include "core/chip/mmu.hpp"

#include <algorithm>

namespace atl {
namespace {
/// Touches of so many cycles are reported together: a streaming kernel touches a page every few cycles.
constexpr Cycle kTouchBatch = 16;
}  // namespace

void Mmu::park(const Packet& p) {
  const PageAddr page = c_.machine.page_of(p.line);
  for (Parked& known : pages_) {
    if (known.page == page) return known.requests.push(p);
  }
  pages_.push_back({page, {}});
  pages_.back().requests.push(p);
  ++c_.count[Counter::page_touches];
  if (touches_.empty()) time_report();
  touches_.push_back({c_.now(), page, c_.chip});
}

void Mmu::time_report() { c_.schedule((c_.now() / kTouchBatch + 1) * kTouchBatch, EventKind::touch_send, 0); }

std::vector<FirstTouch::Touch> Mmu::take_touches_before(Cycle end) {
  const auto later = std::partition_point(touches_.begin(), touches_.end(), [&](const auto& t) { return t.cycle < end; });
  std::vector<FirstTouch::Touch> taken(touches_.begin(), later);
  touches_.erase(touches_.begin(), later);
  if (!touches_.empty()) time_report();
  return taken;
}

}  // namespace atl
