#pragma once
#include <array>
#include <map>
#include <vector>

#include "core/chip/base/gate.hpp"
#include "core/chip/base/machine.hpp"
#include "core/chip/base/packet.hpp"
#include "core/engine/archive.hpp"
#include "inputs/workload/workload.hpp"

namespace atl {

/// What the state of a chip that was read may refer to, component by component: SMs, slices, chips and lines that there
/// are. And a book of credits: whoever says that he waits for one stands in exactly one line, or is about to be resumed.
class StateCheck {
 public:
  StateCheck(const Machine& m, std::uint8_t chip) : machine(m), chip_(chip) {}

  void line(LineAddr l) const { require_state(l.value >> kLineAddrBits == 0); }
  void chip(std::uint32_t c) const { require_state(c < machine.config.chips); }
  /// Of chips that have copies of this chip's lines.
  void sharers(std::uint64_t chips) const {
    require_state((chips >> (machine.config.chips - 1) >> 1) == 0 && (chips >> chip_ & 1) == 0);
  }
  void warp(std::uint32_t w) const { require_state(w < machine.config.sm.warps); }
  void slot(std::uint32_t s) const { require_state(s < kScoreboardSlots || s == kNoSlot); }

  /// `home_known`: else it may wait for the home of its page.
  void packet(const Packet& p, bool home_known = true) const { packet(p, home_known, machine.front_slices); }
  /// Of an LLC slice, towards memory.
  void below(const Packet& p) const { packet(p, true, machine.llc.slices), require_state(!is_response(p.kind)); }
  void request(const Packet& p) const { packet(p), require_state(!is_response(p.kind)); }
  void response(const Packet& p) const { packet(p), require_state(is_response(p.kind)); }

  /// Stands in line for a credit, or holds one and will be resumed.
  void waits(const Waiter& w) { ++book_[{static_cast<std::uint32_t>(w.kind), w.sub, w.index}]; }
  void line_of(const Gate& g) {
    g.for_each_waiter([&](const Waiter& w) { waits(w); });
  }
  /// Whether `who` says that he waits.
  void expects(WaiterKind kind, std::uint32_t sub, std::uint32_t index, bool waits) {
    if (waits) --book_[{static_cast<std::uint32_t>(kind), sub, index}];
  }
  void close_book() const {
    for (const auto& [who, open] : book_) require_state(open == 0);
  }

  const Machine& machine;

 private:
  void packet(const Packet& p, bool home_known, std::uint32_t slices) const;

  const std::uint8_t chip_;
  std::map<std::array<std::uint32_t, 3>, int> book_;
};

}  // namespace atl
