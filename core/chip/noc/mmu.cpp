#include "core/chip/noc/mmu.hpp"

#include <algorithm>

namespace atl {
namespace {
/// Touches of so many cycles are reported together: a streaming kernel touches a page every few cycles.
constexpr Cycle kTouchBatch = 16;
}  // namespace

Mmu::Mmu(Context& c)
    : c_(c),
      placement_(c.machine.config),
      single_(c.machine.config.chips == 1),
      has_devices_(!c.machine.devices.empty()),
      parked_(kParkedPages, ~0u) {}

void Mmu::park(const Packet& p) {
  const PageAddr page = c_.machine.page_of(p.line);
  std::uint32_t e = parked_.find({page.value});
  if (e == parked_.kNone) {
    e = parked_.open({page.value});
    ++c_.count[Counter::page_touches];
    if (touches_.empty()) time_report();
    touches_.push_back({c_.now(), page, c_.chip});
  }
  parked_.add_waiter(e, p);
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
