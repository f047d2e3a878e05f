#pragma once
#include <cstdint>
#include <optional>

#include <utility>

#include "core/chip/base/fifo.hpp"
#include "core/engine/archive.hpp"
#include "core/engine/assert.hpp"

namespace atl {

/// Who waits for a credit.
enum class WaiterKind : std::uint8_t { sm, mmu, request_port, slice_queue, slice_out, slice_write, ingress, cluster };
struct Waiter {
  using PlainState = void;
  WaiterKind kind{};
  std::uint8_t sub = 0;
  std::uint16_t index = 0;
};

/// Credits of one finite queue. Whoever wants to send into it takes a credit first and, if there is none, lines up; a
/// credit that comes free goes to the first in line, so waiting is fair and no credit is stolen on the way.
class Gate {
 public:
  explicit Gate(std::uint32_t capacity = 1) : capacity_(capacity), free_(capacity) {}
  bool acquire() {
    if (free_ == 0) return false;
    --free_;
    return true;
  }
  void wait(Waiter w) { line_.push(w); }
  /// A slot was freed. Returns who now holds its credit and must be resumed, if anybody waits.
  std::optional<Waiter> release() {
    if (line_.empty()) {
      ATOLL_ASSERT(free_ < capacity_);
      ++free_;
      return std::nullopt;
    }
    return line_.take();
  }
  std::uint32_t free() const { return free_; }
  bool full() const { return free_ == capacity_ && line_.empty(); }  ///< all credits are back
  const Fifo<Waiter>& line() const { return line_; }
  void check_state() const { require_state(free_ <= capacity_ && (free_ == 0 || line_.empty())); }
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, free_, line_); }

 private:
  std::uint32_t capacity_, free_;
  Fifo<Waiter> line_;
};

}  // namespace atl
